package server

import (
	"bytes"
	"cmp"
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

// maxProgressLine bounds a line, in bytes; longer ones are cut.
const maxProgressLine = 1 << 10

// maxLogs bounds the log lines that wait to be sent.
const maxLogs = 64

// A progressSink receives the progress and the log lines of a call. Its methods may
// block, and are called by one goroutine; hears is called by any, and does not block.
type progressSink interface {
	progress(at mark, message string)
	log(level mcp.LoggingLevel, message string)
	hears(level mcp.LoggingLevel) bool
}

// progress turns the lines of a stream into progress messages, at most one
// every progressEvery, and into log messages. It drops progress that comes faster, but
// for the last message, which close sends at the latest. Neither Write nor say waits for
// the client. A nil progress discards everything.
type progress struct {
	to progressSink // told by run only

	wake    chan struct{} // has room for one: there is something to send
	closing chan struct{} // closed by close
	done    chan struct{} // closed by run when it ends

	mu      sync.Mutex // guards the fields below; not held while sending
	line    []byte     // without end so far, cut
	pending pending
	counted bool // a line N/M has come: others are no progress of their own
	closed  bool
	waits   string // the thing the call waits for, such as an answer; "" while it runs
}

// pending holds the messages that have not been sent yet.
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
func newProgress(to progressSink) *progress {
	p := &progress{
		to:      to,
		wake:    make(chan struct{}, 1),
		closing: make(chan struct{}),
		done:    make(chan struct{}),
	}
	go p.run()
	return p
}

// Write adds a part of the stream. A carriage return ends a line, too: programs draw
// their progress with it on a terminal.
func (p *progress) Write(data []byte) (int, error) {
	if p == nil {
		return len(data), nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for rest := data; ; {
		end := bytes.IndexAny(rest, "\r\n")
		if end < 0 {
			p.appendLine(rest)
			return len(data), nil
		}
		p.appendLine(rest[:end])
		p.endLine()
		rest = rest[end+1:]
	}
}

// appendLine adds to the line, up to one byte more than is shown.
func (p *progress) appendLine(part []byte) {
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
		p.appendLog(logLine{level, message})
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

func (p *progress) appendLog(line logLine) {
	if len(p.pending.logs) == maxLogs {
		p.pending.lost++
		return
	}
	p.pending.logs = append(p.pending.logs, line)
}

// clean returns a message without control sequences.
func clean(message string) string { return strings.TrimSpace(termtext.Text(message)) }

// update changes the pending messages, and has them sent. It does nothing once p is
// closed.
func (p *progress) update(change func()) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		change()
		p.notify()
	}
}

// say sends a message that is not of the stream, such as the reason for a wait.
func (p *progress) say(message string) {
	p.update(func() { p.pending.said = cmp.Or(clean(message), p.pending.said) })
}

// warn sends a log message that is not of the stream.
func (p *progress) warn(message string) {
	p.update(func() {
		if p.to.hears(mcp.LoggingLevelWarning) {
			p.appendLog(logLine{mcp.LoggingLevelWarning, clean(message)})
		}
	})
}

// wait reports as progress that the call waits for an event, until done is called. event
// completes "waiting for …".
func (p *progress) wait(event string) (done func()) {
	p.update(func() { p.waits = event })
	p.say("waiting for " + event)
	return func() { p.update(func() { p.waits = "" }) }
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

func (p *progress) notify() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// run sends messages until close, and then those that are left.
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

// flush sends the pending messages, and returns the number of progress messages.
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

// close returns when the messages that are left have been sent: always the last line,
// also one without end. Nothing is sent afterwards.
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

// A mark is the progress of a call as a number. It increases with each notification, as
// MCP demands. The zero mark is before the first.
type mark struct {
	at, total float64 // total is 0 where it is not known
	begun     bool
}

// step moves to the number of a line, or one further if it has none.
func (m *mark) step(p scriptio.Progress) mark {
	if p.Total == 0 {
		return m.nudge()
	}
	m.total = p.Total
	if m.begun && p.Done <= m.at { // such as 50/100 again, with another message
		return m.nudge()
	}
	m.at, m.begun = p.Done, true
	return *m
}

// words returns a message with the percentage, if that is known.
func (m mark) words(message string) string {
	if m.total == 0 {
		return message
	}
	return strings.TrimSpace(fmt.Sprintf("%.0f%% %s", 100*m.at/m.total, message))
}

// nudge moves on without progress: by one while messages are only counted, and then by
// the least that shows.
func (m *mark) nudge() mark {
	by := 1.0
	if m.total > 0 {
		by = max(m.at, m.total) / 1e6
	}
	m.at, m.begun = m.at+by, true
	now := *m
	if now.at > now.total { // more than all would be refused
		now.total = 0
	}
	return now
}
