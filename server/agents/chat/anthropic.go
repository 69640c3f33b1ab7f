package chat

import (
	"encoding/json"
	"fmt"
	"strings"
)

// anthropicBody returns the body of a request. Roles alternate in it: results of tools are of
// the user, and messages of one role become one.
func anthropicBody(o Options, r Request) object {
	messages, tools := []object{}, []object{}
	for _, m := range r.Messages {
		role, blocks := m.Role, anthropicBlocks(m)
		if role == Tool {
			role = User
		}
		if last := len(messages) - 1; last >= 0 && messages[last]["role"] == role {
			blocks = append(messages[last]["content"].([]object), blocks...)
			messages = messages[:last]
		}
		if len(blocks) > 0 { // the API refuses a message without any
			messages = append(messages, object{"role": role, "content": blocks})
		}
	}
	for _, t := range r.Tools {
		tools = append(tools, object{"name": t.Name, "description": t.Description, "input_schema": t.Schema})
	}
	return object{"model": o.Model, "system": r.System, "messages": messages, "tools": tools, "max_tokens": r.MaxTokens, "stream": true}
}

func anthropicBlocks(m Message) []object {
	if m.Role == Tool {
		return []object{{"type": "tool_result", "tool_use_id": m.CallID, "content": m.Text, "is_error": m.Failed}}
	}
	var blocks []object
	if strings.TrimSpace(m.Text) != "" {
		blocks = append(blocks, object{"type": "text", "text": m.Text})
	}
	for _, c := range m.Calls {
		blocks = append(blocks, object{"type": "tool_use", "id": c.ID, "name": toolName(c.Name), "input": c.Args})
	}
	return blocks
}

type anthropicEvent struct {
	Type    string
	Index   int
	Message struct{ Usage anthropicUsage }
	Block   struct {
		Type, Text, ID, Name string
		Input                json.RawMessage
	} `json:"content_block"`
	Delta struct {
		Text        string
		PartialJSON string `json:"partial_json"`
		StopReason  string `json:"stop_reason"`
	}
	Usage anthropicUsage
	Error problem
}

type anthropicUsage struct {
	Input        int `json:"input_tokens"`
	CacheWritten int `json:"cache_creation_input_tokens"`
	CacheRead    int `json:"cache_read_input_tokens"`
	Output       int `json:"output_tokens"`
}

// anthropic reads an event. Those of unknown types are ignored, as the API demands.
func (d *draft) anthropic(data []byte) (done bool, err error) {
	var e anthropicEvent
	if err := decode(data, &e); err != nil {
		return false, err
	}
	for _, u := range []anthropicUsage{e.Message.Usage, e.Usage} {
		d.count(u.Output, u.Input, u.CacheWritten, u.CacheRead)
	}
	switch e.Type {
	case "error":
		return false, e.Error.failure(0)
	case "content_block_start":
		d.open[e.Index] = nil
		d.text.WriteString(e.Block.Text)
		if e.Block.Type == "tool_use" {
			call := d.begin(e.Index, e.Block.ID, e.Block.Name)
			if input := string(e.Block.Input); input != "{}" && input != "null" { // {} stands for the parts to come
				call.Args = e.Block.Input
			}
		}
	case "content_block_delta":
		call, begun := d.open[e.Index]
		if !begun {
			return false, &failure{text: fmt.Sprintf("its stream continues block %d, which has not begun", e.Index)}
		}
		d.text.WriteString(e.Delta.Text)
		if call != nil {
			call.Args = append(call.Args, e.Delta.PartialJSON...)
		}
	case "message_delta":
		return false, d.finish(e.Delta.StopReason)
	case "message_stop":
		return true, nil
	}
	return false, nil
}
