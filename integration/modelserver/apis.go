package modelserver

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/skillsmcp/skills-mcp/server/agents/chat"
)

// An api decodes requests and encodes replies.
type api interface {
	decode(r *http.Request) (*Request, error)
	events(r *Request, reply Reply) []string
	// text returns the event of a part of a text.
	text(part string) string
	problem(kind, message string) string
	windowFull() string
}

type (
	openAI    struct{}
	anthropic struct{}
)

type object = map[string]any

func encoded(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // of our own values
	}
	return string(text)
}

// parts returns a text in at most three parts.
func parts(text string) []string {
	var parts []string
	for size := len(text)/3 + 1; len(text) > size; {
		end := size
		for end < len(text) && text[end]&0xc0 == 0x80 { // within a character
			end++
		}
		parts, text = append(parts, text[:end]), text[end:]
	}
	return append(parts, text)
}

func body(r *http.Request, into any) (int, error) {
	text, err := io.ReadAll(r.Body)
	if err != nil {
		return 0, err
	}
	return len(text), json.Unmarshal(text, into)
}

func callID(r *Request, i int, c chat.Call) string {
	return cmp.Or(c.ID, fmt.Sprintf("call_%d_%d", r.N, i))
}

func (openAI) decode(r *http.Request) (*Request, error) {
	var in struct {
		Model    string
		Stream   bool
		Messages []struct {
			Role, Content string
			ToolCallID    string `json:"tool_call_id"`
			ToolCalls     []struct {
				ID, Type string
				Function struct{ Name, Arguments string }
			} `json:"tool_calls"`
		}
		Tools []struct {
			Type     string
			Function struct {
				Name       string
				Parameters struct{ Type string }
			}
		}
		MaxTokens     int `json:"max_tokens"`
		StreamOptions struct {
			IncludeUsage bool `json:"include_usage"`
		} `json:"stream_options"`
	}
	n, err := body(r, &in)
	switch {
	case err != nil:
		return nil, err
	case !in.Stream || !in.StreamOptions.IncludeUsage:
		return nil, fmt.Errorf("stream and stream_options.include_usage are to be true")
	}
	key, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	out := &Request{API: "openai", Model: in.Model, Key: key, MaxTokens: in.MaxTokens, Bytes: n}
	called := map[string]bool{}
	for i, m := range in.Messages {
		switch {
		case m.Role == "system" && i == 0:
			out.System = m.Content
			continue
		case m.Role == "tool" && !called[m.ToolCallID]:
			return nil, fmt.Errorf("message %d is the result of a call that was not made: %q", i, m.ToolCallID)
		case m.Role != "user" && m.Role != "assistant" && m.Role != "tool":
			return nil, fmt.Errorf("message %d has the role %q", i, m.Role)
		}
		message := chat.Message{Role: chat.Role(m.Role), Text: m.Content, CallID: m.ToolCallID}
		delete(called, m.ToolCallID)
		if m.Role != "tool" && len(called) > 0 {
			return nil, fmt.Errorf("message %d comes before the results of %d calls", i, len(called))
		}
		for _, c := range m.ToolCalls {
			if c.Type != "function" || c.Function.Name == "" || !json.Valid([]byte(c.Function.Arguments)) {
				return nil, fmt.Errorf("message %d has the call %+v", i, c)
			}
			called[c.ID] = true
			message.Calls = append(message.Calls, chat.Call{ID: c.ID, Name: c.Function.Name, Args: json.RawMessage(c.Function.Arguments)})
		}
		out.Messages = append(out.Messages, message)
	}
	if len(called) > 0 {
		return nil, fmt.Errorf("%d calls have no results", len(called))
	}
	for _, t := range in.Tools {
		if t.Type != "function" || t.Function.Parameters.Type != "object" {
			return nil, fmt.Errorf("the tool %q has no schema of an object", t.Function.Name)
		}
		out.Tools = append(out.Tools, t.Function.Name)
	}
	return out, nil
}

func (openAI) chunk(delta object, finish any) string {
	return "data: " + encoded(object{"object": "chat.completion.chunk", "choices": []object{{"index": 0, "delta": delta, "finish_reason": finish}}}) + "\n\n"
}

func (a openAI) text(part string) string { return a.chunk(object{"content": part}, nil) }

func (a openAI) events(r *Request, reply Reply) []string {
	events := []string{a.chunk(object{"role": "assistant", "content": ""}, nil)}
	if reply.Text != "" {
		for _, part := range parts(reply.Text) {
			events = append(events, a.text(part))
		}
	}
	finish := "stop"
	for i, c := range reply.Calls {
		finish = "tool_calls"
		call := object{"index": i, "id": callID(r, i, c), "type": "function", "function": object{"name": c.Name, "arguments": ""}}
		events = append(events, a.chunk(object{"tool_calls": []object{call}}, nil))
		for _, part := range parts(string(c.Args)) {
			more := object{"index": i, "function": object{"arguments": part}}
			events = append(events, a.chunk(object{"tool_calls": []object{more}}, nil))
		}
	}
	if reply.Cut {
		finish = "length"
	}
	events = append(events, a.chunk(object{}, finish))
	if u := reply.Usage; u != nil {
		events = append(events, "data: "+encoded(object{"choices": []object{}, "usage": object{"prompt_tokens": u.Input, "completion_tokens": u.Output, "total_tokens": u.Input + u.Output}})+"\n\n")
	}
	return append(events, "data: [DONE]\n\n")
}

func (openAI) problem(kind, message string) string {
	return encoded(object{"error": object{"type": kind, "code": nil, "param": nil, "message": message}})
}

func (openAI) windowFull() string {
	return encoded(object{"error": object{"type": "invalid_request_error", "code": "context_length_exceeded", "param": "messages", "message": "This model's maximum context length is 8192 tokens."}})
}

func (anthropic) decode(r *http.Request) (*Request, error) {
	var in struct {
		Model, System string
		Stream        bool
		MaxTokens     int `json:"max_tokens"`
		Messages      []struct {
			Role    string
			Content []struct {
				Type, Text, ID, Name, Content string
				Input                         json.RawMessage
				ToolUseID                     string `json:"tool_use_id"`
				IsError                       bool   `json:"is_error"`
			}
		}
		Tools []struct {
			Name   string
			Schema struct{ Type string } `json:"input_schema"`
		}
	}
	n, err := body(r, &in)
	switch {
	case err != nil:
		return nil, err
	case !in.Stream || in.MaxTokens < 1:
		return nil, fmt.Errorf("stream and max_tokens are needed")
	case r.Header.Get("Anthropic-Version") != "2023-06-01":
		return nil, fmt.Errorf("anthropic-version is %q", r.Header.Get("Anthropic-Version"))
	}
	out := &Request{API: "anthropic", Model: in.Model, Key: r.Header.Get("X-Api-Key"), System: in.System, MaxTokens: in.MaxTokens, Bytes: n}
	called := map[string]bool{}
	for i, m := range in.Messages {
		want := []string{"user", "assistant"}[i%2]
		if m.Role != want || len(m.Content) == 0 {
			return nil, fmt.Errorf("message %d has the role %q and %d blocks, want some of %s", i, m.Role, len(m.Content), want)
		}
		message := chat.Message{Role: chat.Role(m.Role)}
		for _, b := range m.Content {
			switch {
			case b.Type == "tool_result" && m.Role == "user" && called[b.ToolUseID] && message.Text == "":
				delete(called, b.ToolUseID)
				out.Messages = append(out.Messages, chat.Message{Role: chat.Tool, CallID: b.ToolUseID, Text: b.Content, Failed: b.IsError})
			case b.Type == "text" && strings.TrimSpace(b.Text) != "" && len(message.Calls) == 0:
				message.Text = strings.TrimPrefix(message.Text+"\n"+b.Text, "\n")
			case b.Type == "tool_use" && m.Role == "assistant" && strings.HasPrefix(string(b.Input), "{"):
				message.Calls = append(message.Calls, chat.Call{ID: b.ID, Name: b.Name, Args: b.Input})
			default:
				return nil, fmt.Errorf("message %d has the block %s", i, encoded(b))
			}
		}
		if len(called) > 0 {
			return nil, fmt.Errorf("message %d has no results of %d calls", i, len(called))
		}
		for _, c := range message.Calls {
			called[c.ID] = true
		}
		if message.Text != "" || len(message.Calls) > 0 {
			out.Messages = append(out.Messages, message)
		}
	}
	if len(called) > 0 || len(in.Messages)%2 == 0 {
		return nil, fmt.Errorf("the last of %d messages has to be the user's, with all results", len(in.Messages))
	}
	for _, t := range in.Tools {
		if t.Name == "" || t.Schema.Type != "object" {
			return nil, fmt.Errorf("the tool %q has no schema of an object", t.Name)
		}
		out.Tools = append(out.Tools, t.Name)
	}
	return out, nil
}

func (anthropic) event(kind string, fields object) string {
	fields["type"] = kind
	return "event: " + kind + "\ndata: " + encoded(fields) + "\n\n"
}

func (a anthropic) text(part string) string {
	return a.event("content_block_delta", object{"index": 0, "delta": object{"type": "text_delta", "text": part}})
}

func (a anthropic) events(r *Request, reply Reply) []string {
	message := object{"role": "assistant", "model": r.Model, "content": []object{}}
	if reply.Usage != nil {
		message["usage"] = object{"input_tokens": reply.Usage.Input, "output_tokens": 1}
	}
	events := []string{a.event("message_start", object{"message": message})}
	index := 0
	if reply.Text != "" {
		events = append(events, a.event("content_block_start", object{"index": 0, "content_block": object{"type": "text", "text": ""}}), a.event("ping", object{}))
		for _, part := range parts(reply.Text) {
			events = append(events, a.text(part))
		}
		events = append(events, a.event("content_block_stop", object{"index": 0}))
		index++
	}
	reason := "end_turn"
	for i, c := range reply.Calls {
		reason = "tool_use"
		block := object{"type": "tool_use", "id": callID(r, i, c), "name": c.Name, "input": object{}}
		events = append(events, a.event("content_block_start", object{"index": index, "content_block": block}))
		for _, part := range parts(string(c.Args)) {
			events = append(events, a.event("content_block_delta", object{"index": index, "delta": object{"type": "input_json_delta", "partial_json": part}}))
		}
		events = append(events, a.event("content_block_stop", object{"index": index}))
		index++
	}
	if reply.Cut {
		reason = "max_tokens"
	}
	end := object{"delta": object{"stop_reason": reason, "stop_sequence": nil}}
	if reply.Usage != nil {
		end["usage"] = object{"output_tokens": reply.Usage.Output}
	}
	return append(events, a.event("message_delta", end), a.event("message_stop", object{}))
}

func (anthropic) problem(kind, message string) string {
	return encoded(object{"type": "error", "error": object{"type": kind, "message": message}})
}

func (a anthropic) windowFull() string {
	return a.problem("invalid_request_error", "prompt is too long: 214000 tokens > 200000 maximum")
}
