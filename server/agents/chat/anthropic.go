package chat

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

type anthropicBody struct {
	Model     string             `json:"model"`
	System    string             `json:"system,omitempty"`
	Messages  []anthropicMessage `json:"messages"`
	Tools     []anthropicTool    `json:"tools,omitempty"`
	MaxTokens int                `json:"max_tokens"`
	Stream    bool               `json:"stream"`
}

type anthropicMessage struct {
	Role    string           `json:"role"`
	Content []anthropicBlock `json:"content"`
}

// An anthropicBlock is a part of a message: a text, a tool_use or a tool_result.
type anthropicBlock struct {
	Type  string          `json:"type"`
	Text  string          `json:"text,omitempty"`
	ID    string          `json:"id,omitempty"`
	Name  string          `json:"name,omitempty"`
	Input json.RawMessage `json:"input,omitempty"`

	ToolUseID string `json:"tool_use_id,omitempty"`
	Content   string `json:"content,omitempty"`
	IsError   bool   `json:"is_error,omitempty"`
}

type anthropicTool struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Schema      json.RawMessage `json:"input_schema"`
}

// anthropicMaxTokens is sent where a request states no number: the API has no default.
const anthropicMaxTokens = 4096

// anthropicRequest returns the body of a request. Roles alternate in it: results of tools are
// of the user, and messages of one role become one.
func anthropicRequest(model string, r Request) anthropicBody {
	body := anthropicBody{Model: model, System: r.System, Stream: true, MaxTokens: cmp.Or(r.MaxTokens, anthropicMaxTokens)}
	for _, m := range r.Messages {
		role := "user"
		if m.Role == Assistant {
			role = "assistant"
		}
		blocks := anthropicBlocks(m)
		last := len(body.Messages) - 1
		switch {
		case len(blocks) == 0: // the API refuses a message without any
		case last >= 0 && body.Messages[last].Role == role:
			body.Messages[last].Content = append(body.Messages[last].Content, blocks...)
		default:
			body.Messages = append(body.Messages, anthropicMessage{role, blocks})
		}
	}
	for _, t := range r.Tools {
		body.Tools = append(body.Tools, anthropicTool{t.Name, t.Description, schema(t)})
	}
	return body
}

func anthropicBlocks(m Message) []anthropicBlock {
	if m.Role == Tool {
		return []anthropicBlock{{Type: "tool_result", ToolUseID: m.CallID, Content: m.Text, IsError: m.Failed}}
	}
	var blocks []anthropicBlock
	if strings.TrimSpace(m.Text) != "" {
		blocks = append(blocks, anthropicBlock{Type: "text", Text: m.Text})
	}
	for _, c := range m.Calls {
		blocks = append(blocks, anthropicBlock{Type: "tool_use", ID: c.ID, Name: toolName(c.Name), Input: c.Args})
	}
	return blocks
}

// An anthropicStream reads the events of one reply.
type anthropicStream struct {
	draft
	open map[int]*draftCall // by index; nil for a block of another type
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
		Type, Text  string
		PartialJSON string `json:"partial_json"`
		StopReason  string `json:"stop_reason"`
	}
	Usage anthropicUsage
	Error problem
}

type anthropicUsage struct {
	InputTokens  int `json:"input_tokens"`
	CacheWritten int `json:"cache_creation_input_tokens"`
	CacheRead    int `json:"cache_read_input_tokens"`
	OutputTokens int `json:"output_tokens"`
}

func readAnthropic(body *io.LimitedReader) (*Reply, error) {
	s := &anthropicStream{open: map[int]*draftCall{}}
	return s.read(body, s.event)
}

// event reads one event. Those of unknown types are ignored, as the API demands.
func (s *anthropicStream) event(data []byte) (done bool, err error) {
	var e anthropicEvent
	if err := decode(data, &e); err != nil {
		return false, err
	}
	switch e.Type {
	case "error":
		return false, e.Error.err(0)
	case "message_start":
		s.count(e.Message.Usage)
	case "content_block_start":
		return false, s.start(&e)
	case "content_block_delta":
		return false, s.delta(&e)
	case "message_delta":
		s.count(e.Usage)
		return false, s.stop(e.Delta.StopReason)
	case "message_stop":
		s.ended = true
		return true, nil
	}
	return false, nil
}

// count takes the counts of a usage, which are those of the whole reply so far.
func (s *anthropicStream) count(u anthropicUsage) {
	s.usage.Input = max(s.usage.Input, tokens(u.InputTokens, u.CacheWritten, u.CacheRead))
	s.usage.Output = max(s.usage.Output, tokens(u.OutputTokens))
}

func (s *anthropicStream) start(e *anthropicEvent) error {
	s.open[e.Index] = nil
	s.text.WriteString(e.Block.Text)
	if e.Block.Type != "tool_use" {
		return nil
	}
	call, err := s.add(e.Block.ID, e.Block.Name)
	if err != nil {
		return err
	}
	s.open[e.Index] = call
	if input := string(e.Block.Input); input != "{}" && input != "null" { // {} stands for what is to come
		call.args.WriteString(input)
	}
	return nil
}

func (s *anthropicStream) delta(e *anthropicEvent) error {
	call, started := s.open[e.Index]
	switch {
	case !started:
		return &failure{text: fmt.Sprintf("its stream continues block %d, which has not begun", e.Index)}
	case e.Delta.Type == "text_delta":
		s.text.WriteString(e.Delta.Text)
	case e.Delta.Type == "input_json_delta" && call != nil:
		call.args.WriteString(e.Delta.PartialJSON)
	}
	return nil
}

func (s *anthropicStream) stop(reason string) error {
	switch reason {
	case "refusal":
		return &failure{text: "its model refuses to reply"}
	case "model_context_window_exceeded":
		return &failure{text: "the reply does not fit into the model's window", cause: ErrWindowFull}
	case "max_tokens":
		s.cut = true
	}
	s.ended = s.ended || reason != ""
	return nil
}
