package server

import (
	"bytes"
	"strings"
	"sync"
	"time"
)

// progressEvery is the shortest time between two progress notifications of one
// call: 20 a second.
const progressEvery = 50 * time.Millisecond

// maxProgressLine is where a line without end is cut.
const maxProgressLine = 1 << 10

// progress turns the lines of a stream into progress messages, at most one
// every progressEvery. Of those that come faster the last is sent, at the
// latest when progress is closed.
type progress struct {
	send func(count int, message string)

	mu      sync.Mutex // held while sending: messages stay in order
	line    []byte     // without end so far
	pending string     // not sent yet
	count   int
	last    time.Time
	timer   *time.Timer // sends pending; stopped by close
	closed  bool
}

// newProgress returns a progress that sends message number count, from 1, with
// send.
func newProgress(send func(count int, message string)) *progress {
	return &progress{send: send}
}

// Write takes a part of the stream.
func (p *progress) Write(data []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := len(data)
	for {
		line, rest, found := bytes.Cut(data, []byte("\n"))
		p.line = append(p.line, line[:min(len(line), maxProgressLine-min(maxProgressLine, len(p.line)))]...)
		if !found {
			return n, nil
		}
		p.offer(string(p.line))
		p.line, data = p.line[:0], rest
	}
}

// say sends a message that is not of the stream.
func (p *progress) say(message string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.offer(message)
}

func (p *progress) offer(message string) {
	message = strings.TrimSpace(strings.ToValidUTF8(message, "\ufffd"))
	if message == "" || p.closed {
		return
	}
	p.pending = message
	wait := progressEvery - time.Since(p.last)
	if wait <= 0 {
		p.flush()
		return
	}
	if p.timer == nil {
		p.timer = time.AfterFunc(wait, func() {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.timer = nil
			p.flush()
		})
	}
}

func (p *progress) flush() {
	if p.pending == "" || p.closed {
		return
	}
	p.count++
	p.send(p.count, p.pending)
	p.pending, p.last = "", time.Now()
}

// close sends what is left. Nothing is sent afterwards.
func (p *progress) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.line) > 0 {
		p.offer(string(p.line))
	}
	p.flush()
	p.closed = true
	if p.timer != nil {
		p.timer.Stop()
	}
}
