package server

import (
	"bytes"
	"strings"
	"sync"
	"time"

	"github.com/skillsmcp/skills-mcp/server/plain"
	"github.com/skillsmcp/skills-mcp/skills/truncate"
)

// progressEvery is the shortest time between two progress notifications of one
// call: 20 a second.
const progressEvery = 50 * time.Millisecond

// maxProgressLine is where a line is cut, in bytes.
const maxProgressLine = 1 << 10

// progress turns the lines of a stream into progress messages, at most one
// every progressEvery. Of those that come faster the last is sent, at the
// latest by close. Neither Write nor say ever waits for the client. A nil progress
// takes everything and sends nothing.
type progress struct {
	send func(count int, message string) // called by run only

	wake    chan struct{} // has room for one: there is something to send
	closing chan struct{} // closed by close
	done    chan struct{} // closed by run when it ends

	mu     sync.Mutex // guards what follows; not held while sending
	line   []byte     // without end so far, cut
	said   string     // not sent yet, of say
	last   string     // not sent yet, of the stream
	closed bool
}

// newProgress returns a progress that sends message number count, from 1, with
// send, which may block. It must be closed.
func newProgress(send func(count int, message string)) *progress {
	p := &progress{
		send:    send,
		wake:    make(chan struct{}, 1),
		closing: make(chan struct{}),
		done:    make(chan struct{}),
	}
	go p.run()
	return p
}

// Write takes a part of the stream. A carriage return ends a line too: it is how
// progress is drawn on a terminal.
func (p *progress) Write(data []byte) (int, error) {
	if p == nil {
		return len(data), nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for rest := data; ; {
		end := bytes.IndexAny(rest, "\r\n")
		if end < 0 {
			p.keep(rest)
			return len(data), nil
		}
		p.keep(rest[:end])
		p.endLine()
		rest = rest[end+1:]
	}
}

// keep adds to the line, up to one byte more than is shown.
func (p *progress) keep(part []byte) {
	room := maxProgressLine + 1 - len(p.line)
	p.line = append(p.line, part[:min(len(part), room)]...)
}

func (p *progress) endLine() {
	text := truncate.String(string(p.line), maxProgressLine)
	p.line = p.line[:0]
	p.offer(&p.last, text)
}

// say sends a message that is not of the stream, such as what is waited for.
func (p *progress) say(message string) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.offer(&p.said, message)
}

func (p *progress) offer(place *string, message string) {
	message = strings.TrimSpace(plain.Text(message))
	if message == "" || p.closed {
		return
	}
	*place = message
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// run sends until close, and then what is left.
func (p *progress) run() {
	defer close(p.done)
	count := 0
	flush := func() (sent time.Duration) {
		for _, message := range p.take() {
			count++
			sent++
			p.send(count, message)
		}
		return sent
	}
	for {
		select {
		case <-p.wake:
		case <-p.closing:
			flush()
			return
		}
		select {
		case <-time.After(flush() * progressEvery):
		case <-p.closing:
		}
	}
}

// take returns what is to be sent.
func (p *progress) take() (messages []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, place := range []*string{&p.said, &p.last} {
		if *place != "" {
			messages = append(messages, *place)
			*place = ""
		}
	}
	return messages
}

// close returns when what is left has been sent: the last line always, also
// one without end. Nothing is sent afterwards.
func (p *progress) close() {
	if p == nil {
		return
	}
	p.mu.Lock()
	if !p.closed {
		p.endLine()
		p.closed = true
		close(p.closing)
	}
	p.mu.Unlock()
	<-p.done
}
