package docker

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/sandbox/protect"
	"github.com/skillsmcp/skills-mcp/sandbox/sandboxtest"
)

// TestGVisor runs the suite with gVisor, a kernel of its own for each sandbox.
func TestGVisor(t *testing.T) {
	t.Parallel()
	sandboxtest.RunWith(t, drivers(gVisor(t)), sandboxtest.Traits{OwnKernel: true})
}

func gVisor(t *testing.T) Options {
	options := otherEngine(t, "SKILLS_MCP_TEST_RUNSC", "--runsc")
	options.Runtime = "runsc"
	return options
}

// TestPodman runs the suite on Podman's compatible service. Version 4.3 notes
// nowhere that the kernel ended a process for its memory.
func TestPodman(t *testing.T) {
	t.Parallel()
	sandboxtest.RunWith(t, drivers(podman(t)), sandboxtest.Traits{SilentMemory: true, HostUser: true})
}

func podman(t *testing.T) Options { return otherEngine(t, "SKILLS_MCP_TEST_PODMAN", "--podman") }

// A container ends its command by itself where nobody else does, and goes on
// until then, whatever signals the command sends to its process group.
func TestDeadline(t *testing.T) {
	everyEngine(t, func(t *testing.T, d *Driver) {
		cmd := realCommand(t, `
			trap 'printf "%s " signal' HUP INT QUIT TERM
			for s in HUP INT QUIT TERM; do kill -$s 0; done
			setsid sleep 600 &
			sleep 600; sleep 600; sleep 600; sleep 600; sleep 600
			echo over`)
		cmd.Limits.Timeout = time.Nanosecond // nobody here heeds it
		var out bytes.Buffer
		cmd.Stdout = &out
		exit, err := d.Run(t.Context(), cmd)
		if err != nil || exit.Code != 137 || strings.Count(out.String(), "signal") != 4 || strings.Contains(out.String(), "over") {
			t.Errorf("exit %+v, error %v, output %q", exit, err, &out)
		}
	})
}

// everyEngine runs a test on the engine, with gVisor and on Podman.
func everyEngine(t *testing.T, test func(t *testing.T, d *Driver)) {
	for name, options := range map[string]func(t *testing.T) Options{
		"runc":   func(t *testing.T) Options { return *realEngine(t) },
		"gVisor": gVisor,
		"Podman": podman,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, drivers(options(t))(t).(*Driver))
		})
	}
}

// otherEngine returns options for the engine whose address is in a variable,
// which the script integration/engine prints. Without one it skips the test, or
// fails it where SKILLS_MCP_REQUIRE_ENGINE is 1.
func otherEngine(t *testing.T, variable, flag string) Options {
	t.Helper()
	host := os.Getenv(variable)
	if host == "" {
		const how = `SKIPPED: %s is not set; run eval "$(integration/engine %s env)"`
		if os.Getenv("SKILLS_MCP_REQUIRE_ENGINE") == "1" {
			t.Fatalf(how, variable, flag)
		}
		t.Skipf(how, variable, flag)
	}
	return Options{Host: host, Images: map[string]string{"default": testImage()}, Dir: t.TempDir(), Guard: protect.New(t.TempDir())}
}

// drivers makes drivers with the same options, which leave no container.
func drivers(options Options) func(t *testing.T) sandbox.Driver {
	return func(t *testing.T) sandbox.Driver {
		d := New(&options)
		t.Cleanup(func() { noneLeft(t, d) })
		return d
	}
}

// noneLeft closes d and fails the test where a container of it is left.
func noneLeft(t *testing.T, d *Driver) {
	t.Helper()
	if err := d.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	if left := containers(t, d); len(left) > 0 {
		t.Errorf("containers are left: %v", left)
	}
}
