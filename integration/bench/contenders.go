package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/skillsmcp/skills-mcp/integration/bench/catalog"
	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/sandbox/docker"
	"github.com/skillsmcp/skills-mcp/sandbox/native"
)

// A host holds what contenders run with.
type host struct {
	id, dir  string // of the bench
	scripts  []script
	folder   string  // the skill's: all scripts
	engine   *engine // nil for none
	noEngine error   // why engine is nil
	image    string  // of containers
	blocking bool    // servers have one request at a time
	run      atomic.Int64
}

// A contender is one way to run a script.
type contender struct {
	name string
	// call runs the script once and fails unless it printed its line. atOnce is
	// how many calls are under way.
	call func(ctx context.Context, s script, atOnce int) error
	// labels are those of its containers; nil for none.
	labels []string
	// unwatched says that its server gets no watches of files.
	unwatched bool
	// class is that of its skills; "" is safe. Its client confirms calls of another one.
	class string
	// more is more of its server's configuration.
	more string
	// env are more variables of its server.
	env []string
	// alone is the contender that is this one without its server; "" for none.
	alone string
	// server is nil for none.
	server *process
	// close releases all that it holds, also after an interrupt; nil for nothing.
	close func() error
}

// An entry is a contender that has not been set up.
type entry struct {
	name, about string
	// open sets it up. The caller closes the contender, also after an error.
	open opener
	// serves says that it is a server: each binary is a contender.
	serves bool
}

// An opener sets up the contender of a name. b is for servers.
type opener func(h *host, ctx context.Context, name string, b binary) (*contender, error)

// entries returns all contenders. Those that people compare are neighbours.
func entries() []entry {
	return []entry{
		{"bare", "the script on the host: nothing can be faster", (*host).bare, false},
		{"bwrap", "bubblewrap with all namespaces", (*host).bubblewrap, false},
		{"native", "the native driver", (*host).native, false},
		{"serve-native", "skills-mcp serve on the native driver: tools/call over stdio", (*host).serveNative, true},
		{"docker-warm", "the docker driver with its warm pool, runc", dockerDriver("", always), false},
		{"serve-docker", "skills-mcp serve on the docker driver: tools/call over stdio", (*host).serveDocker, true},
		{"docker-warm-runsc", "the same driver with gVisor, where the engine has a runtime runsc", dockerDriver("runsc", always), false},
		{"docker-cold", "the docker driver without its pool: each call starts its container", dockerDriver("", never), false},
		{"docker-exec", "docker exec into one running container: calls share it", (*host).dockerExec, false},
		{"docker-run", "docker run --rm with the sandbox's flags", (*host).dockerRun, false},
	}
}

// A script is run by every contender. It is in the suite's folder.
type script struct {
	name    string // "bash" or "python"
	program string
	file    string
	content string
	data    []int  // the sizes of further files
	about   string // of the folder; may be ""
}

// scripts do next to nothing, so that a figure is that of the contender.
func scripts() []script {
	return []script{
		{name: "bash", program: "bash", file: "run.sh", content: "echo " + printed + "\n"},
		{name: "python", program: "python3", file: "run.py", content: "print('" + printed + "')\n"},
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

// program returns the file of a program of the host.
func program(name string) (string, error) {
	for _, dir := range filepath.SplitList(searchPath) {
		file := filepath.Join(dir, name)
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return file, nil
		}
	}
	return "", fmt.Errorf("there is no %s in %s", name, searchPath)
}

// execute runs a program of the host in the skill's folder, with the environment
// of a sandbox, and returns its output.
func (h *host) execute(ctx context.Context, argv ...string) (string, error) {
	file, err := program(argv[0])
	if err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, file, argv[1:]...)
	cmd.Dir = h.folder
	// The docker command finds the engine, and no configuration of a person's.
	cmd.Env = append([]string{"PATH=" + searchPath, "LANG=C.UTF-8", "HOME=" + h.dir}, h.engineEnv()...)
	out, err := output(cmd)
	if err != nil {
		err = fmt.Errorf("%s: %w: %.500s", argv[0], err, out)
	}
	return string(out), err
}

// output returns the output of a program, of both kinds. It blocks in a read as
// the clients of servers do: a script on the host takes 0.1 ms longer with
// [exec.Cmd.Output], whose goroutines wait for one another.
func output(cmd *exec.Cmd) ([]byte, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	r.Fd() // makes it block
	cmd.Stdout, cmd.Stderr = w, w
	err = cmd.Start()
	_ = w.Close()
	if err != nil {
		return nil, err
	}
	out, err := io.ReadAll(r)
	return out, errors.Join(err, cmd.Wait())
}

// engineEnv returns the variable that points programs at the engine.
func (h *host) engineEnv() []string {
	if h.engine == nil {
		return nil
	}
	return []string{"DOCKER_HOST=" + h.engine.host}
}

// command returns a contender that puts words before the script's command.
func (h *host) command(name string, words ...string) *contender {
	return &contender{name: name, call: func(ctx context.Context, s script, _ int) error {
		out, err := h.execute(ctx, slices.Concat(words, s.argv())...)
		if err != nil {
			return err
		}
		return check(out)
	}}
}

func (h *host) bare(_ context.Context, name string, _ binary) (*contender, error) {
	return h.command(name), nil
}

func (h *host) bubblewrap(_ context.Context, name string, _ binary) (*contender, error) {
	return h.command(name, "bwrap", "--unshare-all", "--die-with-parent", "--new-session",
		"--ro-bind", "/usr", "/usr", "--symlink", "usr/bin", "/bin", "--symlink", "usr/lib", "/lib", "--symlink", "usr/lib64", "/lib64",
		"--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp",
		"--ro-bind", h.folder, "/skill", "--chdir", "/skill"), nil
}

// hardened returns the flags of docker run that come nearest to the driver's
// containers.
func (h *host) hardened() []string {
	return []string{
		"--label", h.ownLabel(),
		"--network", "none", "--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges",
		"--user", "65534:65534", "--memory", "512m", "--pids-limit", "128", "--tmpfs", "/tmp",
		"--volume", h.folder + ":/skill:ro", "--workdir", "/skill",
	}
}

// ownLabel marks the containers that the docker command makes.
func (h *host) ownLabel() string { return label("bench", h.id) }

func (h *host) dockerRun(_ context.Context, name string, _ binary) (*contender, error) {
	if h.engine == nil {
		return nil, h.noEngine
	}
	return h.command(name, slices.Concat([]string{"docker", "run", "--rm"}, h.hardened(), []string{h.image})...), nil
}

func (h *host) dockerExec(ctx context.Context, name string, _ binary) (*contender, error) {
	if h.engine == nil {
		return nil, h.noEngine
	}
	id, err := h.execute(ctx, slices.Concat([]string{"docker", "run", "--detach"}, h.hardened(), []string{h.image, "sleep", "infinity"})...)
	return h.command(name, "docker", "exec", strings.TrimSpace(id)), err
}

// driver returns a contender that runs scripts with a driver alone. warm returns
// how many sandboxes to keep ready for so many calls at once.
func (h *host) driver(name string, d sandbox.Driver, warm func(atOnce int) int) *contender {
	return &contender{name: name, close: d.Close, call: func(ctx context.Context, s script, atOnce int) error {
		var stdout, stderr bytes.Buffer
		exit, err := d.Run(ctx, &sandbox.Command{
			RunID:  fmt.Sprintf("bench-%s-%d", h.id, h.run.Add(1)),
			Skill:  h.skill(name, s),
			Argv:   s.argv(),
			Folder: h.folder,
			Limits: sandbox.DefaultLimits(),
			Warm:   warm(atOnce),
			Stdout: &stdout, Stderr: &stderr,
		})
		if err != nil {
			return err
		}
		if exit.Code != 0 {
			return fmt.Errorf("exit code %d: %.500s", exit.Code, &stderr)
		}
		return check(stdout.String())
	}}
}

// always keeps as many sandboxes ready as there are calls at once, and for one at a time
// as many as a skill has that asks for no number.
func always(atOnce int) int {
	if atOnce == 1 {
		return 0
	}
	return atOnce
}

// never keeps none ready.
func never(int) int { return -1 }

// skill returns the name of a script's skill for one contender. No other skill on
// the engine has it, so containers are found by it.
func (h *host) skill(contender string, s script) string {
	return strings.Join([]string{"bench", h.id, strings.ReplaceAll(contender, "@", "-"), s.name}, "-")
}

// labels returns those of a contender's containers.
func (h *host) labels(contender string) (all []string) {
	for _, s := range h.scripts {
		all = append(all, label("skill", h.skill(contender, s)))
	}
	return all
}

func (h *host) native(_ context.Context, name string, _ binary) (*contender, error) {
	return h.driver(name, native.New(nil), always), nil
}

// dockerDriver returns the opener of a contender on the docker driver.
func dockerDriver(runtime string, warm func(int) int) opener {
	return func(h *host, _ context.Context, name string, _ binary) (*contender, error) {
		if h.engine == nil {
			return nil, h.noEngine
		}
		one := h.driver(name, docker.New(&docker.Options{
			Images:  map[string]string{"default": h.image},
			Runtime: runtime,
			Host:    h.engine.host,
			Dir:     filepath.Join(h.dir, "state"),
		}), warm)
		one.labels = h.labels(name)
		return one, nil
	}
}

func (h *host) serveNative(ctx context.Context, name string, b binary) (*contender, error) {
	return h.serve(ctx, &contender{name: name, alone: "native"}, "native", b)
}

func (h *host) serveDocker(ctx context.Context, name string, b binary) (*contender, error) {
	if h.engine == nil {
		return nil, h.noEngine
	}
	return h.serve(ctx, &contender{name: name, alone: "docker-warm", labels: h.labels(name)}, "docker", b)
}

// serve starts a contender's server, with one skill for each script.
func (h *host) serve(ctx context.Context, one *contender, driver string, b binary) (*contender, error) {
	if err := h.writeHome(one, driver); err != nil {
		return nil, err
	}
	start := b.serve
	if one.unwatched {
		start = b.serveUnwatched
	}
	p, err := start(h.home(one.name), serveOptions{env: slices.Concat(h.engineEnv(), one.env), blocking: h.blocking})
	if err != nil {
		return nil, err
	}
	one.server, one.close = p, p.close
	p.pipe.confirms = one.class != ""
	one.call = func(ctx context.Context, s script, _ int) error { return callTool(ctx, p, h.skill(one.name, s)) }
	return one, p.pipe.initialize(ctx)
}

// home returns the home folder of a contender's server, and skillFolder the folder
// of one of its skills.
func (h *host) home(contender string) string { return filepath.Join(h.dir, contender) }

func (h *host) skillFolder(contender string, s script) string {
	return filepath.Join(h.home(contender), "skills", h.skill(contender, s))
}

// writeHome writes a server's configuration and skills. Its slots are enough for
// all calls at once.
func (h *host) writeHome(one *contender, driver string) error {
	home, class := h.home(one.name), cmp.Or(one.class, "safe")
	errs := []error{
		os.MkdirAll(filepath.Join(home, "work"), 0o755),
		catalog.Configure(home, len(h.scripts), fmt.Sprintf("images: {default: %q}\nsandbox: {driver: %s, slots: {total: %[3]d, per_caller: %[3]d, queue: %[3]d}}\n",
			h.image, driver, 2*atOnce)+one.more),
	}
	for _, s := range h.scripts {
		folder := h.skillFolder(one.name, s)
		errs = append(errs,
			writeFile(filepath.Join(folder, "SKILL.md"), fmt.Sprintf("---\nname: %s\ndescription: Prints a line.\nclass: %s\nscript: %s\n---\n", filepath.Base(folder), class, s.file)),
			writeFile(filepath.Join(folder, s.file), s.content))
		for i, size := range s.data {
			errs = append(errs, writeFile(filepath.Join(folder, fmt.Sprintf("data-%03d", i)), strings.Repeat(string(rune('a'+i%26)), size)))
		}
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
