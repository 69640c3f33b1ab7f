package transport

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
)

// Batches of JSON-RPC are of one revision only, in which servers must take them.
const (
	batched  = "2025-03-26"
	maxBatch = 100 // messages
)

func isBatch(line []byte) bool {
	return bytes.HasPrefix(bytes.TrimLeft(line, " \t\r\n"), []byte("["))
}

// parts returns the messages of a batch, for a client of a revision.
func parts(line []byte, version string) ([]json.RawMessage, *rpcError) {
	var all []json.RawMessage
	switch err := json.Unmarshal(line, &all); {
	case err != nil:
		return nil, &rpcError{code: mcp.PARSE_ERROR, message: "not valid JSON: " + err.Error()}
	case version != batched:
		return nil, invalid(nil, "batches are not supported: send one message a line")
	case len(all) == 0 || len(all) > maxBatch:
		return nil, invalid(nil, fmt.Sprintf("a batch has 1 to %d messages", maxBatch))
	}
	return all, nil
}

// parsePart parses a message of a batch, which cannot be one that lasts.
func parsePart(part []byte) (message, *rpcError) {
	m, f := parse(part)
	if f == nil && m.kind == request && (m.isLasting() || m.modern) {
		f = invalid(m.id, "this request cannot be in a batch: "+m.method)
	}
	return m, f
}

// A batch collects the replies to its requests.
type batch struct {
	calls *table
	ended func(replies [][]byte) // called once, when all requests are answered or cancelled

	mu      sync.Mutex // guards the fields below
	waits   int        // for the ends of requests, and for that of the batch
	replies [][]byte
}

// run handles the messages of a batch: requests by answer, in the slots of the calls that
// call makes, and all others by dispatch. It does not wait for the requests.
func (b *batch) run(all []json.RawMessage, call func(message) *call, answer func(*call) []byte, dispatch func(message)) {
	end := b.add()
	for _, part := range all {
		switch m, f := parsePart(part); {
		case f != nil:
			b.add()(f.encode())
		case m.kind == request:
			b.start(call(m), answer)
		default:
			dispatch(m)
		}
	}
	end(nil)
}

// start has a request handled when there is a slot.
func (b *batch) start(c *call, answer func(*call) []byte) {
	done := b.add()
	c.run = func() {
		defer b.calls.leave(c)
		defer c.cancel(nil)
		if reply := answer(c); b.calls.finish(c) {
			done(reply)
		}
	}
	if err := b.calls.admit(c); err != nil {
		done(refused(c.message, err).encode())
		c.cancel(err)
	}
	context.AfterFunc(c.ctx, func() { done(nil) }) // its cancellation, if it is not done
}

// add returns the end of another request, which is called with its reply, nil for
// none. Later calls do nothing.
func (b *batch) add() (done func(reply []byte)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.waits++
	var once sync.Once
	return func(reply []byte) { once.Do(func() { b.end(reply) }) }
}

func (b *batch) end(reply []byte) {
	b.mu.Lock()
	if reply != nil {
		b.replies = append(b.replies, reply)
	}
	b.waits--
	last := b.waits == 0
	b.mu.Unlock()
	if last {
		b.ended(b.replies)
	}
}

// array returns replies as one line; nil for none.
func array(replies [][]byte) []byte {
	if len(replies) == 0 {
		return nil
	}
	for i, reply := range replies {
		replies[i] = bytes.TrimSuffix(reply, []byte("\n"))
	}
	return fmt.Appendf(nil, "[%s]\n", bytes.Join(replies, []byte(",")))
}
