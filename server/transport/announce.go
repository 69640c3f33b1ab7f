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
	start := head(m.id)
	inner, ok := bytes.CutPrefix(line, start)
	inner, whole := bytes.CutSuffix(inner, []byte(tail))
	var result map[string]json.RawMessage
	if !ok || !whole || json.Unmarshal(inner, &result) != nil {
		return line
	}
	contents, found := bytes.CutPrefix(result["content"], []byte("["))
	structured := result["structuredContent"] != nil && string(result["isError"]) != "true" && declaresOutput(e, m)
	delete(result, "content")
	delete(result, "structuredContent") // the contents have all of it
	rest, err := encodeResult(m.id, result)
	if !found || structured || err != nil { // a task or a question has no contents
		return line
	}
	// From here to the Write they would be lost with the process: the rest is encoded already.
	texts := e.Announcements.Take(p.principal)
	blocks := make([]mcp.Content, len(texts))
	for i, text := range texts {
		blocks[i] = mcp.NewTextContent(text)
	}
	ahead, err := encode(blocks)
	if len(texts) == 0 || err != nil {
		return line
	}
	comma := func(before []byte, end string) string {
		return map[bool]string{false: ","}[bytes.HasPrefix(before, []byte(end))]
	}
	rest = rest[len(start)+len("{"):]
	return slices.Concat(start, []byte(`{"content":`), bytes.TrimSuffix(ahead, []byte("]\n")), []byte(comma(contents, "]")), contents, []byte(comma(rest, "}")), rest)
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
