package docker

import (
	"os"
	"testing"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/sandbox/sandboxtest"
)

// TestGVisor runs the suite with gVisor, a kernel of its own for each sandbox.
func TestGVisor(t *testing.T) {
	options := otherEngine(t, "SKILLS_MCP_TEST_RUNSC", "--runsc")
	options.Runtime = "runsc"
	sandboxtest.RunWith(t, drivers(options), sandboxtest.Traits{OwnKernel: true})
}

// TestPodman runs the suite on Podman's compatible service. Version 4.3 notes
// nowhere that the kernel ended a process for its memory.
func TestPodman(t *testing.T) {
	options := otherEngine(t, "SKILLS_MCP_TEST_PODMAN", "--podman")
	sandboxtest.RunWith(t, drivers(options), sandboxtest.Traits{SilentMemory: true, HostUser: true})
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
	return Options{Host: host, Images: map[string]string{"default": testImage()}, Dir: t.TempDir()}
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
