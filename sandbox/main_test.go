package sandbox

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fake is a driver whose commands are functions.
type fake struct {
	run func(ctx context.Context, cmd *Command) (*Exit, error)

	mu     sync.Mutex
	closed int
	runs   int
}

func (f *fake) Run(ctx context.Context, cmd *Command) (*Exit, error) {
	f.mu.Lock()
	f.runs++
	f.mu.Unlock()
	return f.run(ctx, cmd)
}

func (f *fake) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed++
	return nil
}

// untilDone is a command that runs until it is ended.
func untilDone(ctx context.Context, cmd *Command) (*Exit, error) {
	cmd.Started()
	<-ctx.Done()
	return nil, context.Cause(ctx)
}

// prints is a command that writes to stdout and ends well.
func prints(text string) func(context.Context, *Command) (*Exit, error) {
	return func(_ context.Context, cmd *Command) (*Exit, error) {
		cmd.Started()
		_, err := cmd.Stdout.Write([]byte(text))
		return &Exit{Sandbox: "fake"}, err
	}
}

func newRunner(t *testing.T, driver Driver, options *Options) *Runner {
	t.Helper()
	r := New(driver, options)
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

func TestCapture(t *testing.T) {
	for _, test := range []struct {
		name             string
		limit            int64
		writes           []string
		head, tail, text string
		passed           int
	}{
		{"nothing", 10, nil, "", "", "", 0},
		{"less than the limit", 10, []string{"abc", "def"}, "abcdef", "", "abcdef", 0},
		{"the limit", 10, []string{"abcdefghij"}, "abcdefghij", "", "abcdefghij", 0},
		{"one more", 10, []string{"abcdefghijk"}, "abcde", "ghijk", "abcde\n[… 1 of 11 bytes cut …]\nghijk", 1},
		{"byte by byte", 4, strings.Split("abcdefghijklm", ""), "ab", "lm", "ab\n[… 9 of 13 bytes cut …]\nlm", 1},
		{"far beyond", 4, []string{"ab", strings.Repeat("x", 1000), "yz", "1"}, "ab", "z1", "ab\n[… 1001 of 1005 bytes cut …]\nz1", 1},
		{"odd limit", 5, []string{"abcdefgh"}, "abc", "gh", "abc\n[… 3 of 8 bytes cut …]\ngh", 1},
		{"limit of one", 1, []string{"ab", "c"}, "a", "", "a\n[… 2 of 3 bytes cut …]\n", 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			passed := 0
			c := newCapture(test.limit, func() { passed++ })
			total := 0
			for _, w := range test.writes {
				if n, err := c.Write([]byte(w)); n != len(w) || err != nil {
					t.Errorf("write: %d, %v", n, err)
				}
				total += len(w)
			}
			o := c.output()
			if string(o.Head) != test.head || string(o.Tail) != test.tail || o.Total != int64(total) || passed != test.passed {
				t.Errorf("head %q, tail %q, total %d, passed %d", o.Head, o.Tail, o.Total, passed)
			}
			if got := string(o.Bytes()); got != test.text {
				t.Errorf("text %q, want %q", got, test.text)
			}
		})
	}
}

func TestOutputCut(t *testing.T) {
	whole := Output{Head: []byte("abcdefghij"), Total: 10}
	if got := string(whole.Cut(10).Bytes()); got != "abcdefghij" {
		t.Errorf("not cut: %q", got)
	}
	if got := string(whole.Cut(5).Bytes()); got != "ab\n[… 5 of 10 bytes cut …]\nhij" {
		t.Errorf("cut: %q", got)
	}
	again := Output{Head: []byte("abc"), Tail: []byte("xyz"), Total: 100}
	if got := string(again.Cut(4).Bytes()); got != "ab\n[… 96 of 100 bytes cut …]\nyz" {
		t.Errorf("cut again: %q", got)
	}
}

func TestFallback(t *testing.T) {
	missing := &UnavailableError{Reason: "no engine", Remedy: "start one"}
	unavailable := func(context.Context, *Command) (*Exit, error) { return nil, missing }
	lost := func(_ context.Context, cmd *Command) (*Exit, error) { cmd.Started(); return nil, missing }
	broken := func(context.Context, *Command) (*Exit, error) { return nil, errors.New("broken") }
	for _, test := range []struct {
		name          string
		first, second func(context.Context, *Command) (*Exit, error)
		want          string
		warnings      int
	}{
		{"the first works", prints("first"), prints("second"), "first", 0},
		{"the first has none", unavailable, prints("second"), "second", 1},
		{"the first lost a running command", lost, prints("second"), "no engine; start one", 0},
		{"the first fails otherwise", broken, prints("second"), "broken", 0},
		{"neither has one", unavailable, unavailable, "no engine, and no engine; start one, or start one", 0},
		{"the second fails otherwise", unavailable, broken, "broken", 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			warnings := 0
			first, second := &fake{run: test.first}, &fake{run: test.second}
			runner := New(Fallback(first, second, func(error) { warnings++ }), nil)
			for range 2 {
				result, err := runner.Run(t.Context(), Command{})
				got := ""
				if err != nil {
					got = err.Error()
				} else {
					got = string(result.Stdout.Bytes())
				}
				if got != test.want {
					t.Errorf("got %q, want %q", got, test.want)
				}
			}
			if warnings != test.warnings {
				t.Errorf("warned %d times, want %d", warnings, test.warnings)
			}
			if err := runner.Close(); err != nil || first.closed != 1 || second.closed != 1 {
				t.Errorf("close: %v, closed %d and %d times", err, first.closed, second.closed)
			}
		})
	}
}

// opener is a driver whose sessions open, or do not.
type opener struct {
	fake
	err error
}

func (o *opener) Open(context.Context, *Command) (Session, error) { return nil, o.err }

func TestFallbackOpens(t *testing.T) {
	missing, broken := &UnavailableError{Reason: "no engine", Remedy: "start one"}, errors.New("broken")
	for _, test := range []struct {
		name          string
		first, second Driver
		want          string
		warnings      int
	}{
		{"the first opens one", &opener{}, &opener{err: broken}, "", 0},
		{"the first has none", &opener{err: missing}, &opener{}, "", 1},
		{"the first cannot", &fake{}, &opener{}, "", 1},
		{"the first fails", &opener{err: broken}, &opener{}, "broken", 0},
		{"neither has one", &opener{err: missing}, &opener{err: missing}, "no engine, and no engine; start one, or start one", 0},
		{"no driver opens any", &fake{}, nil, "this sandbox driver cannot keep a sandbox between calls; run each call in a sandbox of its own, without container_id", 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			warnings := 0
			driver := test.first
			if test.second != nil {
				driver = Fallback(test.first, test.second, func(error) { warnings++ })
			}
			got := ""
			if _, err := newRunner(t, driver, nil).Open(t.Context(), Command{RunID: "a"}); err != nil {
				got = err.Error()
			}
			if got != test.want || warnings != test.warnings {
				t.Errorf("%q, warned %d times; want %q, %d", got, warnings, test.want, test.warnings)
			}
		})
	}
}

func TestBytes(t *testing.T) {
	for n, want := range map[int64]string{0: "0 bytes", 1023: "1023 bytes", 1024: "1 KB", 1536: "1.5 KB", 512 << 20: "512 MB", 3 << 30: "3 GB"} {
		if got := Bytes(n); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}
