package server

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/skillsmcp/skills-mcp/server/scriptio"
	"github.com/skillsmcp/skills-mcp/server/termtext"
	"github.com/skillsmcp/skills-mcp/skills/truncate"
)

// progressEvery is the shortest time between two progress notifications of one
// call: 20 a second.
const progressEvery = 50 * time.Millisecond

// heartbeat is the longest time without one: clients end calls of which they
// hear nothing, some after a minute.
const heartbeat = 10 * time.Second

// maxProgressLine is where a line is cut, in bytes.
const maxProgressLine = 1 << 10

// maxLogs is how many log lines wait to be sent.
const maxLogs = 64

// audience is who is told of a call. Its methods may block, and are called by
// one goroutine; hears by any, and it does not.
type audience interface {
	progress(at mark, message string)
	log(level mcp.LoggingLevel, message string)
	hears(level mcp.LoggingLevel) bool
}

// progress turns the lines of a stream into progress messages, at most one
// every progressEvery, and into log messages. Of the progress that comes faster
// the last is sent, at the latest by close. Neither Write nor say ever waits for
// the client. A nil progress takes everything and sends nothing.
type progress struct {
	to audience // told by run only

	wake    chan struct{} // has room for one: there is something to send
	closing chan struct{} // closed by close
	done    chan struct{} // closed by run when it ends

	mu      sync.Mutex // guards what follows; not held while sending
	line    []byte     // without end so far, cut
	pending pending
	counted bool // a line N/M has come: others are no progress of their own
	closed  bool
	waits   string // the thing the call waits for, such as an answer; "" while it runs
}

// pending is what has not been sent yet.
type pending struct {
	logs []logLine
	lost int                // log lines beyond maxLogs
	said string             // of say
	last *scriptio.Progress // of the stream; without Total where it is a plain line
}

type logLine struct {
	level   mcp.LoggingLevel
	message string
}

// newProgress returns a progress that must be closed.
func newProgress(to audience) *progress {
	p := &progress{
		to:      to,
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
	line := clean(truncate.String(string(p.line), maxProgressLine))
	p.line = p.line[:0]
	if line == "" || p.closed {
		return
	}
	if level, message, ok := scriptio.ParseLog(line); ok && p.to.hears(level) {
		p.keepLog(logLine{level, message})
	}
	step, counts := scriptio.ParseProgress(line)
	switch {
	case counts:
		p.counted, p.pending.last = true, &step
	case !p.counted:
		p.pending.last = &scriptio.Progress{Message: line}
	}
	p.notify()
}

func (p *progress) keepLog(line logLine) {
	if len(p.pending.logs) == maxLogs {
		p.pending.lost++
		return
	}
	p.pending.logs = append(p.pending.logs, line)
}

// clean is a message without what could work a terminal.
func clean(message string) string { return strings.TrimSpace(termtext.Text(message)) }

// say sends a message that is not of the stream, such as what is waited for.
func (p *progress) say(message string) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if message = clean(message); message != "" && !p.closed {
		p.pending.said = message
		p.notify()
	}
}

// beats returns the heartbeat message for a time without output.
func (p *progress) beats(after time.Duration) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.waits != "" {
		return "still waiting for " + p.waits
	}
	return fmt.Sprintf("still running after %s", after.Round(time.Second))
}

// wait reports as progress that the call waits for something, until done is called.
func (p *progress) wait(what string) (done func()) {
	if p == nil {
		return func() {}
	}
	set := func(what string) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.waits = what
	}
	set(what)
	p.say("waiting for " + what)
	return func() { set("") }
}

// warn sends a log message that is not of the stream.
func (p *progress) warn(message string) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed && p.to.hears(mcp.LoggingLevelWarning) {
		p.keepLog(logLine{mcp.LoggingLevelWarning, clean(message)})
		p.notify()
	}
}

func (p *progress) notify() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// run sends until close, and then what is left.
func (p *progress) run() {
	defer close(p.done)
	begun := time.Now()
	beat := time.NewTimer(heartbeat)
	defer beat.Stop()
	var at mark
	for {
		select {
		case <-p.wake:
		case <-beat.C:
			p.to.progress(at.nudge(), p.beats(time.Since(begun)))
			beat.Reset(heartbeat)
		case <-p.closing:
			p.flush(&at)
			return
		}
		sent := p.flush(&at)
		if sent == 0 {
			continue
		}
		beat.Reset(heartbeat)
		select {
		case <-time.After(time.Duration(sent) * progressEvery):
		case <-p.closing:
		}
	}
}

// flush sends what is pending, and returns how many progress messages that was.
func (p *progress) flush(at *mark) (sent int) {
	p.mu.Lock()
	now := p.pending
	p.pending = pending{}
	p.mu.Unlock()
	for _, line := range now.logs {
		p.to.log(line.level, line.message)
	}
	if now.lost > 0 {
		p.to.log(mcp.LoggingLevelWarning, fmt.Sprintf("%d log lines came too fast and are left out", now.lost))
	}
	if now.said != "" {
		sent++
		p.to.progress(at.nudge(), now.said)
	}
	if now.last != nil {
		sent++
		p.to.progress(at.step(*now.last), now.last.Message)
	}
	return sent
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
