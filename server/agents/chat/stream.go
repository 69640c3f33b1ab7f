package chat

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/skillsmcp/skills-mcp/server/termtext"
)

const (
	maxReply  = 4 << 20 // bytes of a stream
	maxCalls  = 128     // of one reply
	maxTokens = 1 << 40 // that an endpoint's usage can name
)

// A draft is a reply of which the stream has brought a part.
type draft struct {
	text  strings.Builder
	calls []*draftCall
	usage Usage
	cut   bool
	ended bool // it is complete
}

type draftCall struct {
	id, name string
	args     bytes.Buffer
}

// read passes the data of each event of a stream to event, until the reply is complete.
// Source: the HTML standard, 9.2.6, as far as endpoints use it.
func (d *draft) read(body *io.LimitedReader, event func(data []byte) (done bool, err error)) (*Reply, error) {
	lines := bufio.NewScanner(body)
	lines.Buffer(nil, maxReply+2)
	var data []byte
	for lines.Scan() {
		name, value, _ := bytes.Cut(lines.Bytes(), []byte(":"))
		switch {
		case string(name) == "data":
			data = append(append(data, bytes.TrimPrefix(value, []byte(" "))...), '\n')
		case len(name) == 0 && len(value) == 0 && len(data) > 0:
			if done, err := event(data); done || err != nil {
				return d.reply(err)
			}
			data = data[:0]
		}
	}
	switch err := lines.Err(); {
	case body.N <= 0:
		return nil, &failure{text: fmt.Sprintf("its reply is larger than %d MiB", maxReply>>20)}
	case d.ended:
		return d.reply(nil)
	case err != nil:
		return nil, &failure{text: "its stream breaks off: " + err.Error(), again: true}
	}
	return nil, &failure{text: "its stream ends before the reply does", again: true}
}

// reply returns the reply, unless there is an error.
func (d *draft) reply(err error) (*Reply, error) {
	if err != nil {
		return nil, err
	}
	reply := &Reply{Message: Message{Role: Assistant, Text: strings.ToValidUTF8(d.text.String(), "\uFFFD")}, Usage: d.usage, Cut: d.cut}
	for i, draft := range d.calls {
		reply.Calls = append(reply.Calls, draft.call(i))
	}
	if strings.TrimSpace(reply.Text) == "" && len(reply.Calls) == 0 {
		return nil, &failure{text: "it replies with neither text nor calls of tools", cause: ErrEmpty}
	}
	return reply, nil
}

// call returns the call, the i-th of its reply.
func (c *draftCall) call(i int) Call {
	call := Call{ID: c.id, Name: c.name, Args: json.RawMessage("{}")}
	if call.ID == "" {
		call.ID = fmt.Sprintf("call_%d", i)
	}
	args := bytes.TrimSpace(c.args.Bytes())
	switch {
	case len(args) == 0: // of a tool without parameters
	case args[0] == '{' && json.Valid(args):
		call.Args = args
	default:
		call.Broken = termtext.Line(string(args), maxShown)
	}
	return call
}

// add adds a call.
func (d *draft) add(id, name string) (*draftCall, error) {
	if len(d.calls) == maxCalls {
		return nil, &failure{text: fmt.Sprintf("its reply has more than %d calls of tools", maxCalls)}
	}
	c := &draftCall{id: id, name: name}
	d.calls = append(d.calls, c)
	return c, nil
}

// tokens returns a number of tokens of an endpoint, which cannot lower a sum.
func tokens(n ...int) int {
	sum := 0
	for _, n := range n {
		sum += min(max(n, 0), maxTokens)
	}
	return sum
}

// decode decodes an event.
func decode(data []byte, into any) error {
	if err := json.Unmarshal(data, into); err != nil {
		return &failure{text: fmt.Sprintf("its stream has an event that is not understood (%v): %s", err, data)}
	}
	return nil
}
