package shellproto

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

const (
	// BeginTimeout bounds the time from a line to the begin of its command. A sound
	// shell takes milliseconds.
	BeginTimeout = 10 * time.Second
	// outTimeout bounds the time that reading /out takes.
	outTimeout = 10 * time.Second
	// drainTimeout bounds the pauses between pieces of output after a command's end.
	drainTimeout = 10 * time.Second
	// writeTimeout bounds the wait for the reader of a command's output when the
	// command is given up.
	writeTimeout = 500 * time.Millisecond
)

var (
	// ErrUnsent is returned where the shell could not be sent its whole line. A line
	// without its end is never evaluated, so another shell can run the command.
	ErrUnsent = errors.New("the line was not sent")
	// ErrSilent is returned where the shell ended without a word, so that its command
	// has most likely not begun: its mark would have come.
	ErrSilent = errors.New("the shell has ended without an answer")
	// ErrLate is returned where the command has not begun within [BeginTimeout].
	ErrLate = errors.New("the shell has not begun")
)

// A Conn connects to the standard streams of a waiting shell. Its other methods may be
// called while Copy runs.
type Conn interface {
	// Copy copies the output of the shell to stdout and stderr, from one goroutine,
	// until the connection ends. It returns an error of a writer, or of a connection that did
	// not end well. It is called once.
	Copy(stdout, stderr io.Writer) error
	// Write writes the shell's line.
	Write(p []byte) (int, error)
	// Input returns the writer of the command's standard input, which its Close ends. It is
	// called at most once, after the line.
	Input() io.WriteCloser
	// Close ends the connection, with a Copy and a Write that are under way. It may be
	// called more than once.
	Close() error
}

// A Shell is a shell that waits for one command. Whoever has one closes it.
type Shell struct {
	conn    Conn
	reply   *reply        // to the one line; valid after bound
	bound   chan struct{} // closed by bind
	bind    func()        // lets the reading begin; without a reply it discards
	drain   atomic.Pointer[time.Timer]
	shut    atomic.Bool   // nothing is to be written any more
	done    chan struct{} // closed by the goroutine that reads conn, at its end
	failure error         // why conn could be read no further; valid after done
}

// NewShell returns the shell at conn, which it owns from now on. It reads the shell's
// output at once, and passes it on when the shell has a line. ended, if not nil, is called
// when the connection has ended.
func NewShell(conn Conn, ended func()) *Shell {
	s := &Shell{conn: conn, bound: make(chan struct{}), done: make(chan struct{})}
	s.bind = sync.OnceFunc(func() { close(s.bound) })
	go func() {
		s.failure = conn.Copy(s.to(func(r *reply) io.Writer { return &r.stdout }), s.to(func(r *reply) io.Writer { return &r.stderr }))
		close(s.done)
		if ended != nil {
			ended()
		}
		<-s.bound
		if s.reply != nil {
			s.reply.close(s.failure)
		}
	}()
	return s
}

// Done is closed when the connection to the shell has ended.
func (s *Shell) Done() <-chan struct{} { return s.done }

// Ended reports whether the connection to the shell has ended.
func (s *Shell) Ended() bool {
	select {
	case <-s.done:
		return true
	default:
		return false
	}
}

// Used reports whether the shell was sent a line, or a part of one.
func (s *Shell) Used() bool { return s.reply != nil }

// Discard discards the output of a shell that gets no line.
func (s *Shell) Discard() { s.bind() }

// An Outcome is a shell's report of its command.
type Outcome struct {
	Begun   bool // the command has begun
	Missing bool // the sandbox does not have its program
	// Ended says that the command has ended, and that the rest is valid. The command
	// can forge this.
	Ended    bool
	Code     int           // exit code; 128+n for signal n
	OOMKills int           // processes of the sandbox that were killed for want of memory
	Out      sandbox.Files // none in a session
}

// Exit returns the exit of a command that has ended in the sandbox of a name. A command that
// got over the end of one of its processes is no case for the memory limit; one that failed for
// it is, whatever its own code.
func (o *Outcome) Exit(cmd *sandbox.Command, name string) (*sandbox.Exit, error) {
	exit := &sandbox.Exit{Code: o.Code, Sandbox: name, Out: o.Out}
	if o.Code != 0 && o.OOMKills > 0 {
		return exit, cmd.Limits.OutOfMemory()
	}
	return exit, nil
}

// Run sends the shell the line that runs cmd, and returns when the command has ended
// and its output is complete, or when ctx is done. It is called once. cmd.Started is
// called when the command has begun, and no output is passed on before it returns.
//
// The outcome is never nil and holds the report up to an error: [ErrUnsent],
// [ErrSilent], [ErrLate], [ErrGarbled], or an error of the connection.
func (s *Shell) Run(ctx context.Context, cmd *sandbox.Command, line Line) (*Outcome, error) {
	nonce, o := rand.Text(), &Outcome{}
	r := newReply(nonce, cmd)
	defer context.AfterFunc(ctx, func() {
		_ = s.conn.Close()
		_ = r.tail.Close()
	})()
	if err := s.send(line.text(cmd, nonce), cmd.Stdin, r); err != nil {
		return o, fmt.Errorf("%w: %w", ErrUnsent, err)
	}
	if err := s.awaitBegin(ctx, r); err != nil {
		return o, err
	}
	begun := closed(r.began)
	if o.Missing = begun && r.missing; o.Missing {
		return o, nil
	}
	if o.Begun = begun; begun && cmd.Started != nil {
		cmd.Started()
	}
	r.pass()
	if !begun {
		return o, s.silence(ctx)
	}
	status, rest, err := r.status()
	if err == nil && ctx.Err() != nil { // it may have ended because its input has
		err = context.Cause(ctx)
	}
	if err != nil {
		return o, err
	}
	o.Ended, o.Code, o.OOMKills = true, status.code, status.oomKills
	o.Out = s.collect(ctx, cmd, status, rest, r)
	_ = r.tail.Close()
	return o, s.awaitQuiet(ctx, r)
}

// Close ends the connection. Nothing is written afterwards, other than by a write that
// was under way and that its reader does not take.
func (s *Shell) Close() {
	s.shut.Store(true)
	s.bind()
	_ = s.conn.Close()
	if s.reply != nil {
		s.reply.pass()
		_ = s.reply.tail.Close()
	}
	timer := time.NewTimer(writeTimeout)
	defer timer.Stop()
	select {
	case <-s.done:
	case <-timer.C:
	}
}

// to returns a writer to a stream of the reply, once there is one.
func (s *Shell) to(stream func(*reply) io.Writer) io.Writer {
	return writerFunc(func(p []byte) (int, error) {
		<-s.bound
		if timer := s.drain.Load(); timer != nil {
			timer.Reset(drainTimeout)
		}
		if s.reply == nil || s.shut.Load() {
			return len(p), nil
		}
		return stream(s.reply).Write(p)
	})
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// send sends the one line and all of stdin. r parses the reply.
func (s *Shell) send(line string, stdin io.Reader, r *reply) error {
	s.reply = r
	s.bind()
	timer := time.AfterFunc(BeginTimeout, func() { _ = s.conn.Close() })
	defer timer.Stop()
	if _, err := io.WriteString(s.conn, line); err != nil {
		return err
	}
	if stdin != nil {
		// Nobody waits for this: a read of stdin can be ended by nobody but its writer. A
		// write ends with the connection. Nothing is read for a command that has not
		// begun, which another shell may run.
		go func() {
			select {
			case <-r.began:
			case <-s.done:
				return
			}
			input := s.conn.Input()
			_, _ = io.Copy(input, stdin)
			_ = input.Close()
		}()
	}
	return nil
}

// awaitBegin waits until the command has begun, or cannot any more.
func (s *Shell) awaitBegin(ctx context.Context, r *reply) error {
	timer := time.NewTimer(BeginTimeout)
	defer timer.Stop()
	select {
	case <-r.began:
	case <-s.done:
	case <-ctx.Done():
	case <-timer.C:
		return ErrLate
	}
	return nil
}

// silence returns why nothing is known of a command's begin.
func (s *Shell) silence(ctx context.Context) error {
	switch {
	case !s.Ended():
		return context.Cause(ctx)
	case s.failure == nil:
		return ErrSilent
	}
	return s.failure
}

// awaitQuiet waits for the rest of stderr, when stdout is complete.
func (s *Shell) awaitQuiet(ctx context.Context, r *reply) error {
	if closed(r.quiet) { // even if the connection failed after it
		return nil
	}
	timer := time.AfterFunc(drainTimeout, func() { _ = s.conn.Close() })
	defer timer.Stop()
	s.drain.Store(timer)
	defer s.drain.Store(nil)
	select {
	case <-r.quiet:
		return nil
	case <-s.done:
		return s.failure
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// collect reads the command's files in /out. A file that cannot be read is no failure of
// the command.
func (s *Shell) collect(ctx context.Context, cmd *sandbox.Command, status status, archive io.Reader, r *reply) sandbox.Files {
	switch status.out {
	case outEmpty:
		return sandbox.Files{}
	case outNoTar:
		return sandbox.Files{Left: []string{"what is in /out: the image has no tar to read it with"}}
	}
	timer := time.AfterFunc(outTimeout, func() { _ = s.conn.Close() })
	files, err := sandbox.CollectTar(io.LimitReader(archive, 2*cmd.Limits.Tmp), ".")
	_ = r.tail.Close() // the rest of it must not keep stderr back
	if err == nil {
		select {
		case <-r.noted:
			files.Left = append(files.Left, unread(r.notes.String())...)
		case <-s.done:
			err = s.failure
		case <-ctx.Done():
		}
	}
	switch inTime := timer.Stop(); {
	case ctx.Err() != nil:
	case !inTime:
		files.Left = append(files.Left, fmt.Sprintf("the rest of /out: reading it took longer than %v", outTimeout))
	case err != nil:
		files.Left = append(files.Left, fmt.Sprintf("the rest of /out: %v", err))
	}
	return files
}

// unread returns the files of /out that notes name: a line of find's is "/out/a", which
// is too large, and one of tar's "tar: ./a: socket ignored".
func unread(notes string) []string {
	const most = 16
	var left []string
	for line := range strings.Lines(notes) {
		if len(left) == most {
			return append(left, "and more")
		}
		name, why, reason := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "tar: "), ": ")
		if !reason {
			why = fmt.Sprintf("at most %s are taken", sandbox.Bytes(sandbox.MaxOutBytes))
		}
		name, large := strings.CutPrefix(name, sandbox.OutDir+"/")
		name, ours := strings.CutPrefix(name, "./")
		if large || ours {
			left = append(left, fmt.Sprintf("%.200q: %.200s", name, strings.Map(printable, why)))
		}
	}
	return left
}

// printable drops control characters, for [strings.Map].
func printable(r rune) rune {
	if r < ' ' || r == 0x7f {
		return -1
	}
	return r
}

// closed reports whether a channel is closed.
func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
