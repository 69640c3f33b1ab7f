// Package chat asks a model at an endpoint that speaks the API of OpenAI's chat completions
// or of Anthropic's messages.
//
// Start with [New].
package chat

import (
	"context"
	"encoding/json"
	"net/http"
)

// An API is the protocol of an endpoint.
type API string

// The APIs.
const (
	OpenAI    API = "openai"    // POST {url}/chat/completions
	Anthropic API = "anthropic" // POST {url}/messages
)

// Options configure a [Client].
type Options struct {
	URL   string // up to the version: "https://api.anthropic.com/v1"
	API   API    // "" is [OpenAI]
	Model string // as the endpoint names it
	// Key returns the endpoint's key, for each attempt. Nil, or "": the endpoint has none.
	Key func(ctx context.Context) (string, error)
	// HTTP makes the requests; nil is [http.DefaultClient]. Redirects are not followed.
	HTTP *http.Client
}

// A Role is the author of a [Message].
type Role string

// The roles. The system prompt is no message.
const (
	User      Role = "user"
	Assistant Role = "assistant"
	Tool      Role = "tool" // the result of a call
)

// A Message is one message of a conversation.
type Message struct {
	Role Role   `json:"role"`
	Text string `json:"text,omitempty"`
	// Calls are the calls of tools that an assistant's message asks for.
	Calls []Call `json:"calls,omitempty"`
	// CallID names the call of which a message of the role Tool has the result. Failed says
	// that the call has failed.
	CallID string `json:"call_id,omitempty"`
	Failed bool   `json:"failed,omitempty"`
}

// A Call is a call of a tool that a model asks for.
type Call struct {
	ID   string          `json:"id"`
	Name string          `json:"name"`
	Args json.RawMessage `json:"args"` // a JSON object
	// Broken are the arguments, in part, as the model wrote them where they are no JSON
	// object. Args is {} then.
	Broken string `json:"broken,omitempty"`
}

// A Definition is a tool that a model may ask for.
type Definition struct {
	Name, Description string
	Schema            json.RawMessage // JSON Schema of the arguments, which are an object
}

// A Request is a conversation that a model is to continue. All fields but Tools are needed.
type Request struct {
	System    string
	Messages  []Message
	Tools     []Definition
	MaxTokens int // of the reply
}

// A Reply is a model's next message.
type Reply struct {
	Message
	Usage Usage
	// Cut says that the reply ended at its largest number of tokens.
	Cut bool
}

// Usage counts the tokens of a request and of its reply: zero where the endpoint does not.
type Usage struct {
	Input  int `json:"input"`
	Output int `json:"output"`
}
