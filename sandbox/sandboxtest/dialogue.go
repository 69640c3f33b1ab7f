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

// asker is a script that asks, waits for the answer, and goes on by it.
const asker = `while read -r x; do case $x in bye) break;; esac; echo "got $x"; done; echo "end $x"`

// dialogue shows that input and output come while the command runs: each answer
// is sent when what it answers has come.
func (s suite) dialogue(t *testing.T) {
	run := s.start(t)
	t.Run("a command that asks and waits for the answer", func(t *testing.T) {
		for range 2 { // the second may get a sandbox that was ready
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
		if _, err := run(ctx, cmd); !errors.Is(err, gone) {
			t.Errorf("error %v, want that of the context", err)
		}
	})
}

// converse answers two lines of a command, and then says good-bye. A driver that
// held either direction back would wait for ever, and not end before its time.
func converse(t *testing.T, run func(sandbox.Command) (*sandbox.Result, error)) (*sandbox.Result, error) {
	t.Helper()
	stdin, feed := io.Pipe()
	defer feed.Close()
	answers := map[string]string{"ready\n": "one\n", "got one\n": "two\n", "got two\n": "bye\n"}
	said := make(chan string, len(answers))
	done := make(chan struct{}) // closed when the answers are given
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
