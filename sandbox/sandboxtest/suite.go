package sandboxtest

import (
	"context"
	"crypto/rand"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

// Traits are the differences of a driver from the suite's expectations.
type Traits struct {
	// OwnKernel says that each sandbox has a kernel of its own. Rights that this kernel
	// grants, such as a user namespace, are inside of the sandbox; access to the host
	// is refused as with any other driver.
	OwnKernel bool
	// HostUser says that a sandbox's user is a user of the host, without a user
	// namespace: the kernel's limits for that user apply.
	HostUser bool
	// SilentMemory says that the driver cannot report that a command was ended for its
	// memory. It is ended all the same.
	SilentMemory bool
	// OwnUser says that a sandbox without a workspace has a user of its own rather than the
	// server's.
	OwnUser bool
	// DefaultFilter says that system calls are filtered by a runtime's own profile, which
	// may allow those that are named in the attacks' options "default".
	DefaultFilter bool
	// Interface says that a sandbox has a network interface, which leads nowhere.
	Interface bool
}

// A suite runs its cases on the drivers of newDriver.
type suite struct {
	newDriver func(t *testing.T) sandbox.Driver
	traits    Traits
	// once runs a command with the driver of a case, which has no sandbox ready for the
	// next.
	once run
}

// A run runs a command.
type run func(ctx context.Context, cmd sandbox.Command) (*sandbox.Result, error)

// runCases runs the cases of s, each with a driver of its own.
func runCases(t *testing.T, s suite, cases map[string]func(s suite, t *testing.T)) {
	for _, name := range slices.Sorted(maps.Keys(cases)) {
		t.Run(name, func(t *testing.T) {
			start := sync.OnceValue(func() run { return s.start(t) })
			s.once = func(ctx context.Context, cmd sandbox.Command) (*sandbox.Result, error) {
				cmd.Warm = -1
				return start()(ctx, cmd)
			}
			cases[name](s, t)
		})
	}
}

// start returns a function that runs a command with a driver of t's own.
func (s suite) start(t *testing.T) run {
	t.Helper()
	t.TempDir() // registers the removal of all of them, so that it is after the close of the driver
	runner := sandbox.New(s.newDriver(t), nil)
	t.Cleanup(func() {
		if err := runner.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return func(ctx context.Context, cmd sandbox.Command) (*sandbox.Result, error) {
		t.Helper()
		if cmd.Folder == "" {
			cmd.Folder = Folder(t, nil)
		}
		cmd.RunID = "suite-" + strings.ToLower(filepath.Base(t.TempDir()))
		cmd.Skill = "suite/case"
		return runner.Run(ctx, cmd)
	}
}

// bash runs one bash script and fails the test when it could not be run.
func (s suite) bash(t *testing.T, script string, args ...string) *sandbox.Result {
	t.Helper()
	result, err := s.once(t.Context(), bash(script, args...))
	if err != nil {
		t.Fatalf("run: %v", err)
	}
	return result
}

// bash returns the command that runs an inline script.
func bash(script string, args ...string) sandbox.Command {
	return sandbox.Command{Argv: append([]string{"bash", "-c", script, "case"}, args...)}
}

// Folder returns a folder with files, by path, that every user may read, as a
// skill's snapshot is.
func Folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := shared(t)
	for name, content := range files {
		path := filepath.Join(dir, name)
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must(t, os.WriteFile(path, []byte(content), 0o644))
	}
	return dir
}

// shared returns a new folder that every user may read.
func shared(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	must(t, os.Chmod(dir, 0o755))
	return dir
}

// must fails the test at once where err is not nil.
func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// wantStdout compares stdout, and logs stderr where it differs.
func wantStdout(t *testing.T, r *sandbox.Result, want string) {
	t.Helper()
	if got := string(r.Stdout.Bytes()); got != want {
		t.Errorf("stdout = %q, want %q\nexit %d, stderr: %s", got, want, r.Code, r.Stderr.Bytes())
	}
}

// A writer is a function that gets each piece of output.
type writer func(p []byte)

func (w writer) Write(p []byte) (int, error) { w(p); return len(p), nil }

// newMark returns a text that is nowhere else on the machine.
func newMark() string { return "mark-" + strings.ToLower(rand.Text()) }
