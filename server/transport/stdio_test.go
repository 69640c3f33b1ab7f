package transport

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
)

// What "printf … | skills-mcp" does.
func TestPipedRequestsAreAnswered(t *testing.T) {
	in := hello + "\n" +
		`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n" +
		`{"jsonrpc":"2.0","id":1,"method":"ping"}` + "\n" +
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"progress","_meta":{"progressToken":1}}}`
	var out bytes.Buffer
	if err := ServeStdio(t.Context(), newBench().backend(), strings.NewReader(in), &out, nil); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"serverInfo"`, `{"jsonrpc":"2.0","id":1,"result":{}}` + "\n", `"progress":1`, `"done"`} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %s in %s", want, &out)
		}
	}
}

func TestEndOfInput(t *testing.T) {
	for _, test := range []struct {
		drain  time.Duration
		frees  time.Duration // when the handler would end by itself
		takes  time.Duration
		result string
	}{
		{0, 500 * time.Millisecond, 500 * time.Millisecond, "released"},
		{0, time.Hour, time.Second, "released"}, // cancelled
		{5 * time.Second, 4 * time.Second, 4 * time.Second, "released"},
		{-1, time.Hour, 0, "released"},
	} {
		t.Run(fmt.Sprint(test.drain, test.frees), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench()
				c := dial(t, b.backend(), &Options{bounds: bounds{drain: test.drain, calls: 1}}).greet()
				c.call("1", "block", `{}`)
				<-b.started
				begin := time.Now()
				c.in.Close()
				free := time.AfterFunc(test.frees, func() { b.release <- struct{}{} })
				defer free.Stop()
				c.want(text("1", test.result))
				if err := c.wantEnd(); err != nil {
					t.Error(err)
				}
				if d := time.Since(begin); d != test.takes {
					t.Errorf("took %v, want %v", d, test.takes)
				}
			})
		})
	}
}

func TestQueuedRequestsAtTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench()
		c := dial(t, b.backend(), &Options{bounds: bounds{calls: 1}}).greet()
		c.call("1", "block", `{}`)
		c.call("2", "block", `{}`)
		c.in.Close()
		c.want(text("1", "released")) // cancelled after the drain
		c.want("2: error -32603: not started: the client closed its end")
		if err := c.wantEnd(); err != nil {
			t.Error(err)
		}
		if len(b.started) != 1 {
			t.Error("a queued request was started")
		}
	})
}

func TestContextEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench()
		c := dial(t, b.backend(), nil).greet()
		c.call("1", "block", `{}`)
		<-b.started
		begin, stopped := time.Now(), errors.New("stopped")
		c.cancel(stopped)
		c.want(text("1", "released"))
		if cause := <-b.causes; cause != stopped {
			t.Errorf("cause %v", cause)
		}
		if err := c.wantEnd(); err != stopped {
			t.Errorf("Serve: %v", err)
		}
		if _, err := c.in.Write([]byte("x")); err != io.ErrClosedPipe {
			t.Errorf("the input is still read: %v", err)
		}
		if d := time.Since(begin); d != 0 {
			t.Errorf("took %v", d)
		}
	})
}

// A file with deadlines, here a pipe, is interrupted but stays the caller's.
func TestContextEndsReadOfAPipe(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := ServeStdio(ctx, newBench().backend(), r, io.Discard, nil); err != context.Canceled {
		t.Errorf("Serve: %v", err)
	}
	r.SetReadDeadline(time.Time{})
	io.WriteString(w, "mine")
	w.Close()
	if rest, err := io.ReadAll(r); string(rest) != "mine" || err != nil {
		t.Errorf("a read loop is left: read %q, %v", rest, err)
	}
}

// Closing the standard input frees nobody, and may wait for its reader.
func TestFilesAreNotClosed(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "input"))
	if err != nil {
		t.Fatal(err)
	}
	if interruptible(f, func(f readDeadliner) error { return f.SetReadDeadline(longAgo) }) {
		t.Error("a file can be interrupted")
	}
	if err := f.Close(); err != nil {
		t.Error("the file was closed")
	}
}

func TestClientIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench()
		c := dial(t, b.backend(), nil).greet()
		c.call("1", "block", `{}`)
		<-b.started
		c.out.CloseWithError(errors.New("gone"))
		c.send(`{"jsonrpc":"2.0","id":2,"method":"ping"}`)
		if err := <-c.result; err == nil || err.Error() != "write: gone" {
			t.Errorf("Serve: %v", err)
		}
		if cause := <-b.causes; cause.Error() != "write: gone" {
			t.Errorf("cause %v", cause)
		}
	})
}

func TestInputFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench()
		c := dial(t, b.backend(), nil).greet()
		c.call("1", "block", `{}`)
		<-b.started
		broken := errors.New("broken")
		c.in.CloseWithError(broken)
		c.want(text("1", "released"))
		if err := c.wantEnd(); !errors.Is(err, broken) {
			t.Errorf("Serve: %v", err)
		}
	})
}

func TestHandlerThatIgnoresItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench()
		free := make(chan struct{})
		b.AddTool(mcp.NewTool("deaf"), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			<-free
			return mcp.NewToolResultText("late"), nil
		})
		c := dial(t, b.backend(), nil).greet()
		c.call("1", "deaf", `{}`)
		c.ping()
		begin := time.Now()
		c.in.Close()
		if err := c.wantEnd(); err != ErrAbandoned { // alone: there is no other reason
			t.Errorf("Serve: %v", err)
		}
		if d := time.Since(begin); d >= 3*time.Second {
			t.Errorf("took %v", d)
		}
		close(free) // its result goes nowhere
	})
}

func TestClientThatDoesNotTakeItsLastMessages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := dial(t, newBench().backend(), nil).greet()
		c.call("1", "progress", `{"n":1000}`, `"_meta":{"progressToken":1}`)
		begin := time.Now()
		c.in.Close()
		if err := <-c.result; err != errUnread {
			t.Errorf("Serve: %v", err)
		}
		if d := time.Since(begin); d >= 3*time.Second {
			t.Errorf("took %v", d)
		}
	})
}

// blockingWriter is a terminal or pipe nobody reads: nothing ends a Write.
type blockingWriter struct{ free chan struct{} }

func (w blockingWriter) Write(p []byte) (int, error) { <-w.free; return len(p), nil }

func TestOutputThatCannotBeInterrupted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		w := blockingWriter{make(chan struct{})}
		in := ""
		for i := range 5 {
			in += fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/list"}`, i) + "\n"
		}
		err := ServeStdio(t.Context(), newBench().backend(), strings.NewReader(in), w, &Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
		if !errors.Is(err, ErrAbandoned) {
			t.Errorf("Serve: %v", err)
		}
		if !strings.Contains(log.String(), "requests=1\n") {
			t.Errorf("more is left than the one write: %s", &log)
		}
		close(w.free)
	})
}

func TestServersShareACore(t *testing.T) {
	b := newBench()
	one, two := dial(t, b.backend(), nil).greet(), dial(t, b.backend(), nil).greet()
	b.AddTool(mcp.NewTool("new"), echo)
	one.want(": notifications/tools/list_changed")
	two.want(": notifications/tools/list_changed")
	one.hangUp()
	two.hangUp()
}

// lineWriter fails the test if a Write is not exactly one line, or two happen
// at once.
type lineWriter struct {
	t     *testing.T
	mu    sync.Mutex
	lines int
}

func (w *lineWriter) Write(p []byte) (int, error) {
	if !w.mu.TryLock() {
		w.t.Error("two writes at once")
		return len(p), nil
	}
	defer w.mu.Unlock()
	if bytes.Count(p, []byte("\n")) != 1 || !bytes.HasSuffix(p, []byte("}\n")) {
		w.t.Errorf("not one line: %q", p)
	}
	w.lines++
	return len(p), nil
}

func TestOneWriteForEachMessage(t *testing.T) {
	const calls = 100
	in := hello + "\n"
	for i := range calls {
		in += fmt.Sprintf(`{"jsonrpc":"2.0","id":"a%d","method":"tools/call","params":{"name":"progress","_meta":{"progressToken":"x\ny"}}}`, i) + "\n"
		in += fmt.Sprintf(`{"jsonrpc":"2.0","id":"b%d","method":"ping"}`, i) + "\n"
	}
	w := &lineWriter{t: t}
	if err := ServeStdio(t.Context(), newBench().backend(), strings.NewReader(in), w, nil); err != nil {
		t.Fatal(err)
	}
	if want := 1 + 3*calls; w.lines != want {
		t.Errorf("%d lines, want %d", w.lines, want)
	}
}
