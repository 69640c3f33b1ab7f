package modelserver

import "github.com/skillsmcp/skills-mcp/server/agents/chat"

// A Request is a request to a model, of either API.
type Request struct {
	N        int    // of the server's requests, from 1
	API      string // "openai" or "anthropic"
	Model    string
	Key      string
	System   string
	Messages []chat.Message
	Tools    []string // their names
	// MaxTokens is the largest number of tokens of the reply.
	MaxTokens int
	Bytes     int // of the body
}

// Last returns the text of the last message.
func (r *Request) Last() string {
	if len(r.Messages) == 0 {
		return ""
	}
	return r.Messages[len(r.Messages)-1].Text
}

// Results returns the results of tools since the model's last message.
func (r *Request) Results() []chat.Message {
	at := len(r.Messages)
	for at > 0 && r.Messages[at-1].Role == chat.Tool {
		at--
	}
	return r.Messages[at:]
}

// A Fault is a way in which an endpoint does not do as it should.
type Fault string

// The faults.
const (
	Busy       Fault = "busy"       // 429, with RetryAfter
	Overloaded Fault = "overloaded" // 529, with RetryAfter
	Broken     Fault = "broken"     // 500
	Refused    Fault = "refused"    // 400, with Text as its message
	WindowFull Fault = "window"     // 400, as the API says that the conversation is too long
	Redirect   Fault = "redirect"   // 307 to Text
	Cut        Fault = "cut"        // the connection ends within the reply
	Drop       Fault = "drop"       // the connection ends before the response
	Hang       Fault = "hang"       // a response without an end
	BrokenJSON Fault = "json"       // an event that is no JSON
	Huge       Fault = "huge"       // 100 MB of text
	HugeError  Fault = "hugeerror"  // a 500 of 100 MB
	HugeLine   Fault = "hugeline"   // 100 MB in one event
	InStream   Fault = "instream"   // an error that may pass, within the stream
	NoStream   Fault = "nostream"   // JSON instead of a stream
)

// A Reply is a model's reply, or a fault.
type Reply struct {
	Text  string
	Calls []chat.Call // an empty ID is made up; Args are sent as they are, "" as none
	Usage *chat.Usage // nil: the endpoint gives none
	Cut   bool        // at the largest number of tokens

	Fault      Fault
	RetryAfter string // a header
}
