package integration

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"testing"
)

// binary is the program under test, built once. Only TestMain writes it.
var binary string

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	for _, ending := range []os.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT} {
		if signal.Ignored(ending) {
			// The tests were started with nohup or by a script, in the background. Programs
			// inherit that a signal is ignored, not that it is caught, so that those under
			// test end at it again.
			signal.Notify(make(chan os.Signal, 1), ending)
		}
	}
	dir, err := os.MkdirTemp("", "skills-mcp-integration-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	binary = filepath.Join(dir, "skills-mcp")
	build := exec.Command("go", "build", "-trimpath", "-o", binary, "./cmd/skills-mcp")
	build.Dir = ".."
	build.Env = append(os.Environ(), "CGO_ENABLED=0") // as for a release
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build: %v\n%s", err, out)
		return 1
	}
	// Node starts faster when it finds its programs compiled.
	err = os.Setenv("NODE_COMPILE_CACHE", filepath.Join(dir, "node"))
	if flag.Parse(); err == nil && !given("test.parallel") {
		// Tests mostly wait for the programs that they have started.
		err = flag.Set("test.parallel", strconv.Itoa(2*runtime.GOMAXPROCS(0)))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// given reports whether a flag is on the command line.
func given(name string) (found bool) {
	flag.Visit(func(f *flag.Flag) { found = found || f.Name == name })
	return found
}

// configuration is the file that lets the docker driver use the test image.
func configuration() string {
	return fmt.Sprintf("images: {default: %q, node: %q}\n", testImage(), testImage())
}

// drivers runs a test for each sandbox driver. Where one is not to be had, its
// part skips, or fails where it is required.
func drivers(t *testing.T, test func(t *testing.T, driver string)) {
	t.Run("native", func(t *testing.T) {
		t.Parallel()
		need(t, "SKILLS_MCP_REQUIRE_SANDBOX", checkNative(t.Context()))
		test(t, "native")
	})
	t.Run("docker", func(t *testing.T) {
		t.Parallel()
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
