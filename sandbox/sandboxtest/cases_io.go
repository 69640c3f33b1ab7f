package sandboxtest

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

func (s suite) output(t *testing.T) {
	t.Run("both streams to the last byte", func(t *testing.T) {
		r := s.bash(t, `printf out; printf err >&2`)
		wantStdout(t, r, "out")
		if got := string(r.Stderr.Bytes()); got != "err" {
			t.Errorf("stderr = %q, want %q", got, "err")
		}
	})
	t.Run("binary", func(t *testing.T) {
		r := s.bash(t, `printf '\x00\xff\x80\r\n\x1b'`)
		wantStdout(t, r, "\x00\xff\x80\r\n\x1b")
	})
	t.Run("one megabyte is complete", func(t *testing.T) {
		r := s.bash(t, `head -c 1048576 /dev/zero | tr '\0' x`)
		if got := r.Stdout; got.Total != 1<<20 || got.Truncated() || bytes.Count(got.Head, []byte("x")) != 1<<20 {
			t.Errorf("got %d bytes, %d kept", got.Total, len(got.Head)+len(got.Tail))
		}
	})
	t.Run("stderr comes live", func(t *testing.T) {
		// The command waits for its stdin, which closes once its line is seen.
		stdin, feed, err := os.Pipe()
		must(t, err)
		defer stdin.Close()
		cmd := bash(`echo first >&2; cat; echo second >&2`)
		cmd.Stdin = stdin
		cmd.Stderr = writer(func(p []byte) {
			if bytes.Contains(p, []byte("first")) {
				feed.Close()
			}
		})
		if _, err := s.once(t.Context(), cmd); err != nil {
			t.Fatal(err)
		}
	})
}

func (s suite) exitCode(t *testing.T) {
	for script, want := range map[string]int{
		`exit 0`:          0,
		`exit 7`:          7,
		`exit 255`:        255,
		`kill -TERM $$`:   143,
		`kill -KILL $$`:   137,
		`no-such-program`: 127,
		// To its process group, which its parents may share.
		`trap : INT TERM HUP QUIT; kill -INT 0; kill -TERM 0; kill -HUP 0; kill -QUIT 0; exit 7`: 7,
		`kill -INT 0; exit 7`: 130,
	} {
		t.Run(script, func(t *testing.T) {
			if r := s.bash(t, script); r.Code != want {
				t.Errorf("exit code %d, want %d; stderr: %s", r.Code, want, r.Stderr.Bytes())
			}
		})
	}
}

// Hostile returns argument values, by name, that a careless driver would change, split
// or execute.
func Hostile() map[string]string {
	return map[string]string{
		"semicolon":    "; rm -rf /",
		"substitution": "$(id)",
		"backticks":    "`id`",
		"newlines":     "a\nb\r\n\nc\n",
		"flag":         "--flag",
		"quotes":       `'"\'"'\\`,
		"empty":        "",
		"spaces":       "  a  b\t",
		"glob":         "/* ~ {a,b}",
		"variables":    "$HOME ${PATH} %s %n",
		"emoji":        "🦀 é 漢字 \u202e",
		"100 KB":       strings.Repeat("0123456789", 10<<10),
	}
}

func (s suite) arguments(t *testing.T) {
	hostile := Hostile()
	const long = "100 KB" // by itself: the slowest shells read some 10 KB in a second
	arrive(t, s, map[string]string{long: hostile[long]})
	delete(hostile, long)
	arrive(t, s, hostile)
}

// arrive passes values, by name, to a command that prints its arguments.
func arrive(t *testing.T, s suite, values map[string]string) {
	t.Helper()
	names := slices.Sorted(maps.Keys(values))
	var args []string
	for _, name := range names {
		args = append(args, "--value", values[name])
	}
	r := s.bash(t, `printf '%s\0' "$#" "$@"`, args...)
	got := strings.Split(string(r.Stdout.Bytes()), "\x00")
	if len(got) != len(args)+2 || got[0] != fmt.Sprint(len(args)) {
		t.Fatalf("%d arguments arrived as %.80q and %d texts; exit %d, stderr: %s", len(args), got[0], len(got), r.Code, r.Stderr.Bytes())
	}
	for i, arg := range args {
		if got[i+1] != arg {
			t.Errorf("%s arrived as %.800q, want %.800q", names[i/2], got[i+1], arg)
		}
	}
}

func (s suite) stdin(t *testing.T) {
	run := s.start(t)
	t.Run("none is empty", func(t *testing.T) {
		r, err := run(t.Context(), bash(`cat; echo end`))
		must(t, err)
		wantStdout(t, r, "end\n")
	})
	t.Run("arrives whole", func(t *testing.T) {
		cmd := bash(`wc -c`)
		cmd.Stdin = strings.NewReader(strings.Repeat("y", 1<<20))
		r, err := run(t.Context(), cmd)
		must(t, err)
		wantStdout(t, r, "1048576\n")
	})
	t.Run("unread is no error", func(t *testing.T) {
		cmd := bash(`echo done`)
		cmd.Stdin = strings.NewReader(strings.Repeat("y", 1<<20))
		r, err := run(t.Context(), cmd)
		must(t, err)
		wantStdout(t, r, "done\n")
	})
	t.Run("that never ends does not keep the command", func(t *testing.T) {
		stdin, feed, err := os.Pipe()
		must(t, err)
		defer stdin.Close()
		defer feed.Close()
		cmd := bash(`echo done`)
		cmd.Stdin = stdin
		r, err := run(t.Context(), cmd)
		must(t, err)
		wantStdout(t, r, "done\n")
	})
}

func (s suite) environment(t *testing.T) {
	cmd := bash(`echo "$HOME $TMPDIR $LANG $GIVEN"; command -v ls >/dev/null && pwd; env -0 >&2`)
	cmd.Env = []string{"GIVEN=a=b c"}
	r, err := s.once(t.Context(), cmd)
	must(t, err)
	wantStdout(t, r, "/tmp /tmp C.UTF-8 a=b c\n/skill\n")
	own := []string{
		"HOME", "TMPDIR", "LANG", "PATH", "GIVEN",
		"PWD", "OLDPWD", "SHLVL", "_", // bash's
		"HOSTNAME", "TERM", "container", // an engine's
	}
	for entry := range strings.SplitSeq(strings.TrimSuffix(string(r.Stderr.Bytes()), "\x00"), "\x00") {
		if name, _, _ := strings.Cut(entry, "="); !slices.Contains(own, name) {
			t.Errorf("the command has the variable %q", entry)
		}
	}
}

// secrets searches all command lines of the machine, which all its users can read, for a
// secret, while commands with that secret start and run.
func (s suite) secrets(t *testing.T) {
	run := s.start(t)
	for range 5 {
		stdin, feed, err := os.Pipe()
		must(t, err)
		secret := newMark()
		cmd := bash(`read -r line; echo "$API_KEY"`)
		cmd.Env, cmd.Stdin = []string{"LC_ALL=C", "API_KEY=" + secret}, stdin
		running := make(chan struct{})
		cmd.Started = sync.OnceFunc(func() { close(running) })
		looked := make(chan string)
		go func() {
			defer feed.Close()
			for {
				shown := commandLine(secret)
				select {
				case <-running:
					looked <- shown + commandLine(secret)
					return
				default:
				}
				if shown != "" {
					<-running
					looked <- shown
					return
				}
			}
		}()
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			r, err := run(t.Context(), cmd)
			cmd.Started() // it may have failed before
			if err != nil {
				t.Errorf("run: %v", err)
				return
			}
			wantStdout(t, r, secret+"\n")
		}()
		if shown := <-looked; shown != "" {
			t.Errorf("a command line shows the secret: %q", shown)
		}
		<-ended
		stdin.Close()
	}
}

// commandLine returns a command line on the machine that contains the text, or "".
func commandLine(text string) string {
	names, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, name := range names {
		if line, err := os.ReadFile(name); err == nil && bytes.Contains(line, []byte(text)) {
			return string(line)
		}
	}
	return ""
}
