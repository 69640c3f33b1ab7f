package sandboxtest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"testing"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/sandbox/session"
)

// asker is a script that echoes each line of its input, up to "bye".
const asker = `while read -r x; do case $x in bye) break;; esac; echo "got $x"; done; echo "end $x"`

// dialogue shows that input and output arrive while the command runs: each line of input
// is sent after the output that it responds to.
func (s suite) dialogue(t *testing.T) {
	run := s.start(t)
	t.Run("a command that asks and waits for the answer", func(t *testing.T) {
		for range 2 { // the second may get a warm sandbox
			r, err := converse(t, func(cmd sandbox.Command) (*sandbox.Result, error) { return run(t.Context(), cmd) })
			must(t, err)
			wantStdout(t, r, "ready\ngot one\ngot two\nend bye\n")
		}
	})
	t.Run("in a kept sandbox", func(t *testing.T) {
		sessions, open := s.openSession(t)
		if !open {
			t.Skip("the driver keeps no sandboxes")
		}
		r, err := converse(t, func(cmd sandbox.Command) (*sandbox.Result, error) {
			cmd.RunID = "suite-asks"
			return sessions.Run(t.Context(), sessionID, cmd)
		})
		must(t, err)
		wantStdout(t, r, "ready\ngot one\ngot two\nend bye\n")
	})
	t.Run("the end of input", func(t *testing.T) {
		stdin, feed := io.Pipe()
		cmd := bash("echo ready; " + asker)
		cmd.Stdin, cmd.Stdout = stdin, writer(func([]byte) { feed.Close() })
		r, err := run(t.Context(), cmd)
		must(t, err)
		wantStdout(t, r, "ready\nend \n")
	})
	t.Run("cancellation ends one that waits", func(t *testing.T) {
		stdin, feed, err := os.Pipe()
		must(t, err)
		defer stdin.Close()
		defer feed.Close()
		gone := errors.New("gone")
		ctx, cancel := context.WithCancelCause(t.Context())
		cmd := bash("echo ready; " + asker)
		cmd.Stdin, cmd.Stdout = stdin, writer(func([]byte) { cancel(gone) })
		if r, err := run(ctx, cmd); !errors.Is(err, gone) {
			t.Errorf("result %+v, error %v, want that of the context", r, err)
		}
	})
}

// converse sends two lines to a command, each after the line that it responds to, and
// then "bye". With a driver that buffers either direction it does not return before the
// timeout.
func converse(t *testing.T, run func(sandbox.Command) (*sandbox.Result, error)) (*sandbox.Result, error) {
	t.Helper()
	stdin, feed := io.Pipe()
	defer feed.Close()
	answers := map[string]string{"ready\n": "one\n", "got one\n": "two\n", "got two\n": "bye\n"}
	said := make(chan string, len(answers))
	done := make(chan struct{}) // closed when all input is sent
	go func() {
		defer close(done)
		for line := range said {
			_, _ = io.WriteString(feed, answers[line])
		}
	}()
	var line []byte
	cmd := bash("echo ready; " + asker)
	cmd.Stdin = stdin
	cmd.Stdout = writer(func(p []byte) {
		line = append(line, p...)
		for end := bytes.IndexByte(line, '\n'); end >= 0; end = bytes.IndexByte(line, '\n') {
			if text := string(line[:end+1]); answers[text] != "" {
				said <- text
			}
			line = line[end+1:]
		}
	})
	r, err := run(cmd)
	close(said)
	stdin.Close()
	<-done
	return r, err
}

const sessionID = "suite-kept"

// openSession returns a manager with the session [sessionID], where the driver has
// sessions.
func (s suite) openSession(t *testing.T) (*session.Manager, bool) {
	t.Helper()
	t.TempDir() // see start
	driver := s.newDriver(t)
	runner := sandbox.New(driver, nil)
	t.Cleanup(func() {
		if err := runner.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	if _, ok := driver.(sandbox.SessionDriver); !ok {
		return nil, false
	}
	sessions := session.New(runner, nil)
	t.Cleanup(sessions.Close)
	must(t, sessions.Open(t.Context(), sandbox.Command{RunID: sessionID, Skill: "suite/case", Folder: Folder(t, nil)}))
	return sessions, true
}

// kept runs a missing program in a session: the session survives it.
func (s suite) kept(t *testing.T) {
	sessions, keeps := s.openSession(t)
	if !keeps {
		t.Skip("the driver keeps no sandboxes")
	}
	run := func(argv ...string) (*sandbox.Result, error) {
		return sessions.Run(t.Context(), sessionID, sandbox.Command{RunID: "suite-kept-run", Skill: "suite/case", Argv: argv})
	}
	_, err := run("bash", "-c", "echo here >/tmp/file")
	must(t, err)
	var unavailable *sandbox.UnavailableError
	if _, err := run("no-such-program"); !errors.As(err, &unavailable) || unavailable.Program != "no-such-program" {
		t.Errorf("error %v, want one that names the program", err)
	}
	r, err := run("cat", "/tmp/file")
	must(t, err)
	wantStdout(t, r, "here\n")
}
