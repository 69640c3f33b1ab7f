package sandboxtest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

func (s suite) limits(t *testing.T) {
	limited := func(t *testing.T, limits sandbox.Limits, script string) (*sandbox.Result, error) {
		t.Helper()
		cmd := bash(script)
		cmd.Limits = limits
		return s.once(t.Context(), cmd)
	}
	wantLimit := func(t *testing.T, r *sandbox.Result, err error, limit string) {
		t.Helper()
		var e *sandbox.LimitError
		if !errors.As(err, &e) || e.Limit != limit || r == nil {
			t.Fatalf("result %v, error %v; want a result and the %s limit", r, err, limit)
		}
	}
	t.Run("time", func(t *testing.T) {
		r, err := limited(t, sandbox.Limits{Timeout: 300 * time.Millisecond}, `trap '' TERM INT; echo before; sleep 600`)
		wantLimit(t, r, err, sandbox.LimitTime)
	})
	t.Run("output", func(t *testing.T) {
		r, err := limited(t, sandbox.Limits{Output: 64 << 10}, `echo head; head -c 1073741824 /dev/zero; sleep 600`)
		wantLimit(t, r, err, sandbox.LimitOutput)
		if !bytes.HasPrefix(r.Stdout.Head, []byte("head\n")) || len(r.Stdout.Head)+len(r.Stdout.Tail) > 64<<10 {
			t.Errorf("kept %d and %d bytes", len(r.Stdout.Head), len(r.Stdout.Tail))
		}
	})
	t.Run("memory", func(t *testing.T) {
		r, err := limited(t, sandbox.Limits{Memory: 64 << 20}, `exec python3 -c 'x = b"x" * (1 << 30); print(len(x))'`)
		if s.traits.SilentMemory && err == nil && r.Code == 137 {
			return
		}
		var e *sandbox.LimitError
		// Without cgroups the allocation itself fails, which the command reports.
		if refused := err == nil && r.Code != 0 && bytes.Contains(r.Stderr.Bytes(), []byte("MemoryError")); !refused && !(errors.As(err, &e) && e.Limit == sandbox.LimitMemory) {
			t.Errorf("result %+v, error %v; want the memory limit", r, err)
		}
	})
	t.Run("processes", func(t *testing.T) {
		r, err := limited(t, sandbox.Limits{PIDs: 32}, `
			exec python3 - <<'EOF'
import os, time
children = 0
try:
    for _ in range(200):
        if os.fork() == 0:
            time.sleep(600)
        children += 1
except BlockingIOError:
    pass
print("bounded" if children < 40 else children, flush=True) # _exit does not flush
os._exit(0)
EOF`)
		if s.traits.OwnKernel && err == nil && r.Code != 0 {
			return // its own threads count too, and without one more it ends
		}
		must(t, err)
		wantStdout(t, r, "bounded\n")
	})
	t.Run("fork bomb", func(t *testing.T) {
		r, err := limited(t, sandbox.Limits{PIDs: 32, Timeout: 2 * time.Second}, `bomb() { bomb | bomb & }; bomb; sleep 600`)
		if err == nil && r.Code == 0 {
			t.Errorf("the fork bomb ended well: %+v", r)
		}
	})
	t.Run("temporary files", func(t *testing.T) {
		for _, dir := range []string{"/tmp", "/out"} {
			r, err := limited(t, sandbox.Limits{Tmp: 1 << 20}, `head -c 8388608 /dev/zero >`+dir+`/file 2>/dev/null || echo full`)
			must(t, err)
			wantStdout(t, r, "full\n")
		}
	})
	t.Run("open files", func(t *testing.T) {
		r, err := limited(t, sandbox.Limits{Files: 64}, `ulimit -n; ulimit -c`)
		must(t, err)
		wantStdout(t, r, "64\n0\n")
	})
}

func (s suite) ending(t *testing.T) {
	t.Run("cancellation", func(t *testing.T) {
		cause := errors.New("the client left")
		ctx, cancel := context.WithCancelCause(t.Context())
		cmd := bash(`trap '' TERM INT; echo running >&2; sleep 600 & wait; sleep 600`)
		cmd.Stderr = writer(func([]byte) { cancel(cause) })
		r, err := s.once(ctx, cmd)
		if !errors.Is(err, cause) || r == nil {
			t.Errorf("result %v, error %v; want a result and the cause", r, err)
		}
	})
	t.Run("before the start", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := s.once(ctx, bash(`true`)); !errors.Is(err, context.Canceled) {
			t.Errorf("error %v, want the cancellation", err)
		}
	})
	t.Run("children that hold the output open", func(t *testing.T) {
		r := s.bash(t, `sleep 600 & sleep 600 >/dev/null & echo done`)
		wantStdout(t, r, "done\n")
	})
	t.Run("zombies are reaped", func(t *testing.T) {
		r := s.bash(t, `
			for i in 1 2 3; do (sleep 0 & exec true) & done; wait
			python3 - <<'EOF'
import os, time
deadline = time.monotonic() + 300
while True: # an orphan is reaped by init some time after it ended
    states = []
    for pid in os.listdir("/proc"):
        if pid.isdigit():
            try:
                states.append(open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()[0])
            except OSError:
                pass
    if "Z" not in states or time.monotonic() > deadline:
        break
    time.sleep(0.01)
print("zombies" if "Z" in states else "none")
EOF`)
		wantStdout(t, r, "none\n")
	})
	t.Run("close ends what runs", func(t *testing.T) {
		runner := sandbox.New(s.newDriver(t), nil)
		started := make(chan struct{})
		cmd := bash(`sleep 600`)
		cmd.RunID, cmd.Skill, cmd.Folder = "suite-close", "suite/close", Folder(t, nil)
		cmd.Started = func() { close(started) }
		ended := make(chan error, 1)
		go func() {
			_, err := runner.Run(t.Context(), cmd)
			ended <- err
		}()
		select {
		case <-started:
		case err := <-ended:
			t.Fatal(err)
		}
		must(t, runner.Close())
		if err := <-ended; !errors.Is(err, sandbox.ErrClosed) {
			t.Errorf("error %v, want %v", err, sandbox.ErrClosed)
		}
	})
}

func (s suite) unavailable(t *testing.T) {
	t.Run("program", func(t *testing.T) {
		_, err := s.once(t.Context(), sandbox.Command{Argv: []string{"no-such-program", "x"}})
		var e *sandbox.UnavailableError
		if !errors.As(err, &e) || !strings.Contains(e.Reason, "no-such-program") || e.Remedy == "" {
			t.Errorf("error %v, want an unavailable program with a remedy", err)
		}
	})
	t.Run("folder", func(t *testing.T) {
		cmd := bash(`true`)
		cmd.Folder = filepath.Join(t.TempDir(), "gone")
		if _, err := s.once(t.Context(), cmd); err == nil {
			t.Error("ran without its folder")
		}
	})
	t.Run("an argument that is too long", func(t *testing.T) {
		_, err := s.once(t.Context(), bash(`true`, strings.Repeat("x", 4<<20)))
		if err == nil || !strings.Contains(err.Error(), "argument") {
			t.Errorf("error %v, want one about the arguments", err)
		}
	})
}

func (s suite) concurrent(t *testing.T) {
	run := s.start(t)
	const calls = 8
	outputs := make(chan string, calls)
	for i := range calls {
		go func() {
			r, err := run(t.Context(), bash(`echo "$1" >/tmp/mine; cat /tmp/mine`, fmt.Sprint(i)))
			if err != nil {
				outputs <- err.Error()
				return
			}
			outputs <- strings.TrimSpace(string(r.Stdout.Bytes()))
		}()
	}
	got := map[string]bool{}
	for range calls {
		got[<-outputs] = true
	}
	for i := range calls {
		if !got[fmt.Sprint(i)] {
			all, _ := json.Marshal(got)
			t.Errorf("call %d has no answer of its own; answers: %s", i, all)
		}
	}
}
