// Package elicit lets a script that runs ask a question, and wait for the answer:
// of the person who uses the client, of its model, or of the client itself. The
// question is a line on the script's stdout, the answer one on its stdin.
//
// Start with [Begin], which does that for one command, and puts what may be
// asked to an [Asker]. A [PendingCalls] is one for clients who are asked in the answer to
// their request, and make it again with theirs; [Sender] is one for those who
// take requests.
package elicit

import (
	"context"
	"encoding/json"

	"github.com/mark3labs/mcp-go/mcp"
)

// An Asker puts requests to a client. Its answers, by the requests' keys, are
// results that [Request.Check] accepts, or what [Refuse] makes. It must return
// when ctx is done; an error ends the script.
type Asker interface {
	Ask(ctx context.Context, requests map[string]*Request) (map[string]json.RawMessage, error)
}

// Refuse is the answer to a request that nobody answers: {"error": why}.
func Refuse(why string) json.RawMessage {
	answer, _ := json.Marshal(map[string]string{"error": why}) // a string can be encoded
	return answer
}

// AskerFunc is an [Asker] that answers one request after the other.
type AskerFunc func(ctx context.Context, r *Request) (json.RawMessage, error)

// Ask implements [Asker].
func (f AskerFunc) Ask(ctx context.Context, requests map[string]*Request) (map[string]json.RawMessage, error) {
	answers := map[string]json.RawMessage{}
	for _, key := range keys(requests) {
		answer, err := f(ctx, requests[key])
		if err != nil {
			return nil, err
		}
		answers[key] = answer
	}
	return answers, nil
}

// A Sender sends requests to a client that takes them, as clients of the
// revisions before 2026-07-28 do, and returns their results.
type Sender func(ctx context.Context, method string, params any) (json.RawMessage, error)

// Ask implements [Asker].
func (s Sender) Ask(ctx context.Context, requests map[string]*Request) (map[string]json.RawMessage, error) {
	return AskerFunc(func(ctx context.Context, r *Request) (json.RawMessage, error) {
		result, err := s(ctx, r.Method, r.Params)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err == nil {
			err = r.Check(result)
		}
		if err != nil {
			return Refuse("the client did not answer: " + err.Error()), nil
		}
		return result, nil
	}).Ask(ctx, requests)
}

// A Client is whom questions are put to.
type Client struct {
	Asker
	// Can is what the client says that it answers; nil is nothing.
	Can *mcp.ClientCapabilities
	// Why says what is in the way where it can do nothing; "" is that it does not
	// say that it can.
	Why string
}

// Nobody is a client that answers nothing, and why.
func Nobody(why string) *Client { return &Client{Why: why} }

// A MissingError is why a client cannot be asked. It ends the call where the
// question was required.
type MissingError struct {
	Capability string // that the client would have to declare; "" where none would help
	why        string
}

func (e *MissingError) Error() string { return e.why }

// unable says why a client cannot be asked by a method, or returns nil. The error
// is a [*MissingError].
func (c *Client) missing(method string) error {
	can := c.Can
	if can == nil {
		can = &mcp.ClientCapabilities{}
	}
	missing := &MissingError{}
	switch {
	// An empty capability is that of forms, which came first.
	case method == methodPerson && (can.Elicitation == nil || can.Elicitation.Form == nil && can.Elicitation.URL != nil):
		missing.Capability, missing.why = "elicitation", "nobody can be asked: the client shows no forms (it does not declare elicitation)"
	case method == methodModel && can.Sampling == nil:
		missing.Capability, missing.why = "sampling", "no model can be asked: the client does not declare sampling"
	case method == methodRoots && can.Roots == nil:
		missing.Capability, missing.why = "roots", "the client does not tell its roots"
	default:
		return nil
	}
	if c.Why != "" { // whatever it declares
		return &MissingError{why: c.Why}
	}
	return missing
}
