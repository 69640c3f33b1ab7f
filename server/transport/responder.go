package transport

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// A responder writes the answer to one HTTP request: one JSON message, or a stream of
// events if anything precedes it. Its methods may be called concurrently. After end it
// writes nothing.
type responder struct {
	w         http.ResponseWriter
	control   *http.ResponseController
	patience  time.Duration
	keepAlive time.Duration
	last      func(line []byte) []byte // changes the last message, immediately before it is written; may be nil

	mu     sync.Mutex // guards the fields below
	stream bool       // the headers of a stream are written
	ended  bool
	timer  *time.Timer             // calls beat; set by during
	fail   context.CancelCauseFunc // called when the client reads nothing; set by during
}

func newResponder(w http.ResponseWriter, o Options) *responder {
	return &responder{w: w, control: http.NewResponseController(w), patience: o.bounds.patience, keepAlive: o.bounds.keepAlive}
}

// during runs a handler, and calls cancel when the client reads nothing.
func (a *responder) during(cancel context.CancelCauseFunc, run func()) {
	a.mu.Lock()
	a.fail = cancel
	a.timer = time.AfterFunc(a.keepAlive, a.beat)
	a.mu.Unlock()
	defer a.timer.Stop()
	run()
}

// stays is during for a stream: its client sends nothing more, so that there is no
// deadline for reading.
func (a *responder) stays(cancel context.CancelCauseFunc, run func()) {
	_ = a.control.SetReadDeadline(time.Time{}) // where it can be set
	defer func() { _ = a.control.SetReadDeadline(time.Now().Add(a.patience)) }()
	a.during(cancel, run)
}

// beat writes a comment to a silent connection, which makes the answer a stream.
func (a *responder) beat() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.ended {
		a.write([]byte(": keep-alive\n\n"))
	}
}

// send writes a message ahead of the answer.
func (a *responder) send(line []byte) { a.compose(notice{line: line}.lines) }

// compose writes the messages that lines returns, one on each line, ahead of the answer. It
// is called immediately before they are written.
func (a *responder) compose(lines func() []byte) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ended {
		return
	}
	for line := range bytes.Lines(lines()) {
		a.write(event(line))
	}
}

// event returns a line as an event of a stream.
func event(line []byte) []byte {
	const head = "event: message\ndata: "
	e := make([]byte, 0, len(head)+len(line)+1)
	e = append(e, head...)
	e = append(e, line...) // with its end
	return append(e, '\n')
}

// open begins a stream.
func (a *responder) open() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.ended && !a.stream {
		a.write(nil)
	}
}

// write writes a part of a stream. The caller holds mu.
func (a *responder) write(part []byte) {
	if !a.stream {
		a.stream = true
		header := a.w.Header()
		header.Set("Content-Type", "text/event-stream")
		header.Set("Cache-Control", "no-cache, no-transform")
		header.Set("X-Accel-Buffering", "no") // nginx holds streams back
		a.w.WriteHeader(http.StatusOK)
	}
	a.put(part)
	if a.timer != nil {
		a.timer.Reset(a.keepAlive)
	}
}

// put writes and flushes, within the patience. The caller holds mu.
func (a *responder) put(part []byte) {
	a.hurry()
	_, err := a.w.Write(part)
	if err == nil {
		err = a.control.Flush()
	}
	if err != nil {
		a.ended = true
		if a.fail != nil {
			a.fail(errGone)
		}
	}
}

// hurry sets the deadline for the next write.
func (a *responder) hurry() {
	_ = a.control.SetWriteDeadline(time.Now().Add(a.patience)) // where it can be set
}

// finish writes the last message.
func (a *responder) finish(status int, line []byte) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ended {
		return
	}
	if a.last != nil {
		line = a.last(line)
	}
	if a.stream {
		a.write(event(line))
	} else {
		header := a.w.Header()
		header.Set("Content-Type", "application/json")
		header.Set("Content-Length", strconv.Itoa(len(line)))
		a.w.WriteHeader(status)
		a.hurry()
		if _, err := a.w.Write(line); err == nil {
			_ = a.control.Flush() // or net/http keeps it until the handler has returned
		}
	}
	a.ended = true
}

// end ends the answer: nothing more is written.
func (a *responder) end() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ended = true
}

// cancelled ends the answer to a request that its client has cancelled. It has no reply,
// but the specification demands JSON or a stream: the stream is empty.
func (a *responder) cancelled() {
	a.open()
	a.end()
}

// accept answers a message that has no reply, with status 202.
func (a *responder) accept() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.ended && !a.stream {
		a.hurry()
		a.w.WriteHeader(http.StatusAccepted)
	}
	a.ended = true
}

// refuse answers with an error.
func (a *responder) refuse(f *rpcError) {
	a.finish(cmp.Or(f.status, http.StatusBadRequest), f.encode())
}

// busy answers a request for which there is no slot.
func (a *responder) busy(m message, err error) {
	f := refused(m, err)
	if err != errDuplicate {
		a.w.Header().Set("Retry-After", "1")
		f.status = http.StatusServiceUnavailable
	}
	if err == errShare {
		f.status = http.StatusTooManyRequests
	}
	a.refuse(f)
}

// follow sends notices until over delivers the reply, or ctx is done: another stream
// may have the notices then.
func (a *responder) follow(ctx context.Context, queue *notices, over <-chan []byte) (reply []byte) {
	for {
		select {
		case <-queue.wake:
			queue.each(a.compose)
		case reply := <-over:
			queue.rest(a.compose)
			return reply
		case <-ctx.Done():
			return nil
		}
	}
}

var errGone = errors.New("the client has gone")
