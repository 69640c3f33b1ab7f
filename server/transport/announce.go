package transport

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"
)

// announced returns the reply to a request with the announcements for its principal ahead of
// the contents of the result, and in its structure where it must keep one: clients may show a
// model either. They wait for another result if this one is none of a tool, or its structure
// has no room for them.
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
	var fields []byte // of a structure that stays
	if structure := result["structuredContent"]; structure != nil && string(result["isError"]) != "true" {
		declared, open := outputOf(e, m)
		if open = open && structure[0] == '{'; declared && !open {
			return line
		} else if declared {
			fields = structure[1:]
		}
	}
	delete(result, "content")
	delete(result, "structuredContent") // the contents have all of it
	rest, err := encodeResult(m.id, result)
	if !found || err != nil { // a task or a question has no contents
		return line
	}
	rest = rest[len(start)+len("{"):]
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
	comma := func(before []byte, end string) []byte {
		return []byte(map[bool]string{false: ","}[bytes.HasPrefix(before, []byte(end))])
	}
	with := slices.Concat(start, []byte(`{"content":`), bytes.TrimSuffix(ahead, []byte("]\n")), comma(contents, "]"), contents)
	if fields != nil {
		again, _ := encode(texts) // as they were above
		with = slices.Concat(with, []byte(`,"structuredContent":{"`+announcementsField+`":`), bytes.TrimSpace(again), comma(fields, "}"), fields)
	}
	return slices.Concat(with, comma(rest, "}"), rest)
}

// announcementsField is the field of a structure that has the announcements, for the clients
// that show a model the structure in place of the contents.
const announcementsField = "announcements"

// outputOf reports whether the tool of a call may have an output schema, since clients refuse
// its results without a structure, and whether that schema is open to another field.
func outputOf(e *edge, m message) (declared, open bool) {
	var params struct{ Name string }
	_ = json.Unmarshal(m.params, &params) // it was read before
	tool := e.Core.GetTool(params.Name)
	if tool == nil || tool.Tool.RawOutputSchema == nil {
		return tool == nil || tool.Tool.OutputSchema.Type != "", false
	}
	var keywords map[string]json.RawMessage
	if json.Unmarshal(tool.Tool.RawOutputSchema, &keywords) != nil {
		return true, false
	}
	for keyword := range keywords {
		switch keyword {
		case "$schema", "type", "title", "description", "properties", "required":
		default: // it may forbid the field
			return true, false
		}
	}
	return true, !bytes.Contains(keywords["properties"], []byte(`"`+announcementsField+`"`))
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
