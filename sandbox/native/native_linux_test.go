//go:build amd64 || arm64

package native

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"go.uber.org/goleak"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/sandbox/protect"
	"github.com/skillsmcp/skills-mcp/sandbox/sandboxtest"
)

func TestMain(m *testing.M) {
	if os.Args[0] == plainInitName {
		plainInit()
	}
	if folder := os.Getenv(serverFolder); folder != "" {
		serve(folder)
	}
	if os.Getenv(serverReady) != "" {
		serveReady()
	}
	goleak.VerifyTestMain(m)
}

// newDriver returns a driver that is closed with the test, which is skipped
// where there are no sandboxes.
func newDriver(t testing.TB) *Driver {
	t.Helper()
	return newWarmDriver(t, 0)
}

// newWarmDriver returns one with as many sandboxes ready as Options say.
func newWarmDriver(t testing.TB, warm int) *Driver {
	t.Helper()
	d := New(&Options{Logger: slog.New(slog.NewTextHandler(t.Output(), nil)), Warm: warm, Guard: protect.New(t.TempDir())})
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	if found := d.checkSandbox(t.Context()); found.Level != sandbox.LevelOK {
		skip(t, "no native sandbox here: "+found.Detail)
	}
	return d
}

// skip skips, unless whoever runs the tests wants none skipped.
func skip(t testing.TB, reason string) {
	t.Helper()
	if os.Getenv("SKILLS_MCP_REQUIRE_SANDBOX") == "1" {
		t.Fatal(reason)
	}
	t.Skip(reason)
}

// An outcome is what came of a run.
type outcome struct {
	code           int
	stdout, stderr string
	started        int
	err            error
}

// try runs cmd with what it leaves open filled in.
func try(t testing.TB, d *Driver, cmd sandbox.Command) outcome {
	t.Helper()
	return tryContext(t, t.Context(), d, cmd)
}

func tryContext(t testing.TB, ctx context.Context, d *Driver, cmd sandbox.Command) (o outcome) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd.RunID = "test"
	if cmd.Folder == "" {
		cmd.Folder = openFolder(t)
	}
	if cmd.Stdout == nil {
		cmd.Stdout = &stdout
	}
	cmd.Stderr = &stderr
	started := cmd.Started
	cmd.Started = func() {
		o.started++
		if started != nil {
			started()
		}
	}
	exit, err := d.Run(ctx, &cmd)
	o.code, o.err = -1, err
	if exit != nil {
		o.code = exit.Code
	}
	o.stdout, o.stderr = stdout.String(), stderr.String()
	return o
}

// bash runs a script and returns what it wrote.
func bash(t testing.TB, d *Driver, script string) outcome {
	t.Helper()
	return try(t, d, sandbox.Command{Argv: []string{"bash", "-c", script}})
}

// openFolder returns a folder that others can read, as a snapshot of a skill.
func openFolder(t testing.TB) string {
	t.Helper()
	folder, err := os.MkdirTemp("", "native-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	if err := os.Chmod(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	return folder
}

func TestRun(t *testing.T) {
	d := newDriver(t)
	got := bash(t, d, `echo out; echo err >&2; exit 3`)
	if got.err != nil || got.code != 3 || got.stdout != "out\n" || got.stderr != "err\n" || got.started != 1 {
		t.Errorf("got %+v", got)
	}
}

func TestSuite(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T) sandbox.Driver {
		newDriver(t) // skips
		return New(&Options{Guard: protect.New(t.TempDir())})
	})
}

// otherUser says that these tests run as one already.
const otherUser = "SKILLS_MCP_TEST_OTHER_USER"

// TestOtherUsers runs the tests again as an ordinary user, and as the root of a
// user namespace that has no other users.
func TestOtherUsers(t *testing.T) {
	if os.Getenv(otherUser) != "" {
		t.Skip("this is another user's run")
	}
	if os.Geteuid() != 0 {
		t.Skip("SKIPPED: only root can become another user; these tests ran as an ordinary one")
	}
	// They run at the same time, so they are two users: the kernel counts by user.
	const ordinary, id = 1001, 1000
	for name, attributes := range map[string]*syscall.SysProcAttr{
		"ordinary": {Credential: &syscall.Credential{Uid: ordinary, Gid: ordinary}},
		"namespace": {
			Cloneflags:  syscall.CLONE_NEWUSER,
			UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: id, Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: id, Size: 1}},
			Credential:  &syscall.Credential{NoSetGroups: true},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tests := exec.Command("/proc/self/exe", "-test.v", "-test.skip", "TestSyscallTable")
			tests.Env = append(os.Environ(), otherUser+"="+name, "HOME=/tmp")
			tests.SysProcAttr = attributes
			out, err := tests.CombinedOutput()
			if err != nil || !bytes.Contains(out, []byte("--- PASS: TestSuite")) {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// All roles have the programs of the machine.
func TestIdentify(t *testing.T) {
	d := New(nil)
	defer d.Close()
	first, err := d.Identify(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	second, err := d.Identify(t.Context(), "node")
	if err != nil || first != second || !strings.HasPrefix(first.ID, "folders ") || first.Name == "" || first.Remedy == "" {
		t.Errorf("%+v, then %+v, %v", first, second, err)
	}
}

// Packages cannot be installed, and are not quietly left out.
func TestDependenciesRefused(t *testing.T) {
	d := New(nil)
	defer d.Close()
	_, err := d.Run(t.Context(), &sandbox.Command{
		Argv:         []string{"true"},
		Dependencies: []sandbox.Dependencies{{Kind: sandbox.Python, Packages: []string{"requests"}}},
		Started:      func() { t.Error("the command ran") },
	})
	var unavailable *sandbox.UnavailableError
	if !errors.As(err, &unavailable) || unavailable.Remedy == "" {
		t.Errorf("error %v", err)
	}
}
