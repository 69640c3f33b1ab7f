package transport

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"
)

// announced returns the reply to a request with the announcements for its principal ahead of
// the contents of the result. They wait for another result if this one is none of a tool, or
// must keep a structure that clients show a model in place of contents.
func announced(e *edge, p *peer, m message, line []byte) []byte {
	if m.method != string(mcp.MethodToolsCall) || e.Announcements == nil || !e.Announcements.Pending(p.principal) {
		return line
	}
	var result map[string]json.RawMessage
	var content []json.RawMessage
	var failed bool
	inner, ok := bytes.CutPrefix(line, head(m.id))
	inner, whole := bytes.CutSuffix(inner, []byte(tail))
	if !ok || !whole || json.Unmarshal(inner, &result) != nil || result["content"] == nil || json.Unmarshal(result["content"], &content) != nil {
		return line // an error, a task or a question
	}
	_ = json.Unmarshal(result["isError"], &failed) // absent is false
	if result["structuredContent"] != nil && !failed && declaresOutput(e, m) {
		return line
	}
	texts := e.Announcements.Take(p.principal)
	if len(texts) == 0 {
		return line
	}
	blocks := make([]json.RawMessage, len(texts))
	for i, text := range texts {
		blocks[i], _ = json.Marshal(mcp.NewTextContent(text)) // a text can be encoded
	}
	delete(result, "structuredContent") // the contents have all of it
	result["content"], _ = json.Marshal(slices.Concat(blocks, content))
	if with, err := encodeResult(m.id, result); err == nil { // all parts were decoded from JSON
		return with
	}
	return line
}

// declaresOutput reports whether the tool of a call may have an output schema: clients refuse
// its results without a structure.
func declaresOutput(e *edge, m message) bool {
	var params struct{ Name string }
	_ = json.Unmarshal(m.params, &params) // it was read before
	tool := e.Core.GetTool(params.Name)
	return tool == nil || tool.Tool.RawOutputSchema != nil || tool.Tool.OutputSchema.Type != ""
}

// Notify queues notifications of a method for the legacy client of a session, unless some of
// [Notify] are queued. params returns those of each, and is called when the client has a
// stream for notifications, immediately before they are written. It does not wait.
func Notify(to mcpserver.ClientSession, method string, params func() []any) {
	s, ok := to.(*session)
	if !ok || s.notices == nil {
		return
	}
	s.notices.announce(notice{method: method, late: func() (lines []byte) {
		for _, one := range params() {
			if line, err := encode(map[string]any{"jsonrpc": mcp.JSONRPC_VERSION, "method": method, "params": one}); err == nil { // of texts
				lines = append(lines, line...)
			}
		}
		return lines
	}})
}
