package chat

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"strings"
)

type openAIBody struct {
	Model         string          `json:"model"`
	Messages      []openAIMessage `json:"messages"`
	Tools         []openAITool    `json:"tools,omitempty"`
	Stream        bool            `json:"stream"`
	StreamOptions map[string]bool `json:"stream_options"`
	MaxTokens     int             `json:"max_tokens,omitempty"`
	MaxCompletion int             `json:"max_completion_tokens,omitempty"`
}

type openAIMessage struct {
	Role    string       `json:"role"`
	Content *string      `json:"content"` // null beside calls
	Calls   []openAICall `json:"tool_calls,omitempty"`
	CallID  string       `json:"tool_call_id,omitempty"`
}

type openAICall struct {
	Index    int    `json:"index"`
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

type openAITool struct {
	Type     string         `json:"type"`
	Function openAIFunction `json:"function"`
}

type openAIFunction struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters"`
}

// openAIRequest returns the body of a request. OpenAI's own newer models refuse max_tokens,
// and other endpoints know nothing else.
func openAIRequest(model, host string, r Request) openAIBody {
	body := openAIBody{Model: model, Stream: true, StreamOptions: map[string]bool{"include_usage": true}, MaxTokens: r.MaxTokens}
	if host == "api.openai.com" {
		body.MaxTokens, body.MaxCompletion = 0, r.MaxTokens
	}
	if r.System != "" {
		body.Messages = append(body.Messages, openAIMessage{Role: "system", Content: &r.System})
	}
	for _, m := range r.Messages {
		message := openAIMessage{Role: string(m.Role), CallID: m.CallID, Content: &m.Text}
		if m.Text == "" && len(m.Calls) > 0 {
			message.Content = nil
		}
		for i, c := range m.Calls {
			call := openAICall{Index: i, ID: c.ID, Type: "function"}
			call.Function.Name, call.Function.Arguments = toolName(c.Name), string(c.Args)
			message.Calls = append(message.Calls, call)
		}
		body.Messages = append(body.Messages, message)
	}
	for _, t := range r.Tools {
		body.Tools = append(body.Tools, openAITool{"function", openAIFunction{t.Name, t.Description, schema(t)}})
	}
	return body
}

// An openAIStream reads the events of one reply.
type openAIStream struct {
	draft
	open map[int]*draftCall // by index
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
		PromptTokens     int `json:"prompt_tokens"`
		CompletionTokens int `json:"completion_tokens"`
	}
	Error *problem
}

func readOpenAI(body *io.LimitedReader) (*Reply, error) {
	s := &openAIStream{open: map[int]*draftCall{}}
	return s.read(body, s.event)
}

// event reads one event. The usage comes after the reply's end.
func (s *openAIStream) event(data []byte) (done bool, err error) {
	if string(bytes.TrimSpace(data)) == "[DONE]" {
		s.ended = true
		return true, nil
	}
	var chunk openAIChunk
	if err := decode(data, &chunk); err != nil {
		return false, err
	}
	if chunk.Error != nil {
		return false, chunk.Error.err(0)
	}
	s.usage.Input = max(s.usage.Input, tokens(chunk.Usage.PromptTokens))
	s.usage.Output = max(s.usage.Output, tokens(chunk.Usage.CompletionTokens))
	for _, choice := range chunk.Choices {
		if choice.Index != 0 {
			continue // none was asked for
		}
		s.text.WriteString(choice.Delta.Content)
		s.text.WriteString(choice.Delta.Refusal)
		for _, part := range choice.Delta.ToolCalls {
			if err := s.part(part); err != nil {
				return false, err
			}
		}
		if choice.FinishReason == "content_filter" {
			return false, &failure{text: "its content filter has withheld the reply"}
		}
		s.ended = s.ended || choice.FinishReason != ""
		s.cut = s.cut || choice.FinishReason == "length"
	}
	return false, nil
}

// part adds a part of a call. Some endpoints give calls that differ the same index.
func (s *openAIStream) part(part openAICall) error {
	call := s.open[part.Index]
	if call == nil || part.ID != "" && call.id != "" && part.ID != call.id {
		var err error
		if call, err = s.add(part.ID, part.Function.Name); err != nil {
			return err
		}
		s.open[part.Index] = call
	}
	call.id, call.name = cmp.Or(call.id, part.ID), cmp.Or(call.name, part.Function.Name)
	call.args.WriteString(part.Function.Arguments)
	return nil
}

// schema returns the schema of a tool's arguments.
func schema(t Definition) json.RawMessage {
	if len(t.Schema) == 0 {
		return json.RawMessage(`{"type":"object"}`)
	}
	return t.Schema
}

// toolName returns the name of a call in the letters that endpoints accept: a model may have
// called a tool that cannot be.
func toolName(name string) string {
	name = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '_'
	}, name)
	return cmp.Or(name[:min(len(name), 64)], "_")
}
