package chat

import (
	"bytes"
	"cmp"
	"strings"
)

// openAIBody returns the body of a request. OpenAI's own newer models refuse max_tokens, and
// other endpoints know nothing else.
func openAIBody(o Options, r Request) object {
	messages := []object{{"role": "system", "content": r.System}}
	for _, m := range r.Messages {
		message := object{"role": m.Role, "content": m.Text}
		if m.Role == Tool {
			message["tool_call_id"] = m.CallID
		}
		var calls []object
		for _, c := range m.Calls {
			calls = append(calls, object{"id": c.ID, "type": "function", "function": object{"name": toolName(c.Name), "arguments": string(c.Args)}})
		}
		if calls != nil {
			message["tool_calls"] = calls
		}
		messages = append(messages, message)
	}
	limit := "max_tokens"
	if strings.HasPrefix(o.URL, "https://api.openai.com/") {
		limit = "max_completion_tokens"
	}
	body := object{"model": o.Model, "messages": messages, limit: r.MaxTokens, "stream": true, "stream_options": object{"include_usage": true}}
	var tools []object
	for _, t := range r.Tools {
		tools = append(tools, object{"type": "function", "function": object{"name": t.Name, "description": t.Description, "parameters": t.Schema}})
	}
	if tools != nil { // some endpoints refuse an empty list
		body["tools"] = tools
	}
	return body
}

type openAIChunk struct {
	Choices []struct {
		Index int
		Delta struct {
			Content, Refusal string
			ToolCalls        []openAICall `json:"tool_calls"`
		}
		FinishReason string `json:"finish_reason"`
	}
	Usage struct {
		Input  int `json:"prompt_tokens"`
		Output int `json:"completion_tokens"`
	}
	Error *problem
}

type openAICall struct {
	Index    int
	ID       string
	Function struct{ Name, Arguments string }
}

// openAI reads an event. The usage comes after the reply's end.
func (d *draft) openAI(data []byte) (done bool, err error) {
	if d.ended = d.ended || string(bytes.TrimSpace(data)) == "[DONE]"; d.ended && data[0] == '[' {
		return true, nil
	}
	var chunk openAIChunk
	if err := decode(data, &chunk); err != nil {
		return false, err
	}
	if chunk.Error != nil {
		return false, chunk.Error.failure(0)
	}
	d.count(chunk.Usage.Output, chunk.Usage.Input)
	for _, choice := range chunk.Choices {
		if choice.Index != 0 {
			continue // none was asked for
		}
		d.text.WriteString(choice.Delta.Content)
		d.text.WriteString(choice.Delta.Refusal)
		for _, part := range choice.Delta.ToolCalls {
			d.part(part)
		}
		if err := d.finish(choice.FinishReason); err != nil {
			return false, err
		}
	}
	return false, nil
}

// part adds a part of a call. Some endpoints give calls that differ the same index.
func (d *draft) part(part openAICall) {
	call := d.open[part.Index]
	if call == nil || part.ID != "" && call.ID != "" && part.ID != call.ID {
		call = d.begin(part.Index, part.ID, part.Function.Name)
	}
	call.ID, call.Name = cmp.Or(call.ID, part.ID), cmp.Or(call.Name, part.Function.Name)
	call.Args = append(call.Args, part.Function.Arguments...)
}
