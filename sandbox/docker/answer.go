package docker

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

// errJunk is the failure of an image whose shell does not do what it is told.
var errJunk = errors.New("it said something else than it was asked to")

// An answer parses a container's output for one command: on stdout a mark, the
// command's output, a mark, its exit and the files in /out; on stderr the command's
// output and a mark, of which nothing is passed on before the mark on stdout has
// come, and then errors of the files in /out and a mark. One goroutine writes to its
// streams.
type answer struct {
	stdout, stderr marked
	tail           *io.PipeReader // what follows the end on stdout
	began          chan struct{}  // closed when the command begins, or is known not to
	missing        bool           // the program is not there; valid after began
	passed         chan struct{}  // closed by pass
	pass           func()         // lets output through
	quiet          chan struct{}  // closed at stderr's end
	notes          notes          // tar's messages on stderr after that; valid after noted
	noted          chan struct{}  // closed at the end of the notes
}

// notes keep the beginning of a text.
type notes struct{ strings.Builder }

func (n *notes) Write(p []byte) (int, error) {
	const most = 4 << 10
	n.Builder.Write(p[:min(len(p), most-n.Len())])
	return len(p), nil
}

// newAnswer returns the answer to the line of cmd with nonce.
func newAnswer(nonce string, cmd *sandbox.Command) *answer {
	a := &answer{began: make(chan struct{}), passed: make(chan struct{}), quiet: make(chan struct{}), noted: make(chan struct{})}
	a.pass = sync.OnceFunc(func() { close(a.passed) })
	tail, after := io.Pipe()
	a.tail = tail
	begin := func(mark string) error {
		if mark != markBegin && mark != markMissing {
			return errJunk
		}
		a.missing = mark == markMissing
		close(a.began)
		<-a.passed
		a.stderr.open()
		return nil
	}
	a.stdout = marked{nonce: []byte(nonce), begin: begin, body: cmd.Stdout, after: after.Write, close: after.CloseWithError}
	said := &marked{nonce: []byte(nonce), body: &a.notes, end: func() { close(a.noted) }, state: 1}
	a.stderr = marked{nonce: []byte(nonce), body: cmd.Stderr, end: func() { close(a.quiet) }, after: said.Write}
	return a
}

// close tells readers that nothing more comes.
func (a *answer) close(err error) {
	if err == nil {
		err = io.EOF
	}
	_ = a.stdout.close(err)
}

// A status is how a command ended.
type status struct {
	code     int
	oomKills int
	out      int // one of the constants out…
}

// status waits for the command's end. The reader is at what follows.
func (a *answer) status() (status, *bufio.Reader, error) {
	var s status
	r := bufio.NewReader(a.tail)
	line, err := r.ReadSlice('\n') // which holds a few KB, and no more
	if errors.Is(err, bufio.ErrBufferFull) {
		return s, nil, errJunk
	}
	if err != nil {
		return s, nil, err
	}
	_, err = fmt.Sscanf(string(line), "%d %d %d\n", &s.code, &s.oomKills, &s.out)
	if err != nil || s.code < 0 || s.code > 255 || s.oomKills < 0 || s.out < outEmpty || s.out > outNoTar {
		return s, nil, errJunk
	}
	return s, r, nil
}

// marked is one stream of an answer.
type marked struct {
	nonce []byte
	begin func(mark string) error     // the first mark; nil where open stands for it
	body  io.Writer                   // what comes between the marks; may be nil
	end   func()                      // the second; may be nil
	after func(p []byte) (int, error) // what follows; may be nil
	close func(error) error

	state int // how many marks have come
	held  []byte
}

// Write takes what the container says. Its error ends the reading: from the
// body's reader there is none.
func (m *marked) Write(p []byte) (int, error) {
	rest := p
	if len(m.held) > 0 {
		rest = append(m.held, p...)
		m.held = nil
	}
	for len(rest) > 0 {
		var err error
		switch m.state {
		case 0:
			rest, err = m.first(rest)
		case 1:
			rest = m.second(rest)
		default:
			m.follow(rest)
			rest = nil
		}
		if err != nil {
			return 0, err
		}
	}
	return len(p), nil
}

// maxEarly is how many bytes may come before the first mark of the other stream.
// It is the first that a shell says, so there are few.
const maxEarly = 1 << 20

// open is the first mark of a stream that has none.
func (m *marked) open() {
	held := m.held
	m.state, m.held = 1, nil
	_, _ = m.Write(held)
}

// first looks for the first mark, before which there is nothing.
func (m *marked) first(p []byte) ([]byte, error) {
	n := len(m.nonce)
	switch {
	case m.begin == nil && len(p) > maxEarly:
		return nil, errJunk
	case m.begin == nil:
		m.held = bytes.Clone(p)
		return nil, nil
	case !bytes.HasPrefix(p, m.nonce[:min(n, len(p))]):
		return nil, errJunk
	case len(p) <= n:
		m.held = bytes.Clone(p)
		return nil, nil
	}
	m.state++
	return p[n+1:], m.begin(string(p[n]))
}

// second passes on what comes before the second mark, and holds back what may
// be the beginning of one.
func (m *marked) second(p []byte) []byte {
	mark := append(bytes.Clone(m.nonce), markEnd...)
	at := bytes.Index(p, mark)
	if at >= 0 {
		m.pass(p[:at])
		m.state++
		if m.end != nil {
			m.end()
		}
		return p[at+len(mark):]
	}
	held := suffix(p, mark)
	m.pass(p[:len(p)-held])
	m.held = bytes.Clone(p[len(p)-held:])
	return nil
}

func (m *marked) pass(p []byte) {
	if m.body != nil && len(p) > 0 {
		_, _ = m.body.Write(p)
	}
}

// follow passes on what comes after the second mark. When its reader has had
// enough, the other stream still has not.
func (m *marked) follow(p []byte) {
	if m.after != nil {
		_, _ = m.after(p)
	}
}

// suffix returns how many bytes at the end of p can begin mark.
func suffix(p, mark []byte) int {
	for n := min(len(p), len(mark)-1); n > 0; n-- {
		if bytes.HasSuffix(p, mark[:n]) {
			return n
		}
	}
	return 0
}
