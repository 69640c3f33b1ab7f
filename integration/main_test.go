package integration

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"
)

// binary is the program under test, built once. Only TestMain writes it.
var binary string

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	if signal.Ignored(syscall.SIGHUP) {
		// The tests were started with nohup. Programs inherit that a signal is ignored,
		// not that it is caught, so that those under test end at it again.
		signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	}
	dir, err := os.MkdirTemp("", "skills-mcp-integration-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	binary = filepath.Join(dir, "skills-mcp")
	build := exec.Command("go", "build", "-o", binary, "./cmd/skills-mcp")
	build.Dir = ".."
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

// configuration is the file that lets the docker driver use the test image.
func configuration() string {
	return fmt.Sprintf("images: {default: %q, node: %q}\n", testImage(), testImage())
}

// drivers runs a test for each sandbox driver. Where one is not to be had, its
// part skips, or fails where it is required.
func drivers(t *testing.T, test func(t *testing.T, driver string)) {
	t.Run("native", func(t *testing.T) {
		need(t, "SKILLS_MCP_REQUIRE_SANDBOX", checkNative(t.Context()))
		test(t, "native")
	})
	t.Run("docker", func(t *testing.T) {
		need(t, "SKILLS_MCP_REQUIRE_ENGINE", checkDocker(t.Context()))
		test(t, "docker")
	})
}

// need skips a test that cannot run, unless the variable says that it must.
func need(t *testing.T, variable string, missing error) {
	t.Helper()
	switch {
	case missing == nil:
	case os.Getenv(variable) == "1":
		t.Fatalf("%v (%s is set)", missing, variable)
	default:
		t.Skipf("SKIPPED: %v (set %s=1 to make this a failure)", missing, variable)
	}
}
