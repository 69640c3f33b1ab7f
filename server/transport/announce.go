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
		var own map[string]json.RawMessage
		_ = json.Unmarshal(structure, &own)                                                 // it may be no object
		if open = open && own != nil && own[announcementsField] == nil; declared && !open { // of two fields the last counts
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
	var with []byte
	told := e.Announcements.Take(p.principal, func(texts []string) {
		if with = nil; len(texts) > 0 {
			with = slices.Concat(start, ahead(texts, contents, fields), comma(rest, "}"), rest)
		}
	})
	if !told || with == nil {
		return line
	}
	return with
}

// ahead returns the beginning of a result with texts ahead of its encoded contents, and,
// unless fields is nil, of the fields of its structure.
func ahead(texts []string, contents, fields []byte) []byte {
	blocks := make([]mcp.Content, len(texts))
	for i, text := range texts {
		blocks[i] = mcp.NewTextContent(text)
	}
	first, _ := encode(blocks) // texts can be encoded
	with := slices.Concat([]byte(`{"content":`), bytes.TrimSuffix(first, []byte("]\n")), comma(contents, "]"), contents)
	if fields == nil {
		return with
	}
	again, _ := encode(texts)
	return slices.Concat(with, []byte(`,"structuredContent":{"`+announcementsField+`":`), bytes.TrimSpace(again), comma(fields, "}"), fields)
}

// comma returns the comma ahead of the rest of a list or a structure; none if that is its end.
func comma(rest []byte, end string) []byte {
	return []byte(map[bool]string{false: ","}[bytes.HasPrefix(rest, []byte(end))])
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
// [Notify] are queued. take has the params of each used, as [Announcements.Take] does texts,
// when the client has a stream for notifications. Notify does not wait.
func Notify(to mcpserver.ClientSession, method string, take func(use func(params []any)) bool) {
	s, ok := to.(*session)
	if !ok || s.notices == nil {
		return
	}
	s.notices.announce(notice{method: method, late: func() (lines []byte) {
		told := take(func(params []any) {
			lines = nil
			for _, one := range params {
				line, _ := encode(map[string]any{"jsonrpc": mcp.JSONRPC_VERSION, "method": method, "params": one}) // of texts
				lines = append(lines, line...)
			}
		})
		if !told {
			return nil
		}
		return lines
	}})
}
