package chat

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/skillsmcp/skills-mcp/server/termtext"
	"github.com/skillsmcp/skills-mcp/skills/lazyregexp"
)

const (
	maxReply  = 4 << 20 // bytes of a text, with those of an event
	perToken  = 1 << 10 // bytes of a stream, at least maxReply in all: OpenAI's has about 330, with an event for each
	maxCalls  = 128     // of one reply
	maxTokens = 1 << 40 // that an endpoint's usage can name
)

type object = map[string]any

// A draft is a reply of which the stream has brought a part.
type draft struct {
	text  strings.Builder
	calls []*Call
	open  map[int]*Call // by the stream's index; nil for a block of another type
	usage Usage
	cut   bool
	ended bool // it is complete
	most  int  // tokens of the reply
}

// read passes the data of each event of a stream to event, until the reply is complete.
// Source: the HTML standard, 9.2.6, as far as endpoints use it.
func (d *draft) read(stream io.Reader, event func(data []byte) (done bool, err error)) (*Reply, error) {
	size := max(maxReply, d.most*perToken)
	body := &io.LimitedReader{R: stream, N: int64(size)}
	lines := bufio.NewScanner(body)
	lines.Buffer(nil, maxReply+1)
	d.open = map[int]*Call{}
	var data []byte
	kept := func() bool { return d.text.Len()+len(data) <= maxReply }
	for kept() && lines.Scan() {
		name, value, _ := bytes.Cut(lines.Bytes(), []byte(":"))
		switch {
		case string(name) == "data":
			data = append(append(data, bytes.TrimPrefix(value, []byte(" "))...), '\n')
		case len(lines.Bytes()) == 0 && len(data) > 0:
			if done, err := event(data); err != nil {
				return nil, err
			} else if done {
				return d.reply()
			}
			data = data[:0]
		}
	}
	if !kept() || errors.Is(lines.Err(), bufio.ErrTooLong) {
		size, body.N = maxReply, 0
	}
	switch err := cmp.Or(lines.Err(), io.ErrUnexpectedEOF); {
	case body.N <= 0:
		return nil, &failure{text: fmt.Sprintf("its reply is larger than %d MiB", size>>20)}
	case d.ended:
		return d.reply()
	default:
		return nil, &failure{text: "its stream breaks off: " + err.Error(), cause: ErrCut}
	}
}

// decode decodes the data of an event.
func decode(data []byte, into any) error {
	if err := json.Unmarshal(data, into); err != nil {
		return &failure{text: fmt.Sprintf("its stream has an event that is not understood: %s", data)}
	}
	return nil
}

// begin adds a call.
func (d *draft) begin(index int, id, name string) *Call {
	call := &Call{ID: id, Name: name}
	d.calls, d.open[index] = append(d.calls, call), call
	return call
}

// count takes the counts of an endpoint for the whole reply so far. None can
// lower a sum.
func (d *draft) count(output int, input ...int) {
	sum := 0
	for _, n := range input {
		sum += min(max(n, 0), maxTokens)
	}
	d.usage = Usage{max(d.usage.Input, sum), max(d.usage.Output, min(output, maxTokens))}
}

// finish takes the reason for which the reply ends, "" if it does not yet.
func (d *draft) finish(reason string) error {
	switch reason {
	case "content_filter", "refusal":
		return &failure{text: "the reply was withheld, for the reason " + reason}
	case "model_context_window_exceeded":
		return &failure{text: "the reply does not fit into the model's window", cause: ErrWindowFull}
	case "length", "max_tokens":
		d.cut = true
	}
	d.ended = d.ended || reason != ""
	return nil
}

func (d *draft) reply() (*Reply, error) {
	reply := &Reply{Message: Message{Role: Assistant, Text: d.text.String()}, Usage: d.usage, Cut: d.cut}
	if len(d.calls) > maxCalls {
		return nil, &failure{text: fmt.Sprintf("its reply has more than %d calls of tools", maxCalls)}
	}
	if strings.TrimSpace(reply.Text) == "" { // endpoints refuse it in the next request
		reply.Text = ""
	}
	for i, call := range d.calls {
		call.ID = cmp.Or(call.ID, fmt.Sprintf("call_%d", i))
		call.Args = bytes.TrimSpace(call.Args)
		if len(call.Args) > 0 && (call.Args[0] != '{' || !json.Valid(call.Args)) {
			call.Broken, call.Args = termtext.Line(string(call.Args), maxShown), nil
		}
		if len(call.Args) == 0 {
			call.Args = json.RawMessage("{}")
		}
		reply.Calls = append(reply.Calls, *call)
	}
	return reply, nil
}

// badLetters are letters that endpoints refuse in the name of a call: a model may have called a
// tool that cannot be.
var badLetters = lazyregexp.New(`[^a-zA-Z0-9_-]`)

// toolName returns the name of a call that an endpoint accepts.
func toolName(name string) string {
	name = badLetters.ReplaceAllString(name, "_")
	return cmp.Or(name[:min(len(name), 64)], "_")
}
