package docker

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

// TestEngineRestarts takes an engine away under a command, and needs one of its
// own for that. It starts it where SKILLS_MCP_TEST_RESTART is 1.
func TestEngineRestarts(t *testing.T) {
	if os.Getenv("SKILLS_MCP_TEST_RESTART") != "1" {
		t.Skip("this test starts and stops an engine of its own, as root: set SKILLS_MCP_TEST_RESTART=1 to let it")
	}
	const name = "docker-driver"
	engine := func(verb string) string {
		t.Helper()
		out, err := exec.Command("../../integration/engine", "--name", name, verb).Output()
		if err != nil {
			t.Fatalf("engine %s: %v", verb, err)
		}
		return string(out)
	}
	_, host, found := strings.Cut(engine("env"), "DOCKER_HOST=")
	if !found {
		t.Fatal("the engine has no address")
	}
	t.Cleanup(func() { engine("stop") })
	d := New(&Options{
		Images: map[string]string{"default": testImage()},
		Host:   strings.TrimSpace(host),
	})
	for range 2 {
		id, ended := started(t, t.Context(), d, realCommand(t, "sleep 600"))
		engine("stop")
		var unavailable *sandbox.UnavailableError
		if err := <-ended; !errors.As(err, &unavailable) {
			t.Errorf("container %s: error %v, want an engine that was lost", id, err)
		}
		if _, err := d.Run(t.Context(), realCommand(t, "true")); !errors.As(err, &unavailable) {
			t.Errorf("error %v, want no engine", err)
		}
		engine("up")
		if exit, err := d.Run(t.Context(), realCommand(t, "exit 7")); err != nil || exit.Code != 7 {
			t.Errorf("after the engine came back: exit %v, error %v", exit, err)
		}
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	if left := containers(t, d); len(left) > 0 {
		t.Errorf("containers are left: %v", left)
	}
}
