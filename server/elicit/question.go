package elicit

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/lazyregexp"
)

// Options are a script's rights to ask, the client that answers, and the function that
// makes its calls.
type Options struct {
	Skill   string         // its qualified name, which the person is told
	Asks    []skills.Asked // parties that it may ask
	Owner   identity.Key   // principal that waiting is counted for
	Client  *Client        // answers
	Limiter *WaitLimiter
	// Call answers a line that calls another skill, with a line. It must return when ctx
	// is done.
	Call func(ctx context.Context, line []byte) []byte
}

const (
	// maxLine is the longest question, in bytes.
	maxLine = 256 << 10
	// maxRequests is the number of its requests.
	maxRequests = 16
	// maxKey is the longest key of a request, in bytes.
	maxKey = 64
)

// opening matches the beginning of a question, after at most maxIndent white space.
var opening = lazyregexp.New(`^[ \t\r]{0,64}\{[ \t\r]*"mcp"[ \t\r]*:[ \t\r]*\{[ \t\r]*"(ask|requests|call)"[ \t\r]*:`)

const maxIndent = 64

// isQuestion reports whether a line of stdout is a question or a call, be it malformed.
func isQuestion(line []byte) bool { return opening.Match(line) }

// isCall reports whether a question is a call.
func isCall(line []byte) bool {
	begun := opening.FindSubmatch(line)
	return begun != nil && string(begun[1]) == "call"
}

// A question has the requests of one line, and the answers to those that are refused.
type question struct {
	requests map[string]*Request        // that may be put to the client
	answers  map[string]json.RawMessage // to those that may not
	single   string                     // the key of the only one, whose answer stands alone; else ""
}

// line is the JSON of a question: {"mcp": {"ask": …}} or {"mcp": {"requests": …}}.
type line struct {
	MCP struct {
		Ask      json.RawMessage        `json:"ask"`
		Requests map[string]lineRequest `json:"requests"`
	} `json:"mcp"`
}

type lineRequest struct {
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	// Required ends the call where the client cannot be asked.
	Required bool `json:"required"`
}

// parse returns the question of a line. key is the key of a request without one. Errors
// are for the script, except for a [*MissingError].
func (o *Options) parse(text []byte, key string) (*question, error) {
	if len(text) > maxLine {
		return nil, fmt.Errorf("the question is longer than %d bytes", maxLine)
	}
	var l line
	if err := decodeStrictly(text, &l); err != nil {
		return nil, err
	}
	q := &question{requests: map[string]*Request{}, answers: map[string]json.RawMessage{}}
	switch {
	case l.MCP.Ask != nil && l.MCP.Requests != nil:
		return nil, errors.New(`it has both "ask" and "requests"`)
	case l.MCP.Ask != nil:
		request, err := simple(l.MCP.Ask)
		if err != nil {
			return nil, err
		}
		q.single = key
		l.MCP.Requests = map[string]lineRequest{key: request}
	case len(l.MCP.Requests) == 0 || len(l.MCP.Requests) > maxRequests:
		return nil, fmt.Errorf("it has %d requests; a question has 1 to %d", len(l.MCP.Requests), maxRequests)
	}
	for key, r := range l.MCP.Requests {
		request, err := o.request(key, r)
		if _, missing := errors.AsType[*MissingError](err); missing && r.Required {
			return nil, err
		}
		if err != nil {
			q.answers[key] = Refuse(err.Error())
			continue
		}
		q.requests[key] = request
	}
	return q, nil
}

// simple returns the request of a question in its short form: a text, or an object with
// the text and the schema of the answer.
func simple(ask json.RawMessage) (lineRequest, error) {
	form := struct {
		Message  string          `json:"message"`
		Schema   json.RawMessage `json:"schema"`
		Required bool            `json:"required"`
	}{}
	if bytes.HasPrefix(bytes.TrimSpace(ask), []byte(`"`)) {
		if err := json.Unmarshal(ask, &form.Message); err != nil {
			return lineRequest{}, err
		}
	} else if err := decodeStrictly(ask, &form); err != nil {
		return lineRequest{}, fmt.Errorf("%w (ask is a text, or an object with message, schema and required)", err)
	}
	params, err := json.Marshal(formParams{Message: form.Message, Schema: form.Schema})
	return lineRequest{Method: methodPerson, Params: params, Required: form.Required}, err
}

// request returns a request as it is sent, if the skill may make it.
func (o *Options) request(key string, r lineRequest) (*Request, error) {
	whom, err := asked(r.Method)
	switch {
	case err != nil:
		return nil, err
	case key == "" || len(key) > maxKey:
		return nil, fmt.Errorf("the key of a request has 1 to %d bytes", maxKey)
	case !slices.Contains(o.Asks, whom):
		return nil, fmt.Errorf("the skill does not declare that it asks this; its frontmatter has to say asks: [%s]", whom)
	}
	if err := o.Client.missing(r.Method); err != nil {
		return nil, err
	}
	return newRequest(o.Skill, r.Method, r.Params)
}

// answer returns the line that answers the question.
func (q *question) answer(answers map[string]json.RawMessage) []byte {
	for key, r := range q.requests {
		answers[key] = r.settled(answers[key])
	}
	for key, refusal := range q.answers {
		answers[key] = refusal
	}
	var value any = answers
	if q.single != "" {
		value = answers[q.single]
	}
	var line bytes.Buffer // one, whatever the client sent
	encoder := json.NewEncoder(&line)
	encoder.SetEscapeHTML(false) // for those who look at it without a parser
	if err := encoder.Encode(value); err != nil {
		return append(Refuse("the client's answer is not JSON"), '\n')
	}
	return line.Bytes()
}
