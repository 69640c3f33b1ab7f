// Package elicit relays questions of a running script: to the person who uses the
// client, to its model, or to the client itself. A question is a line on the script's
// stdout, its answer a line on its stdin. So is a script's call of another skill, which
// the package's user makes.
//
// Start with [Begin], which relays the questions of one command to an [Asker]: a
// [PendingCall] for clients of the modern protocol, which answer by making their request
// again, and a [Sender] for those before, to which servers send requests.
package elicit

import (
	"cmp"
	"context"
	"encoding/json"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
)

// An Asker sends requests to a client and returns its answers by the requests' keys:
// results that [Request.Check] accepts, or answers of [Refuse]. It must return when ctx
// is done; an error ends the script.
type Asker interface {
	Ask(ctx context.Context, requests map[string]*Request) (map[string]json.RawMessage, error)
}

// Refuse returns the answer to a request that the client does not answer:
// {"error": why}.
func Refuse(why string) json.RawMessage {
	answer, _ := json.Marshal(map[string]string{"error": why}) // a string can be encoded
	return answer
}

// An AskerFunc is an [Asker] that answers one request after the other.
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
		r.Put = time.Now()
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

// A Client is the client that answers questions, with its capabilities.
type Client struct {
	Asker
	// Can are the capabilities that the client declares; nil are none.
	Can *mcp.ClientCapabilities
	// ScriptsOnly reports that the client answers scripts alone: it approves no call.
	ScriptsOnly bool
	// Unproven reports that nothing proves whose client it is: it shows no forms.
	Unproven bool
	// Why is the reason why a question without a capability is not answered; "" is
	// that the client does not declare it.
	Why string
}

// Forms returns a client that shows the forms of scripts to a person, and answers nothing
// else, for a reason.
func Forms(a Asker, why string) *Client {
	return &Client{Asker: a, Can: &mcp.ClientCapabilities{Elicitation: &mcp.ElicitationCapability{}}, ScriptsOnly: true, Why: why}
}

// Nobody returns a client that answers nothing, for a reason.
func Nobody(why string) *Client { return &Client{Why: why} }

// A MissingError is the error of a question that the client cannot answer. It ends the
// call if the question was required.
type MissingError struct {
	Capability string // that the client would have to declare; "" where none would help
	why        string
}

func (e *MissingError) Error() string { return e.why }

// missing returns a [*MissingError] if the client cannot be asked by a method.
func (c *Client) missing(method string) error {
	can := c.Can
	can = cmp.Or(can, &mcp.ClientCapabilities{})
	missing := &MissingError{}
	switch {
	// An empty capability is that of forms, which came first.
	case method == methodPerson && (c.Unproven || can.Elicitation == nil || can.Elicitation.Form == nil && can.Elicitation.URL != nil):
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
