package api

import (
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/skillsmcp/skills-mcp/server/identity"
)

// An operation is one method of one path. The router and the OpenAPI document are both
// made of it, so that they cannot differ.
type operation struct {
	method  string
	path    string // below [Path], with the wildcards of [http.ServeMux]
	id      string // of the document, unique
	does    string // for people
	who     audience
	scope   identity.Scope // of the token; "" is that to read
	query   any            // the zero value of a struct, of whose tags the parameters are; nil is none
	body    any            // likewise
	result  any            // of type T, for the JSON of T; nil is none
	status  int            // of success
	media   string
	headers []string // of requests that count, beside Accept
	ask     string   // an example of the body
	answer  string   // an example of the result
	// serve returns the result, or a reply.
	serve func(x *exchange) (any, error)
}

// An audience says who may use an operation.
type audience int

const (
	everyone   audience = iota
	persons             // a session of the page that the person of this machine began
	answering           // they, and others about their own calls
	andScripts          // they, and a script with policy.script_token
	overseers           // the person of this machine, and principals with skills:admin
)

// Media types.
const jsonMedia, eventMedia, anyMedia = "application/json", "text/event-stream", "*/*"

// tokenHeader has the token of policy.script_token.
const tokenHeader = "Approval-Token"

// arguments returns the struct of the arguments of an operation, or nil.
func (o *operation) arguments() any {
	if o.body != nil {
		return o.body
	}
	return o.query
}

// An exchange is one request with its answer.
type exchange struct {
	*operation
	request  *http.Request
	service  *Service
	document func() ([]byte, error)
	w        http.ResponseWriter
	args     json.RawMessage // checked
	begun    bool            // the operation itself writes the answer
}

// A reply is an answer that is not JSON.
type reply struct {
	media  string
	body   []byte
	header map[string]string
}

// patience is the time that a client has to read a part of an answer.
const patience = 30 * time.Second

// extend gives the client time to read what comes next: the run may have taken longer than
// the server allows for an answer.
func (x *exchange) extend() {
	_ = http.NewResponseController(x.w).SetWriteDeadline(time.Now().Add(patience)) // where it can be set
}

// decode decodes the checked arguments.
func (x *exchange) decode(into any) error {
	err := json.Unmarshal(x.args, into)
	if wrong, ok := errors.AsType[*time.ParseError](err); ok {
		return refuse(http.StatusBadRequest, "%q is not a time; write one such as 2026-01-31T15:04:00Z", wrong.Value)
	}
	if err != nil {
		return refuse(http.StatusBadRequest, "%v", err)
	}
	return nil
}

// take decodes the checked arguments of a request into args, and then returns the result
// of serve.
func take[T any](x *exchange, args any, serve func() (T, error)) (any, error) {
	if err := x.decode(args); err != nil {
		return nil, err
	}
	return serve()
}

// write answers with a value, or a reply.
func (x *exchange) write(value any) error {
	answer, ok := value.(reply)
	if !ok {
		body, err := encode(value)
		if err != nil {
			return err
		}
		answer = reply{jsonMedia, body, nil}
	}
	header := x.w.Header()
	protect(header)
	for name, value := range answer.header {
		header.Set(name, value)
	}
	header.Set("Content-Type", answer.media)
	x.extend()
	x.w.WriteHeader(http.StatusOK)
	_, _ = x.w.Write(answer.body) // its error is that the client has left
	return nil
}

// encode returns the JSON of a value.
func encode(value any) ([]byte, error) {
	body, err := json.Marshal(value)
	return append(body, '\n'), err
}
