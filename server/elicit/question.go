package elicit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"

	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/skills"
)

// Options are whose questions are answered, and by whom.
type Options struct {
	Skill   string         // its qualified name, which the person is told
	Asks    []skills.Asked // whom it may ask
	Owner   identity.Key   // who waiting is counted for
	Client  *Client        // who answers
	Limiter *WaitLimiter
}

const (
	// maxLine is how long a question may be, in bytes.
	maxLine = 256 << 10
	// maxRequests is how many requests it may have.
	maxRequests = 16
	// maxKey is how long the key of one may be, in bytes.
	maxKey = 64
)

// opening is how a line begins that asks, and no other: after at most maxIndent
// white space.
var opening = regexp.MustCompile(`^[ \t\r]{0,64}\{[ \t\r]*"mcp"[ \t\r]*:[ \t\r]*\{[ \t\r]*"(?:ask|requests)"[ \t\r]*:`)

const maxIndent = 64

// isQuestion reports whether a line of stdout asks something, however badly.
func isQuestion(line []byte) bool { return opening.Match(line) }

// A question is what one line asks.
type question struct {
	requests map[string]*Request        // that may be put to the client
	answers  map[string]json.RawMessage // to those that may not
	single   string                     // the key of the only one, whose answer stands alone; else ""
}

// line is a question as it is written: {"mcp": {"ask": …}} or {"mcp": {"requests": …}}.
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

// parse reads a line. key names the request of a question that has no keys of its
// own. The error is for the script, but for a [*MissingError].
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

// simple returns a question in its short form: what is asked, or what is asked
// and the schema of the answer.
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

// request returns what may be asked, as it is sent.
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
