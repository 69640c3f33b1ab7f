package docker

import (
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

// restartable returns a driver on an engine of the test's own, and what starts
// and stops that. It starts one where SKILLS_MCP_TEST_RESTART is 1.
func restartable(t *testing.T, name string) (d *Driver, engine func(verb string) string) {
	t.Helper()
	if os.Getenv("SKILLS_MCP_TEST_RESTART") != "1" {
		t.Skip("this test starts and stops an engine of its own, as root: set SKILLS_MCP_TEST_RESTART=1 to let it")
	}
	engine = func(verb string) string {
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
	return New(&Options{
		Images: map[string]string{"default": testImage()},
		Host:   strings.TrimSpace(host),
	}), engine
}

// TestEngineRestarts takes an engine away under a command.
func TestEngineRestarts(t *testing.T) {
	d, engine := restartable(t, "docker-driver")
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

// TestEngineRestartsWarm takes an engine away under containers that wait. The
// next call, and the one after it, do not notice.
func TestEngineRestartsWarm(t *testing.T) {
	d, engine := restartable(t, "docker-driver-warm")
	cmd := realCommand(t, "exit 7")
	run := func() {
		t.Helper()
		if exit, err := d.Run(t.Context(), cmd); err != nil || exit.Code != 7 {
			t.Errorf("exit %v, error %v", exit, err)
		}
	}
	run()
	for _, verbs := range [][]string{{"stop", "up"}, {"restart"}} {
		before := waiting(t, d)
		if len(before) != 1 {
			t.Errorf("%d containers wait, want 1", len(before))
		}
		for _, verb := range verbs {
			engine(verb)
		}
		eventually(t, "what was known of images is not trusted", func() bool { _, trusts := d.known.state(); return !trusts })
		run()
		run()
		for _, id := range waiting(t, d) {
			if slices.Contains(before, id) {
				t.Errorf("container %s is there again", id)
			}
		}
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	if left := containers(t, d); len(left) > 0 {
		t.Errorf("containers are left: %v", left)
	}
}
