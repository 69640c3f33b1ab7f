package transport

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
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

// parts takes a batch of a client of a revision apart.
func parts(line []byte, version string) ([]json.RawMessage, *fault) {
	var all []json.RawMessage
	switch err := json.Unmarshal(line, &all); {
	case err != nil:
		return nil, &fault{code: mcp.PARSE_ERROR, message: "not valid JSON: " + err.Error()}
	case version != batched:
		return nil, invalid(nil, "batches are not supported: send one message a line")
	case len(all) == 0 || len(all) > maxBatch:
		return nil, invalid(nil, fmt.Sprintf("a batch has 1 to %d messages", maxBatch))
	}
	return all, nil
}

// parsePart is parse for a message of a batch.
func parsePart(part []byte) (message, *fault) {
	m, f := parse(part)
	if f == nil && m.kind == request && (m.isKept() || m.modern) {
		f = invalid(m.id, "this request cannot be in a batch: "+m.method)
	}
	return m, f
}

// A batch collects the replies to the requests of one, on a stream.
type batch struct {
	write func(line []byte)

	mu      sync.Mutex     // guards the fields below
	waits   map[*call]bool // for their ends
	sealed  bool           // no more are added
	replies [][]byte
}

func (b *batch) add(c *call) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.waits[c] = true
}

// done takes the reply to c, nil where there is none. Only the first counts.
func (b *batch) done(c *call, reply []byte) {
	b.mu.Lock()
	if b.waits[c] {
		delete(b.waits, c)
		b.reply(reply)
	}
	b.send()
}

// seal says that all requests were added.
func (b *batch) seal() {
	b.mu.Lock()
	b.sealed = true
	b.send()
}

// reply adds one. The caller holds mu.
func (b *batch) reply(line []byte) {
	if line != nil {
		b.replies = append(b.replies, bytes.TrimSuffix(line, []byte("\n")))
	}
}

// send writes all replies once they are there, and gives mu back.
func (b *batch) send() {
	ready := b.sealed && len(b.waits) == 0 && len(b.replies) > 0
	replies := b.replies
	if ready {
		b.replies = nil
	}
	b.mu.Unlock()
	if ready {
		b.write(fmt.Appendf(nil, "[%s]\n", bytes.Join(replies, []byte(","))))
	}
}

// receiveBatch handles a batch in the read loop.
func (s *stream) receiveBatch(ctx context.Context, line []byte) {
	all, f := parts(line, s.client.ProtocolVersion())
	if f != nil {
		s.refuse(ctx, f)
		return
	}
	b := &batch{write: func(line []byte) { s.outbox.reply(ctx, line) }, waits: map[*call]bool{}}
	for _, part := range all {
		m, f := parsePart(part)
		if f == nil && m.kind != request {
			s.received(ctx, m, nil)
			continue
		}
		if f == nil {
			f = s.startIn(ctx, b, m)
		}
		if f != nil {
			b.mu.Lock()
			b.reply(f.encode())
			b.mu.Unlock()
		}
	}
	b.seal()
}

// startIn starts a request of a batch.
func (s *stream) startIn(ctx context.Context, b *batch, m message) *fault {
	c := newCall(ctx, m)
	c.batch = b
	b.add(c)
	context.AfterFunc(c.ctx, func() { b.done(c, nil) }) // it was cancelled, if it is not done
	hire, err := s.calls.admit(c)
	if err != nil {
		c.cancel(err)
		return refused(m, err)
	}
	if hire {
		go s.work()
	}
	return nil
}

// postBatch handles a batch of a client that has initialized. Its replies come one
// by one, as a stream.
func (h *HTTP) postBatch(a *answerer, r *http.Request, body []byte) {
	c, refusal := h.client(r)
	if refusal != nil {
		refusal.write(a)
		return
	}
	defer h.sessions.leave(c)
	all, f := parts(body, c.ProtocolVersion())
	if f == nil {
		f = checkHints(r, message{}) // no header is that of all messages
	}
	if f != nil {
		a.refuse(http.StatusBadRequest, f)
		return
	}
	var requests []message
	var faults []*fault
	for _, part := range all {
		m, f := parsePart(part)
		switch {
		case f != nil:
			faults = append(faults, f)
		case m.kind == request:
			requests = append(requests, m)
		default:
			h.taken(r, c, m)
		}
	}
	if len(requests)+len(faults) == 0 {
		a.accept()
		return
	}
	p := h.replays.begin(a, c, func(cause error) {
		for _, m := range requests {
			h.calls.cancel(c.callKey(m.id), cause)
		}
	})
	h.streaming(a, r, c, p, func() {
		for _, f := range faults {
			p.emit(f.encode())
		}
		var running sync.WaitGroup
		for _, m := range requests {
			running.Go(func() {
				reply, err := h.call(r, c, p, m)
				if err != nil {
					reply = refused(m, err).encode()
				}
				if reply != nil {
					p.emit(reply)
				}
			})
		}
		running.Wait()
		p.end()
	})
}
