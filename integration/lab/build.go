// Package lab has what tests of the built binary share: the binary, accounts, clients,
// servers, browsers and terminals. Each package of such tests begins with [Main].
package lab

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// Patience bounds a wait for something that comes on any machine, so that a test that hangs
// says what it waits for. It is shorter than the skills sleep that are not to end by themselves.
const Patience = 5 * time.Minute

// Binary is the program under test. Only Main writes it.
var Binary string

// Main builds the program, runs the tests of a package, and returns the exit code. The tests
// name files from the folder integration, and there it runs them.
func Main(m *testing.M) int {
	for _, ending := range []os.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT} {
		if signal.Ignored(ending) {
			// The tests were started with nohup or by a script, in the background. Programs
			// inherit that a signal is ignored, not that it is caught, so that those under
			// test end at it again.
			signal.Notify(make(chan os.Signal, 1), ending)
		}
	}
	if here, err := os.Getwd(); err == nil && filepath.Base(here) != "integration" {
		if err := os.Chdir(".."); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	dir, err := os.MkdirTemp("", "skills-mcp-integration-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	Binary = filepath.Join(dir, "skills-mcp")
	build := exec.Command("go", "build", "-trimpath", "-o", Binary, "./cmd/skills-mcp")
	build.Dir = ".."
	build.Env = append(os.Environ(), "CGO_ENABLED=0") // as for a release
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build: %v\n%s", err, out)
		return 1
	}
	// Node starts faster when it finds its programs compiled.
	err = os.Setenv("NODE_COMPILE_CACHE", filepath.Join(dir, "node"))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// Configuration is the file that lets the docker driver use the test image.
func Configuration() string {
	return fmt.Sprintf("images: {default: %q, node: %q}\n", TestImage(), TestImage())
}

// Drivers runs a test for each sandbox driver. Where one is not to be had, its
// part skips, or fails where it is required.
func Drivers(t *testing.T, test func(t *testing.T, driver string)) {
	t.Run("native", func(t *testing.T) {
		t.Parallel()
		Requires(t, "SKILLS_MCP_REQUIRE_SANDBOX", CheckNative(t.Context()))
		test(t, "native")
	})
	t.Run("docker", func(t *testing.T) {
		t.Parallel()
		Requires(t, "SKILLS_MCP_REQUIRE_ENGINE", CheckDocker(t.Context()))
		test(t, "docker")
	})
}

// Requires skips a test that cannot run, unless the variable says that it must.
func Requires(t *testing.T, variable string, missing error) {
	t.Helper()
	switch {
	case missing == nil:
	case os.Getenv(variable) == "1":
		t.Fatalf("%v (%s is set)", missing, variable)
	default:
		t.Skipf("SKIPPED: %v (set %s=1 to make this a failure)", missing, variable)
	}
}
