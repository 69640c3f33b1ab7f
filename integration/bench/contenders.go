package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/skillsmcp/skills-mcp/integration/bench/catalog"
	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/sandbox/docker"
	"github.com/skillsmcp/skills-mcp/sandbox/native"
)

// callOptions are the flags of the suite call.
type callOptions struct {
	only  []string // names of contenders; empty for all
	host  string   // the engine's address; "" looks for one
	image string
}

// callTimeout bounds a call: engines have been seen to hang.
const callTimeout = time.Minute

// A contender is one way to run a script.
type contender struct {
	name string
	// call runs the script once and fails unless it printed its line.
	call func(ctx context.Context, p part) error
	// settle waits until the contender is ready, and returns how many sandboxes
	// are waiting; nil if that cannot be seen.
	settle func(ctx context.Context) (waiting int, err error)
	// memory returns the memory of each waiting sandbox; nil without any.
	memory func(ctx context.Context) ([]holding, error)
	// driver is the contender that is this one without its server; "" for none.
	driver string
	// server is the process whose processor time counts; nil for none.
	server *process
	// close removes all that it made, also after an interrupt; nil for nothing.
	close func() error
}

// ready waits until the contender is ready.
func (c *contender) ready(ctx context.Context) (waiting int, err error) {
	if c.settle == nil {
		return 0, ctx.Err()
	}
	return c.settle(ctx)
}

// attempt makes a call, with a timeout.
func (c *contender) attempt(ctx context.Context, p part) error {
	ctx, cancel := context.WithTimeoutCause(ctx, callTimeout, fmt.Errorf("a call took longer than %v", callTimeout))
	defer cancel()
	err := c.call(ctx, p)
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// processorTime returns that of the contender's server; 0 without one.
func (c *contender) processorTime() time.Duration {
	if c.server == nil {
		return 0
	}
	return c.server.cpu()
}

// closeContenders closes contenders, and returns all errors.
func closeContenders(contenders []*contender) error {
	var errs []error
	for _, c := range contenders {
		if c.close == nil {
			continue
		}
		if err := c.close(); err != nil {
			errs = append(errs, fmt.Errorf("clean up after %s: %w", c.name, err))
		}
	}
	return errors.Join(errs...)
}

// A script is run by every contender. It is in the suite's folder.
type script struct {
	name    string // "bash" or "python"
	program string
	file    string
	content string
}

// scripts do next to nothing, so that a figure is that of the contender.
func scripts() []script {
	return []script{
		{"bash", "bash", "run.sh", "echo " + printed + "\n"},
		{"python", "python3", "run.py", "print('" + printed + "')\n"},
	}
}

// printed is the line that the scripts print.
const printed = "hello from the script"

// argv is the command of the script in its own folder.
func (s script) argv() []string { return []string{s.program, s.file} }

// check returns an error unless output is that of a script.
func check(output string) error {
	if output != printed+"\n" {
		return fmt.Errorf("it printed %.200q instead of %q", output, printed+"\n")
	}
	return nil
}

// A part is one case: which script is called, and how many calls are under way.
type part struct {
	script script
	atOnce int
}

func (p part) String() string {
	if p.atOnce == 1 {
		return p.script.name + ", one call at a time"
	}
	return fmt.Sprintf("%s, %d at a time without a pause", p.script.name, p.atOnce)
}

// calls is a run of the suite call.
type calls struct {
	*setup
	*callOptions
	folder   string // the skill's: both scripts
	engine   *engine
	noEngine error // why engine is nil
	run      atomic.Int64
}

// newCalls writes the scripts and looks for an engine. Not to find one is no
// error.
func (s *setup) newCalls(ctx context.Context, o *callOptions) (*calls, error) {
	c := &calls{setup: s, callOptions: o, folder: filepath.Join(s.dir, "skill")}
	for _, script := range scripts() {
		if err := writeFile(filepath.Join(c.folder, script.file), script.content); err != nil {
			return nil, err
		}
	}
	c.engine, c.noEngine = findEngine(ctx, o.host)
	return c, nil
}

func (c *calls) close() {
	if c.engine != nil {
		c.engine.client.CloseIdleConnections()
	}
}

// An absentError says why the machine cannot run a contender.
type absentError struct{ what string }

func (e *absentError) Error() string { return e.what }

// find returns the file of a program of the host.
func find(program string) (string, error) {
	for _, dir := range strings.Split(searchPath, ":") {
		file := filepath.Join(dir, program)
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return file, nil
		}
	}
	return "", &absentError{fmt.Sprintf("there is no %s in %s", program, searchPath)}
}

// versions returns those of the programs and the engine that contenders use.
func (c *calls) versions(ctx context.Context) []string {
	var all []string
	for _, program := range []string{"python3", "bwrap"} {
		if file, err := find(program); err == nil {
			out, _ := exec.CommandContext(ctx, file, "--version").Output() // without it, no version
			all = append(all, strings.TrimSpace(string(out)))
		}
	}
	if c.engine != nil {
		all = append(all, c.engine.info.String(), "image "+c.image)
	}
	return all
}

// execute runs a program of the host with the environment of a sandbox, and
// checks its output.
func execute(ctx context.Context, dir string, env []string, argv ...string) error {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir = dir
	cmd.Env = append([]string{"PATH=" + searchPath, "LANG=C.UTF-8"}, env...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w: %.500s", filepath.Base(argv[0]), err, &stderr)
	}
	return check(stdout.String())
}

func (c *calls) bare(_ context.Context, name string) (*contender, error) {
	files := map[string]string{}
	for _, s := range scripts() {
		file, err := find(s.program)
		if err != nil {
			return nil, err
		}
		files[s.program] = file
	}
	return &contender{name: name, call: func(ctx context.Context, p part) error {
		return execute(ctx, c.folder, []string{"HOME=/tmp"}, files[p.script.program], p.script.file)
	}}, nil
}

func (c *calls) bubblewrap(_ context.Context, name string) (*contender, error) {
	program, err := find("bwrap")
	if err != nil {
		return nil, err
	}
	argv := []string{
		program, "--unshare-all", "--die-with-parent", "--new-session",
		"--ro-bind", "/usr", "/usr", "--symlink", "usr/bin", "/bin", "--symlink", "usr/lib", "/lib", "--symlink", "usr/lib64", "/lib64",
		"--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp",
		"--ro-bind", c.folder, "/skill", "--chdir", "/skill",
	}
	return &contender{name: name, call: func(ctx context.Context, p part) error {
		return execute(ctx, c.dir, []string{"HOME=/tmp"}, slices.Concat(argv, p.script.argv())...)
	}}, nil
}

// A checker is a driver that can say whether it works here.
type checker interface {
	sandbox.Driver
	Check(ctx context.Context) []sandbox.Finding
}

// checked returns d, or closes it if it does not work on this machine.
func checked[D checker](ctx context.Context, d D) (D, error) {
	for _, f := range d.Check(ctx) {
		if f.Level == sandbox.LevelFailed {
			_ = d.Close() // the finding is the reason for both
			return d, &absentError{fmt.Sprintf("%s: %s (%s)", f.Subject, f.Detail, f.Remedy)}
		}
	}
	return d, nil
}

// driverCall returns the way to run a script with a driver alone. warm returns how
// many sandboxes to keep ready for so many calls at once.
func (c *calls) driverCall(d sandbox.Driver, name string, warm func(atOnce int) int) func(context.Context, part) error {
	return func(ctx context.Context, p part) error {
		var stdout, stderr bytes.Buffer
		exit, err := d.Run(ctx, &sandbox.Command{
			RunID:  fmt.Sprintf("bench-%s-%d", c.id, c.run.Add(1)),
			Skill:  c.skill(name, p.script),
			Argv:   p.script.argv(),
			Folder: c.folder,
			Limits: sandbox.DefaultLimits(),
			Warm:   warm(p.atOnce),
			Stdout: &stdout, Stderr: &stderr,
		})
		if err != nil {
			return err
		}
		if exit.Code != 0 {
			return fmt.Errorf("exit code %d: %.500s", exit.Code, &stderr)
		}
		return check(stdout.String())
	}
}

// skill returns the name of a script's skill for one contender. No other skill on
// the engine has it, so containers are found by it.
func (c *calls) skill(contender string, script script) string {
	return strings.Join([]string{"bench", c.id, strings.ReplaceAll(contender, "@", "-"), script.name}, "-")
}

// labels returns those of a contender's containers.
func (c *calls) labels(contender string) []string {
	var all []string
	for _, script := range scripts() {
		all = append(all, label("skill", c.skill(contender, script)))
	}
	return all
}

// always keeps as many sandboxes ready as there are calls at once.
func always(atOnce int) int { return atOnce }

// never keeps none ready.
func never(int) int { return -1 }

func (c *calls) native(ctx context.Context, name string) (*contender, error) {
	d, err := checked(ctx, native.New(nil))
	if err != nil {
		return nil, err
	}
	return &contender{name: name, call: c.driverCall(d, name, always), close: d.Close}, nil
}

func (c *calls) dockerWarm(ctx context.Context, name string) (*contender, error) {
	return c.docker(ctx, name, "", always)
}

func (c *calls) dockerWarmRunsc(ctx context.Context, name string) (*contender, error) {
	const runtime = "runsc"
	if c.engine != nil {
		if _, has := c.engine.info.Runtimes[runtime]; !has {
			return nil, &absentError{"the engine has no runtime " + runtime}
		}
	}
	return c.docker(ctx, name, runtime, always)
}

func (c *calls) dockerCold(ctx context.Context, name string) (*contender, error) {
	return c.docker(ctx, name, "", never)
}

func (c *calls) docker(ctx context.Context, name, runtime string, warm func(int) int) (*contender, error) {
	if err := c.needImage(ctx); err != nil {
		return nil, err
	}
	d, err := checked(ctx, docker.New(&docker.Options{
		Images:  map[string]string{"default": c.image},
		Runtime: runtime,
		Host:    c.engine.host,
		Dir:     filepath.Join(c.dir, "state"),
	}))
	if err != nil {
		return nil, err
	}
	own := c.labels(name)
	one := &contender{
		name:   name,
		call:   c.driverCall(d, name, warm),
		settle: func(ctx context.Context) (int, error) { return c.engine.settle(ctx, own...) },
		close:  d.Close,
	}
	if warm(1) > 0 {
		one.memory = func(ctx context.Context) ([]holding, error) { return c.engine.holdings(ctx, own...) }
	}
	return one, nil
}

// openServer starts a server with one skill for each script.
func (c *calls) openServer(ctx context.Context, name, driver string, b binary) (*contender, error) {
	if driver == "native" {
		d, err := checked(ctx, native.New(nil))
		if err != nil {
			return nil, err
		}
		_ = d.Close() // it was never used
	} else if err := c.needImage(ctx); err != nil {
		return nil, err
	}
	home := filepath.Join(c.dir, name)
	if err := c.writeHome(home, driver, name); err != nil {
		return nil, err
	}
	var env []string
	if c.engine != nil {
		env = []string{"DOCKER_HOST=" + c.engine.host}
	}
	p, err := b.serve(home, serveOptions{env: env})
	if err != nil {
		return nil, err
	}
	if err := p.pipe.initialize(ctx); err != nil {
		return nil, errors.Join(err, p.close())
	}
	one := &contender{
		name: name, driver: "docker-warm", server: p, close: p.close,
		call: func(ctx context.Context, part part) error { return callTool(ctx, p, c.skill(name, part.script)) },
	}
	if driver == "native" {
		one.driver = "native"
		one.memory = func(context.Context) ([]holding, error) { return descendants(p.cmd.Process.Pid) }
	} else {
		one.settle = func(ctx context.Context) (int, error) { return c.engine.settle(ctx, c.labels(name)...) }
	}
	return one, nil
}

// writeHome writes a server's configuration and skills. Its slots are enough for
// all calls at once.
func (c *calls) writeHome(home, driver, name string) error {
	errs := []error{
		os.MkdirAll(filepath.Join(home, "work"), 0o755),
		catalog.Configure(home, len(scripts()), fmt.Sprintf("images: {default: %q}\nsandbox: {driver: %s, slots: {total: %[3]d, per_caller: %[3]d, queue: %[3]d}}\n",
			c.image, driver, 2*atOnce)),
	}
	for _, script := range scripts() {
		skill := c.skill(name, script)
		folder := filepath.Join(home, "skills", skill)
		errs = append(errs,
			writeFile(filepath.Join(folder, "SKILL.md"), fmt.Sprintf("---\nname: %s\ndescription: Prints a line.\nscript: %s\n---\n", skill, script.file)),
			writeFile(filepath.Join(folder, script.file), script.content))
	}
	return errors.Join(errs...)
}

// callTool calls a script's tool.
func callTool(ctx context.Context, p *process, tool string) error {
	reply, err := p.pipe.ask(ctx, question{"tools/call", tool, `"arguments":{}`})
	if err != nil {
		return err
	}
	var answer struct {
		Result struct {
			IsError bool
			Content []struct{ Text string }
		}
	}
	if err := json.Unmarshal(reply, &answer); err != nil {
		return err
	}
	if answer.Result.IsError || len(answer.Result.Content) != 1 {
		return fmt.Errorf("the tool answers %.500s", reply)
	}
	return check(strings.TrimSuffix(answer.Result.Content[0].Text, "\n") + "\n")
}

// descendants returns the memory of the processes below a server: its waiting
// sandboxes, and the process that forks them.
func descendants(server int) ([]holding, error) {
	children, err := childrenOf(strconv.Itoa(server))
	if err != nil {
		return nil, err
	}
	var all []holding
	for len(children) > 0 {
		pid := children[0]
		all = append(all, holding{own: pss(pid)})
		below, err := childrenOf(pid)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
		children = append(children[1:], below...)
	}
	return all, nil
}

// needImage returns an error where containers are impossible.
func (c *calls) needImage(ctx context.Context) error {
	if c.engine == nil {
		return &absentError{c.noEngine.Error()}
	}
	var image struct{ ID string }
	if err := c.engine.get(ctx, "/images/"+url.PathEscape(c.image)+"/json", nil, &image); err != nil {
		return &absentError{fmt.Sprintf("the engine at %s has no image %s (integration/engine makes it): %v", c.engine.host, c.image, err)}
	}
	return nil
}

// hardened returns the flags of docker run that come nearest to the driver's
// containers.
func (c *calls) hardened() []string {
	return []string{
		"--label", c.ownLabel(),
		"--network", "none", "--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges",
		"--user", "65534:65534", "--memory", "512m", "--pids-limit", "128", "--tmpfs", "/tmp",
		"--volume", c.folder + ":/skill:ro", "--workdir", "/skill",
	}
}

// ownLabel marks the containers that the docker command makes.
func (c *calls) ownLabel() string { return label("bench", c.id) }

// dockerCommand returns the docker command, if it and the engine are there.
func (c *calls) dockerCommand(ctx context.Context) (string, error) {
	if err := c.needImage(ctx); err != nil {
		return "", err
	}
	file, err := exec.LookPath("docker")
	if err != nil {
		return "", &absentError{"there is no docker command: " + err.Error()}
	}
	return file, nil
}

// clientEnv points the docker command at the engine, and away from a person's
// configuration.
func (c *calls) clientEnv() []string {
	return []string{"DOCKER_HOST=" + c.engine.host, "HOME=" + c.dir}
}

func (c *calls) dockerRun(ctx context.Context, name string) (*contender, error) {
	docker, err := c.dockerCommand(ctx)
	if err != nil {
		return nil, err
	}
	argv := slices.Concat([]string{docker, "run", "--rm"}, c.hardened(), []string{c.image})
	return &contender{
		name: name,
		call: func(ctx context.Context, p part) error {
			return execute(ctx, c.dir, c.clientEnv(), slices.Concat(argv, p.script.argv())...)
		},
		close: func() error { return c.removeOwn(docker) },
	}, nil
}

func (c *calls) dockerExec(ctx context.Context, name string) (*contender, error) {
	docker, err := c.dockerCommand(ctx)
	if err != nil {
		return nil, err
	}
	run := slices.Concat([]string{"run", "--detach"}, c.hardened(), []string{c.image, "sleep", "infinity"})
	id, err := c.command(ctx, docker, run...)
	if err != nil {
		return nil, errors.Join(err, c.removeOwn(docker))
	}
	return &contender{
		name: name,
		call: func(ctx context.Context, p part) error {
			return execute(ctx, c.dir, c.clientEnv(), slices.Concat([]string{docker, "exec", id}, p.script.argv())...)
		},
		close: func() error { return c.removeOwn(docker) },
	}, nil
}

// command runs the docker command and returns its output.
func (c *calls) command(ctx context.Context, docker string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, docker, args...)
	cmd.Env = append(c.clientEnv(), "PATH="+searchPath)
	out, err := cmd.Output()
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		err = fmt.Errorf("%w: %.500s", err, failed.Stderr)
	}
	if err != nil {
		return "", fmt.Errorf("docker %s: %w", args[0], err)
	}
	return strings.TrimSpace(string(out)), nil
}

// removeOwn removes the containers that the docker command made, also after an
// interrupt.
func (c *calls) removeOwn(docker string) error {
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	for {
		left, err := c.engine.containers(ctx, c.ownLabel())
		if err != nil || len(left) == 0 {
			return err
		}
		var errs []error
		for _, one := range left {
			_, err := c.command(ctx, docker, "rm", "--force", "--volumes", one.ID)
			errs = append(errs, err)
		}
		// One that removes itself is in nobody's way, but is still listed.
		if err := pause(ctx, poll); err != nil {
			return errors.Join(append(errs, err)...)
		}
	}
}
