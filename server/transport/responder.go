package transport

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// An answerer writes the answer to one HTTP request: one JSON message, or a
// stream of events once something goes ahead of it. Its methods may be called
// concurrently. After its end nothing is written.
type responder struct {
	w         http.ResponseWriter
	control   *http.ResponseController
	patience  time.Duration
	keepAlive time.Duration

	mu     sync.Mutex // guards what follows
	stream bool       // the headers of a stream are out
	ended  bool
	timer  *time.Timer             // sends when all is silent; set by during
	fail   context.CancelCauseFunc // called when the client takes nothing; set by during
}

func newResponder(w http.ResponseWriter, o HTTPOptions) *responder {
	return &responder{w: w, control: http.NewResponseController(w), patience: o.Patience, keepAlive: o.KeepAlive}
}

// during runs what answers, which is told by cancel when the client takes
// nothing.
func (a *responder) during(cancel context.CancelCauseFunc, run func()) {
	a.mu.Lock()
	a.fail = cancel
	a.timer = time.AfterFunc(a.keepAlive, a.beat)
	a.mu.Unlock()
	defer a.timer.Stop()
	run()
}

// stays is during for a stream that stays open, whose client has nothing more to
// send.
func (a *responder) stays(cancel context.CancelCauseFunc, run func()) {
	_ = a.control.SetReadDeadline(time.Time{}) // where it can be set
	defer func() { _ = a.control.SetReadDeadline(time.Now().Add(a.patience)) }()
	a.during(cancel, run)
}

// beat keeps a silent stream alive. A call that takes long becomes one.
func (a *responder) beat() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.ended {
		a.write([]byte(": keep-alive\n\n"))
	}
}

// send writes a message ahead of the answer.
func (a *responder) send(line []byte) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.ended {
		a.write(event(line))
	}
}

// event writes a message as an event with an id, or without a message only the id,
// and reports whether it could.
func (a *responder) event(id string, line []byte) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ended {
		return false
	}
	head := "id: " + id + "\n"
	if line == nil {
		a.write([]byte(head + "retry: 1000\ndata: \n\n")) // ms until the client comes back
	} else {
		a.write(append([]byte(head), event(line)...))
	}
	return !a.ended
}

// event is a line as an event of a stream.
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

// put writes and flushes, as long as the client has patience.
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

// hurry bounds how long the client may take to take what is written next.
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
	if a.stream {
		a.write(event(line))
	} else {
		header := a.w.Header()
		header.Set("Content-Type", "application/json")
		header.Set("Content-Length", strconv.Itoa(len(line)))
		a.w.WriteHeader(status)
		a.hurry()
		_, _ = a.w.Write(line)
	}
	a.ended = true
}

// end lets nothing more be written.
func (a *responder) end() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ended = true
}

// cancelled ends the answer to a request that its client has cancelled: there is
// none, but the HTTP request has to end. A request is answered with JSON or with a
// stream of events, by the specification; here with one that holds nothing.
func (a *responder) cancelled() {
	a.open()
	a.end()
}

// accept tells that a message was taken that has no answer.
func (a *responder) accept() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.ended && !a.stream {
		a.hurry()
		a.w.WriteHeader(http.StatusAccepted)
	}
	a.ended = true
}

func (a *responder) refuse(status int, f *rpcError) { a.finish(status, f.encode()) }

// busy answers where there is no place for a request.
func (a *responder) busy(m message, err error) {
	if err == errDuplicate {
		a.refuse(http.StatusBadRequest, refused(m, err))
		return
	}
	a.w.Header().Set("Retry-After", "1")
	a.refuse(http.StatusServiceUnavailable, refused(m, err))
}

// stay sends notices until ctx is done, and ends.
func (a *responder) stay(ctx context.Context, queue *notices) {
	defer a.end()
	for {
		select {
		case <-queue.wake:
			queue.each(func(line []byte, _ func() bool) { a.send(line) })
		case <-ctx.Done():
			return
		}
	}
}

// follow sends notices until over has the reply, which it returns.
func (a *responder) follow(queue *notices, over <-chan []byte) (reply []byte) {
	for {
		select {
		case <-queue.wake:
			queue.each(func(line []byte, _ func() bool) { a.send(line) })
		case reply := <-over:
			queue.each(func(line []byte, _ func() bool) { a.send(line) })
			return reply
		}
	}
}

var errGone = errors.New("the client has gone")
