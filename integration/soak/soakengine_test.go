package soak

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/skillsmcp/skills-mcp/integration/lab"
	"github.com/skillsmcp/skills-mcp/sandbox/docker"
)

// A soakEngine is the engine that the soak's containers are on.
type soakEngine struct {
	host    string
	skill   string       // marks the test's own containers
	restart func() error // nil for one that others use
	volumes []string     // that were there before; of an engine of its own
	root    string       // its folder
}

// newSoakEngine returns the engine that tests use or, in the long version and where
// tests may restart engines, one of its own.
func newSoakEngine(t *testing.T, skill string) *soakEngine {
	t.Helper()
	e := &soakEngine{skill: skill}
	if *soakLong || os.Getenv("SKILLS_MCP_TEST_RESTART") == "1" {
		e.bringUp(t)
	} else {
		lab.Requires(t, "SKILLS_MCP_REQUIRE_ENGINE", lab.CheckDocker(t.Context()))
		e.host = cmp.Or(os.Getenv("DOCKER_HOST"), docker.Places{Home: os.Getenv("HOME"), RuntimeDir: os.Getenv("XDG_RUNTIME_DIR")}.Hosts()[0])
		t.Log("no engine is restarted, as that needs one of its own: set SKILLS_MCP_TEST_RESTART=1, as root, to let the test start one")
	}
	e.volumes = e.docker(t, "volume", "ls", "--quiet")
	e.root = strings.Join(e.docker(t, "info", "--format", "{{.DockerRootDir}}"), "")
	return e
}

// bringUp brings up an engine that nobody else uses, and stops it after the test.
func (e *soakEngine) bringUp(t *testing.T) {
	t.Helper()
	const name = "soak"
	engine := func(verb string) (string, error) {
		out, err := exec.Command("./engine", "--name", name, verb).Output()
		var failed *exec.ExitError
		if errors.As(err, &failed) {
			err = fmt.Errorf("engine %s: %w: %s", verb, err, failed.Stderr)
		}
		return string(out), err
	}
	env, err := engine("env")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := engine("stop"); err != nil {
			t.Error(err)
		}
	})
	_, host, _ := strings.Cut(env, "DOCKER_HOST=")
	e.host, _, _ = strings.Cut(host, "\n")
	e.restart = func() error { _, err := engine("restart"); return err }
}

// docker runs the docker command and returns the lines that it prints.
func (e *soakEngine) docker(t *testing.T, args ...string) []string {
	t.Helper()
	out, err := e.command(context.WithoutCancel(t.Context()), args...).Output()
	if err != nil {
		t.Fatalf("docker %v: %v", args, err)
	}
	return strings.Fields(string(out))
}

func (e *soakEngine) command(ctx context.Context, args ...string) *exec.Cmd {
	return lab.DockerCommand(ctx, e.host, args...)
}

// A follower knows the ids of containers that were made.
type follower struct {
	cancel context.CancelFunc
	ended  chan struct{} // closed by its goroutine when it has
	mu     sync.Mutex
	ids    []string
}

// follow notes the test's containers until stop is called. While the
// engine restarts, some are missed.
func (e *soakEngine) follow(t *testing.T) *follower {
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	f := &follower{cancel: cancel, ended: make(chan struct{})}
	t.Cleanup(func() { f.stop() })
	go func() {
		defer close(f.ended)
		for ctx.Err() == nil {
			f.events(e.command(ctx, "events", "--since", fmt.Sprint(time.Now().Unix()-1), "--format", "{{.ID}}",
				"--filter", "event=create", "--filter", e.own()))
			await(ctx, 100*time.Millisecond) // the engine is away
		}
	}()
	return f
}

// await waits for duration or for the end of ctx.
func await(ctx context.Context, duration time.Duration) {
	timer := time.NewTimer(duration)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// events notes what one command prints, until it ends.
func (f *follower) events(cmd *exec.Cmd) {
	stdout, err := cmd.StdoutPipe()
	if err != nil || cmd.Start() != nil {
		return
	}
	for lines := bufio.NewScanner(stdout); lines.Scan(); {
		f.mu.Lock()
		f.ids = append(f.ids, lines.Text())
		f.mu.Unlock()
	}
	_ = cmd.Wait() // it ends by a kill, or with its engine
}

// stop returns the ids, each once.
func (f *follower) stop() []string {
	f.cancel()
	<-f.ended
	slices.Sort(f.ids)
	f.ids = slices.Compact(f.ids)
	return f.ids
}

// own is a filter for what is the test's.
func (e *soakEngine) own() string { return "label=skills-mcp.skill=" + e.skill }

// checkNothingLeft fails the test for what the engine still has of the test's
// containers, which are ids.
func (e *soakEngine) checkNothingLeft(t *testing.T, ids []string) {
	t.Helper()
	t.Logf("%d containers were seen", len(ids))
	if len(ids) == 0 {
		t.Error("the engine was not seen to make a container")
	}
	if left := lab.Containers(t, e.host, e.own()); len(left) > 0 {
		t.Errorf("containers are left: %v", left)
	}
	volumes := e.docker(t, "volume", "ls", "--quiet", "--filter", e.own())
	if e.restart != nil {
		volumes = lab.Added(e.volumes, e.docker(t, "volume", "ls", "--quiet"))
	}
	if len(volumes) > 0 {
		t.Errorf("volumes are left: %v", volumes)
	}
	// The engine has answered that a container is gone when its own processes
	// may still be about to end.
	ctx, cancel := context.WithTimeout(t.Context(), lab.Patience)
	defer cancel()
	left := e.traces(t, ids)
	for len(left) > 0 && ctx.Err() == nil {
		await(ctx, 100*time.Millisecond)
		left = e.traces(t, ids)
	}
	if len(left) > 0 {
		t.Errorf("of containers that were removed there are left:\n%s", strings.Join(left, "\n"))
	}
}

// traces are the processes, mounts, cgroups and folders of containers.
func (e *soakEngine) traces(t *testing.T, ids []string) []string {
	t.Helper()
	text, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	places := strings.Split(string(text), "\n")
	commands, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, command := range commands {
		if line, err := os.ReadFile(command); err == nil {
			places = append(places, strings.ReplaceAll(string(line), "\x00", " "))
		}
	}
	for _, pattern := range []string{"/sys/fs/cgroup/*/docker/*", "/sys/fs/cgroup/docker/*", "/sys/fs/cgroup/system.slice/docker-*", filepath.Join(e.root, "containers", "*")} {
		found, _ := filepath.Glob(pattern)
		places = append(places, found...)
	}
	return slices.DeleteFunc(places, func(place string) bool {
		return !slices.ContainsFunc(ids, func(id string) bool { return strings.Contains(place, id) })
	})
}
