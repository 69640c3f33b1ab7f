package docker

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/docker/docker/api/types/container"
	dockerimage "github.com/docker/docker/api/types/image"
	"go.uber.org/goleak"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/sandbox/docker/seccomp"
	"github.com/skillsmcp/skills-mcp/sandbox/egress"
	"github.com/skillsmcp/skills-mcp/sandbox/protect"
	"github.com/skillsmcp/skills-mcp/sandbox/sandboxtest"
)

// testImage returns an image with bash, coreutils and Python. The script integration/engine makes
// it, and starts an engine where there is none.
func testImage() string {
	return cmp.Or(os.Getenv("SKILLS_MCP_TEST_IMAGE"), "skills-mcp-test:base")
}

// TestMain lets this program be the one that listens in containers.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == egress.Command {
		if err := egress.Main(context.Background(), "", os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// realEngine returns options for an engine that runs and has the test image.
// Without one it skips the test, or fails it where SKILLS_MCP_REQUIRE_ENGINE
// is 1.
func realEngine(t testing.TB) *Options {
	t.Helper()
	options := &Options{
		Images: map[string]string{"default": testImage()},
		Dir:    t.TempDir(),
		Guard:  protect.New(t.TempDir()),
		Places: Places{
			DockerHost: os.Getenv("DOCKER_HOST"),
			Home:       os.Getenv("HOME"),
			RuntimeDir: os.Getenv("XDG_RUNTIME_DIR"),
		},
	}
	d := New(options)
	defer d.Close()
	e, err := d.connect(t.Context())
	if err == nil {
		_, err = e.inspectImage(t.Context(), "default", testImage())
	}
	if err != nil {
		const how = "this test needs a Docker engine with the image %s; run integration/engine to get one: %v"
		if os.Getenv("SKILLS_MCP_REQUIRE_ENGINE") == "1" {
			t.Fatalf(how, testImage(), err)
		}
		t.Skipf(how, testImage(), err)
	}
	return options
}

// realDriver returns a driver on a real engine. When the test is over, and has
// closed it, no container of the driver's may be left.
func realDriver(t testing.TB) *Driver {
	t.Helper()
	d := New(realEngine(t))
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
		if left := containers(t, d); len(left) > 0 {
			t.Errorf("containers are left: %v", left)
		}
	})
	return d
}

// containers returns d's containers, running or not.
func containers(t testing.TB, d *Driver) []container.Summary {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	e, err := d.connect(ctx)
	if err != nil {
		t.Fatal(err)
	}
	all, err := e.list(ctx, labelInstance+"="+d.owner.instance)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestSuite(t *testing.T) {
	t.Parallel()
	realEngine(t)
	sandboxtest.RunWith(t, func(t *testing.T) sandbox.Driver { return realDriver(t) }, sandboxtest.Traits{HostUser: true})
}

// realCommand is a bash script that runs in a skill's folder of its own.
func realCommand(t testing.TB, script string) *sandbox.Command {
	t.Helper()
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := command()
	cmd.Folder = dir
	cmd.Argv = []string{"bash", "-c", script}
	return cmd
}

// started runs cmd, and returns its container once that runs, and where the
// run's error will be.
func started(t *testing.T, ctx context.Context, d *Driver, cmd *sandbox.Command) (id string, ended <-chan error) {
	t.Helper()
	running, errs := make(chan struct{}), make(chan error, 1)
	cmd.Started = func() { close(running) }
	go func() {
		_, err := d.Run(ctx, cmd)
		errs <- err
	}()
	select {
	case <-running:
	case err := <-errs:
		t.Fatal(err)
	}
	// Its shell has said that it begins, and may not have got further.
	eventually(t, "the command has a container", func() bool {
		for _, c := range containers(t, d) {
			top, err := d.engine.Load().api.ContainerTop(ctx, c.ID, nil)
			if err == nil && len(top.Processes) > 1 { // more than the shell that waits
				id = c.ID
			}
		}
		return id != ""
	})
	return id, errs
}

// TestHardening reads back what the engine made of what it was told.
func TestHardening(t *testing.T) {
	d := realDriver(t)
	ctx, cancel := canceled(t)
	cmd := realCommand(t, "sleep 600")
	id, ended := started(t, ctx, d, cmd)
	e, err := d.connect(ctx)
	if err != nil {
		t.Fatal(err)
	}
	c, err := e.api.ContainerInspect(ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	cancel(nil)
	<-ended

	host, limits := c.HostConfig, sandbox.DefaultLimits()
	mounts := 2
	if e.piped() {
		mounts++
	}
	for what, holds := range map[string]bool{
		"no network":            host.NetworkMode == "none",
		"root is read-only":     host.ReadonlyRootfs,
		"not privileged":        !host.Privileged,
		"capabilities dropped":  slices.Equal(host.CapDrop, []string{"ALL"}) && len(host.CapAdd) == 0,
		"no new privileges":     slices.Equal(host.SecurityOpt, []string{"no-new-privileges:true", "seccomp=" + seccomp.Profile()}),
		"not the host's spaces": host.PidMode == "" && host.UTSMode == "" && host.UsernsMode == "" && host.IpcMode.IsPrivate() && host.CgroupnsMode.IsPrivate(),
		"memory":                host.Memory == limits.Memory && host.MemorySwap == limits.Memory,
		"OOM killer works":      host.OomKillDisable == nil || !*host.OomKillDisable,
		"processors":            host.NanoCPUs == 1e9,
		"processes":             host.PidsLimit != nil && *host.PidsLimit == limits.PIDs+timerProcesses,
		"no network interfaces": c.Config.NetworkDisabled,
		"no log":                host.LogConfig.Type == "none",
		"no devices":            len(host.Devices) == 0 && len(host.DeviceRequests) == 0,
		"kernel paths masked":   len(host.MaskedPaths) > 0 && len(host.ReadonlyPaths) > 0,
		"not root":              c.Config.User == user() && !strings.HasPrefix(c.Config.User, "0"),
		"never started again":   host.RestartPolicy.Name == "" || host.RestartPolicy.IsNone(),
		"mounts, read-only":     len(c.Mounts) == mounts && !slices.ContainsFunc(c.Mounts, func(m container.MountPoint) bool { return m.RW }),
		"labels":                c.Config.Labels[labelSkill] == cmd.Skill,
		"five limits on a user": len(host.Ulimits) == 5,
		"two temporary folders": len(host.Tmpfs) == 2,
	} {
		if !holds {
			t.Errorf("not so: %s", what)
		}
	}
}

func TestEndedFromOutside(t *testing.T) {
	for name, end := range map[string]func(ctx context.Context, e *engine, id string) error{
		"killed": func(ctx context.Context, e *engine, id string) error { return e.api.ContainerKill(ctx, id, "KILL") },
		"stopped": func(ctx context.Context, e *engine, id string) error {
			return e.api.ContainerStop(ctx, id, container.StopOptions{})
		},
		"removed": func(ctx context.Context, e *engine, id string) error {
			return e.api.ContainerRemove(ctx, id, container.RemoveOptions{Force: true})
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := realDriver(t)
			id, ended := started(t, t.Context(), d, realCommand(t, "exec sleep 600"))
			e, err := d.connect(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if err := end(t.Context(), e, id); err != nil {
				t.Fatal(err)
			}
			var unavailable *sandbox.UnavailableError
			if err := <-ended; !errors.As(err, &unavailable) {
				t.Errorf("error %v, want a sandbox that was lost", err)
			}
		})
	}
}

func TestOutOfMemory(t *testing.T) {
	d := realDriver(t)
	for name, test := range map[string]struct {
		script string
		fails  bool
	}{
		"a child, and the command fails with its own code": {`python3 -c 'x = b"x" * (1 << 30)'; exit 3`, true},
		"a child, and the command gets over it":            {`python3 -c 'x = b"x" * (1 << 30)'; exit 0`, false},
		"none, though the code looks like it":              {`kill -KILL $$`, false},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := realCommand(t, test.script)
			cmd.Limits.Memory = 64 << 20
			exit, err := d.Run(t.Context(), cmd)
			var limit *sandbox.LimitError
			if exit == nil || errors.As(err, &limit) != test.fails {
				t.Errorf("exit %v, error %v", exit, err)
			}
		})
	}
}

func TestImageNowhere(t *testing.T) {
	realEngine(t)
	d := New(&Options{Images: map[string]string{"default": "skills-mcp-test:does-not-exist"}})
	defer d.Close()
	_, err := d.Run(t.Context(), realCommand(t, "true"))
	var unavailable *sandbox.UnavailableError
	if !errors.As(err, &unavailable) || !strings.Contains(err.Error(), "skills-mcp-test:does-not-exist") || !strings.Contains(unavailable.Remedy, "images.default") {
		t.Errorf("error %v", err)
	}
}

// An image may declare volumes, which an engine makes writable and as large as
// its disk.
func TestImageVolume(t *testing.T) {
	d := realDriver(t)
	e, err := d.connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	made, err := e.api.ContainerCreate(t.Context(), &container.Config{Image: testImage()}, nil, nil, nil, "")
	if err != nil {
		t.Fatal(err)
	}
	defer e.remove(context.Background(), made.ID)
	const tagged = "skills-mcp-test:volume"
	if _, err := e.api.ContainerCommit(t.Context(), made.ID, container.CommitOptions{Reference: tagged, Changes: []string{"VOLUME /data", "ENTRYPOINT /bin/false"}}); err != nil {
		t.Fatal(err)
	}
	defer func() {
		d.pool.Close()
		settled(d) // an image with a container cannot be removed
		if _, err := e.api.ImageRemove(t.Context(), tagged, dockerimage.RemoveOptions{}); err != nil {
			t.Error(err)
		}
	}()
	d.roles = map[string]string{"default": tagged}
	var out bytes.Buffer
	cmd := realCommand(t, `(echo x >/data/file) 2>/dev/null || echo refused`)
	cmd.Stdout = &out
	if _, err := d.Run(t.Context(), cmd); err != nil || out.String() != "refused\n" {
		t.Errorf("output %q, error %v", &out, err)
	}
}

// Runs leave no connection open.
func TestDescriptors(t *testing.T) {
	d := realDriver(t)
	count := func() int {
		entries, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Skip("the system does not list open files")
		}
		return len(entries)
	}
	const runs = 10
	var before int
	for i := range runs {
		cmd := realCommand(t, "cat")
		cmd.Stdin = strings.NewReader("x")
		if _, err := d.Run(t.Context(), cmd); err != nil {
			t.Fatal(err)
		}
		settled(d)
		if i == 0 {
			before = count()
		}
	}
	// The last connections may be just about to close, but one left by each run
	// would be seen.
	if after := count(); after >= before+runs-1 {
		t.Errorf("%d descriptors are open, and %d were after the first of %d runs", after, before, runs)
	}
}

// TestCheckReal only shows that a real engine can be asked; what is found
// depends on it.
func TestCheckReal(t *testing.T) {
	for _, finding := range realDriver(t).Check(t.Context()) {
		t.Logf("%s: %s: %s (%s)", finding.Subject, finding.Level, finding.Detail, finding.Remedy)
		if finding.Subject == "engine" && finding.Level != sandbox.LevelOK {
			t.Error("the engine that runs is not found")
		}
	}
}

// The standard streams of a command can be opened again by their names, and of the pipes
// between them and the driver nothing is in the sandbox.
func TestStreamsByName(t *testing.T) {
	d := realDriver(t)
	var stdout, stderr bytes.Buffer
	cmd := realCommand(t, `cat /dev/stdin; echo out >/dev/stdout; echo err >/dev/stderr; ls -A /dev/skills-mcp 2>/dev/null; exit 0`)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader("in\n"), &stdout, &stderr
	if _, err := d.Run(t.Context(), cmd); err != nil || stdout.String() != "in\nout\n" || stderr.String() != "err\n" {
		t.Errorf("stdout %q, stderr %q, error %v", &stdout, &stderr, err)
	}
	if e := d.engine.Load(); e.pipes != "" && e.unpiped.Load() {
		t.Error("the container did not come to its pipes")
	}
}

// A container that does not open its pipes is reached through the engine, and so are all
// later ones.
func TestWithoutPipes(t *testing.T) {
	d := realDriver(t)
	e, err := d.connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !e.piped() {
		t.Skip("the engine's containers have no pipes")
	}
	e.pipes += "/missing"
	for range 2 {
		var stdout bytes.Buffer
		cmd := realCommand(t, `cat; echo out`)
		cmd.Stdin, cmd.Stdout = strings.NewReader("in\n"), &stdout
		if _, err := d.Run(t.Context(), cmd); err != nil || stdout.String() != "in\nout\n" {
			t.Errorf("stdout %q, error %v", &stdout, err)
		}
	}
	if e.piped() {
		t.Error("pipes are tried again")
	}
}
