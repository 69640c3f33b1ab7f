package shellproto

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

// ErrGarbled is returned for a shell whose reply does not follow the protocol: the
// sandbox's /bin/sh is no POSIX shell.
var ErrGarbled = errors.New("it said something else than it was asked to")

// A reply parses the output of a shell for one command. No output is passed on before
// pass is called, and none of stderr before the mark of the begin has come on stdout.
// One goroutine writes to its streams.
type reply struct {
	stdout, stderr stream
	tail           *io.PipeReader // reads the bytes after the end on stdout
	began          chan struct{}  // closed when the command begins, or is known not to
	missing        bool           // the program is not there; valid after began
	passed         chan struct{}  // closed by pass
	pass           func()         // lets output through
	quiet          chan struct{}  // closed at stderr's end
	notes          sandbox.Head   // messages on stderr after that; valid after noted
	noted          chan struct{}  // closed at the end of the notes
}

// newReply returns the reply to the line of cmd with nonce.
func newReply(nonce string, cmd *sandbox.Command) *reply {
	r := &reply{notes: sandbox.Head{Limit: 4 << 10}, began: make(chan struct{}), passed: make(chan struct{}), quiet: make(chan struct{}), noted: make(chan struct{})}
	r.pass = sync.OnceFunc(func() { close(r.passed) })
	tail, after := io.Pipe()
	r.tail = tail
	begin := func(mark string) error {
		if mark != markBegin && mark != markMissing {
			return ErrGarbled
		}
		r.missing = mark == markMissing
		close(r.began)
		<-r.passed
		r.stderr.begun()
		return nil
	}
	r.stdout = stream{nonce: []byte(nonce), begin: begin, body: cmd.Stdout, after: after.Write, close: after.CloseWithError}
	messages := &stream{nonce: []byte(nonce), body: &r.notes, end: func() { close(r.noted) }, marks: 1}
	r.stderr = stream{nonce: []byte(nonce), body: cmd.Stderr, end: func() { close(r.quiet) }, after: messages.Write}
	return r
}

// close ends the tail: nothing more comes.
func (r *reply) close(err error) {
	err = cmp.Or(err, io.EOF)
	_ = r.stdout.close(err)
}

// A status is a shell's report of its command.
type status struct {
	code     int
	oomKills int
	out      int // outEmpty, outTar or outNoTar
}

// status waits for the command's end and returns its status and a reader of the bytes
// after it.
func (r *reply) status() (status, *bufio.Reader, error) {
	var s status
	rest := bufio.NewReader(r.tail)
	line, err := rest.ReadSlice('\n') // which holds a few KB, and no more
	if errors.Is(err, bufio.ErrBufferFull) {
		return s, nil, ErrGarbled
	}
	if err != nil {
		return s, nil, err
	}
	_, err = fmt.Sscanf(string(line), "%d %d %d\n", &s.code, &s.oomKills, &s.out)
	if err != nil || s.code < 0 || s.code > 255 || s.oomKills < 0 || s.out < outEmpty || s.out > outNoTar {
		return s, nil, ErrGarbled
	}
	return s, rest, nil
}

// A stream parses one of a reply's streams: a first mark, the body, the mark of the
// end, and the rest.
type stream struct {
	nonce []byte
	begin func(mark string) error     // takes the first mark; nil where begun stands for it
	body  io.Writer                   // nil discards
	end   func()                      // called at the mark of the end; may be nil
	after func(p []byte) (int, error) // takes the rest; nil discards
	close func(error) error

	marks int    // how many marks have come
	held  []byte // the beginning of a mark, perhaps
}

// Write parses p. Its error ends the reading; a body that fails causes none.
func (s *stream) Write(p []byte) (int, error) {
	rest := p
	if len(s.held) > 0 {
		rest = append(s.held, p...)
		s.held = nil
	}
	for len(rest) > 0 {
		var err error
		switch s.marks {
		case 0:
			rest, err = s.first(rest)
		case 1:
			rest = s.second(rest)
		default:
			if s.after != nil { // when its reader has had enough, the other stream still has not
				_, _ = s.after(rest)
			}
			rest = nil
		}
		if err != nil {
			return 0, err
		}
	}
	return len(p), nil
}

// maxEarly bounds the bytes on stderr before the first mark on stdout. The mark is the
// first that a shell writes, so there are few.
const maxEarly = 1 << 20

// begun stands for the first mark of a stream without one.
func (s *stream) begun() {
	held := s.held
	s.marks, s.held = 1, nil
	_, _ = s.Write(held)
}

// first parses the first mark, before which nothing comes.
func (s *stream) first(p []byte) ([]byte, error) {
	n := len(s.nonce)
	switch {
	case s.begin == nil && len(p) > maxEarly:
		return nil, ErrGarbled
	case s.begin == nil:
		s.held = bytes.Clone(p)
		return nil, nil
	case !bytes.HasPrefix(p, s.nonce[:min(n, len(p))]):
		return nil, ErrGarbled
	case len(p) <= n:
		s.held = bytes.Clone(p)
		return nil, nil
	}
	s.marks++
	return p[n+1:], s.begin(string(p[n]))
}

// second passes on the body up to the mark of the end, and holds back bytes that may be the
// beginning of that mark.
func (s *stream) second(p []byte) []byte {
	mark := append(bytes.Clone(s.nonce), markEnd...)
	at := bytes.Index(p, mark)
	if at >= 0 {
		s.write(p[:at])
		s.marks++
		if s.end != nil {
			s.end()
		}
		return p[at+len(mark):]
	}
	held := overlap(p, mark)
	s.write(p[:len(p)-held])
	s.held = bytes.Clone(p[len(p)-held:])
	return nil
}

// write passes p on to the body.
func (s *stream) write(p []byte) {
	if s.body != nil && len(p) > 0 {
		_, _ = s.body.Write(p)
	}
}

// overlap returns how many bytes at the end of p can begin mark.
func overlap(p, mark []byte) int {
	for n := min(len(p), len(mark)-1); n > 0; n-- {
		if bytes.HasSuffix(p, mark[:n]) {
			return n
		}
	}
	return 0
}
