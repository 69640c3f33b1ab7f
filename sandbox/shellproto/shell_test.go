package shellproto

import (
	"archive/tar"
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fakeConn is a connection to a shell that is a function.
type fakeConn struct {
	pieces chan said // the shell's output; closed when it has ended
	stdin  *io.PipeWriter
	closed chan struct{} // closed by Close
	once   sync.Once
}

func (c *fakeConn) Copy(stdout, stderr io.Writer) error {
	for {
		select {
		case piece, more := <-c.pieces:
			to := stdout
			if piece.stream == 2 {
				to = stderr
			}
			if !more {
				return nil
			}
			if _, err := to.Write([]byte(piece.text)); err != nil {
				return err
			}
		case <-c.closed:
			return io.ErrClosedPipe
		}
	}
}

func (c *fakeConn) Write(p []byte) (int, error) { return c.stdin.Write(p) }

func (c *fakeConn) Input() io.WriteCloser { return c.stdin }

func (c *fakeConn) Close() error {
	c.once.Do(func() { close(c.closed) })
	return c.stdin.Close()
}

// talk returns a shell that is the function: it gets the nonce of its line. It has
// ended when the test does.
func talk(t *testing.T, shell func(say func(stream int, text string), nonce string)) *Shell {
	t.Helper()
	reader, writer := io.Pipe()
	conn := &fakeConn{pieces: make(chan said), stdin: writer, closed: make(chan struct{})}
	over := make(chan struct{})
	go func() {
		defer close(over)
		defer close(conn.pieces)
		line, err := bufio.NewReaderSize(reader, 16).ReadString('\n')
		if err != nil {
			return
		}
		shell(func(stream int, text string) {
			select {
			case conn.pieces <- said{stream, text}:
			case <-conn.closed:
			}
		}, regexp.MustCompile(`skills_mcp_begin ([A-Z0-9]+);`).FindStringSubmatch(line)[1])
		_ = reader.Close()
	}()
	s := NewShell(conn, nil)
	t.Cleanup(func() {
		s.Close()
		<-over
	})
	return s
}

// The engine passes the two streams on independently: the end of stderr may be
// the last to come, after a tar stream that goes on beyond its end, as all do
// that fill up their last record.
func TestShellStderrLast(t *testing.T) {
	var archive bytes.Buffer
	w := tar.NewWriter(&archive)
	if err := w.WriteHeader(&tar.Header{Name: "./file", Mode: 0o644, Size: 4}); err != nil {
		t.Fatal(err)
	}
	_, _ = w.Write([]byte("data"))
	_ = w.Close()
	archive.Write(make([]byte, 10240-archive.Len()%10240))

	s := talk(t, func(say func(int, string), nonce string) {
		say(1, nonce+"+")
		say(2, "err")
		say(1, nonce+".0 0 1\n")
		say(1, archive.String())
		say(2, nonce+".")
	})
	ctx, cancel := context.WithTimeout(t.Context(), 5*drainTimeout)
	defer cancel()
	var stderr bytes.Buffer
	cmd := &sandbox.Command{Argv: []string{"true"}, Limits: sandbox.DefaultLimits()}
	cmd.Stderr = &stderr
	o, err := s.Run(ctx, cmd, Line{})
	if err != nil {
		t.Fatal(err)
	}
	if len(o.Out.Taken) != 1 || string(o.Out.Taken[0].Data) != "data" || stderr.String() != "err" {
		t.Errorf("files %+v, stderr %q", o.Out, &stderr)
	}
}

// Standard input that nobody reads keeps no command from ending.
func TestShellStdinNotRead(t *testing.T) {
	s := talk(t, func(say func(int, string), nonce string) {
		say(1, nonce+"+")
		say(2, nonce+".")
		say(1, nonce+".4 0 0\n")
	})
	cmd := &sandbox.Command{Argv: []string{"true"}, Limits: sandbox.DefaultLimits()}
	cmd.Stdin = strings.NewReader(strings.Repeat("x", 1<<20))
	o, err := s.Run(t.Context(), cmd, Line{})
	if err != nil || o.Code != 4 {
		t.Errorf("exit %v, error %v", o, err)
	}
}

// A reader that fails gets nothing more, and changes nothing of the answer.
func TestShellReaderFails(t *testing.T) {
	s := talk(t, func(say func(int, string), nonce string) {
		say(1, nonce+"+one")
		say(1, "two"+nonce+".5 0 0\n")
		say(2, nonce+".")
	})
	cmd := &sandbox.Command{Argv: []string{"true"}, Limits: sandbox.DefaultLimits()}
	cmd.Stdout = writerFunc(func([]byte) (int, error) { return 0, errors.New("gone") })
	o, err := s.Run(t.Context(), cmd, Line{})
	if err != nil || o.Code != 5 {
		t.Errorf("exit %v, error %v", o, err)
	}
}

// Nothing of the output is passed on before Started has returned.
func TestShellStartedFirst(t *testing.T) {
	s := talk(t, func(say func(int, string), nonce string) {
		say(2, "err"+nonce+".")
		say(1, nonce+"+out"+nonce+".0 0 0\n")
	})
	var order []string
	note := func(what string) writerFunc {
		return func(p []byte) (int, error) { order = append(order, what+string(p)); return len(p), nil }
	}
	cmd := &sandbox.Command{Argv: []string{"true"}, Limits: sandbox.DefaultLimits()}
	cmd.Stdout, cmd.Stderr = note("1"), note("2")
	cmd.Started = func() { order = append(order, "started") }
	if _, err := s.Run(t.Context(), cmd, Line{}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"started", "2err", "1out"}, order); diff != "" {
		t.Error(diff)
	}
}

// A shell that ends without a word may not have begun: its command's input is left to
// the next.
func TestShellSilent(t *testing.T) {
	s := talk(t, func(func(int, string), string) {})
	stdin := strings.NewReader("input")
	cmd := &sandbox.Command{Argv: []string{"true"}, Stdin: stdin, Started: func() { t.Error("it is said to have begun") }}
	if o, err := s.Run(t.Context(), cmd, Line{}); !errors.Is(err, ErrSilent) || o.Begun || stdin.Len() != len("input") {
		t.Errorf("outcome %+v, error %v, %d bytes of the input are left", o, err, stdin.Len())
	}
}

// A shell that does nothing is not waited for, nor is the end of a command's output.
func TestShellTimeouts(t *testing.T) {
	for name, test := range map[string]struct {
		says  []said
		took  time.Duration
		ended bool
		want  error
	}{
		"no begin":         {nil, BeginTimeout, false, ErrLate},
		"no end of stderr": {[]said{{1, "+"}, {1, ".0 0 0\n"}}, drainTimeout, true, io.ErrClosedPipe},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				hang := make(chan struct{})
				s := talk(t, func(say func(int, string), nonce string) {
					for _, piece := range test.says {
						say(piece.stream, nonce+piece.text)
					}
					<-hang
				})
				began := time.Now()
				o, err := s.Run(t.Context(), &sandbox.Command{Argv: []string{"true"}}, Line{})
				if took := time.Since(began); took != test.took || !errors.Is(err, test.want) || o.Ended != test.ended {
					t.Errorf("after %s: %+v, %v", took, o, err)
				}
				close(hang)
			})
		})
	}
}

// The end of the context ends a command at once, also one that then ends by itself, as it has
// no more input.
func TestShellCancelled(t *testing.T) {
	for _, end := range []string{"", ".0 0 0\n"} {
		over := errors.New("over")
		ctx, cancel := context.WithCancelCause(t.Context())
		s := talk(t, func(say func(int, string), nonce string) {
			if end != "" {
				end = nonce + end
			}
			say(1, nonce+"+out"+end)
		})
		cmd := &sandbox.Command{Argv: []string{"true"}, Stdout: writerFunc(func(p []byte) (int, error) { cancel(over); return len(p), nil })}
		o, err := s.Run(ctx, cmd, Line{})
		if err == nil || o.Ended || context.Cause(ctx) != over {
			t.Errorf("outcome %+v, error %v", o, err)
		}
	}
}
