package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/skillsmcp/skills-mcp/sandbox/native"
)

func (s *setup) serveNative(ctx context.Context, name string) (*contender, error) {
	d := native.New(nil)
	if err := closed(d, works(ctx, d)); err != nil {
		return nil, err
	}
	p, err := s.serve(ctx, name, "native")
	if err != nil {
		return nil, err
	}
	return &contender{
		name:   name,
		call:   p.call,
		memory: func(context.Context) ([]holding, error) { return waitingInits(p.cmd.Process.Pid) },
		close:  p.close,
	}, nil
}

func (s *setup) serveDocker(ctx context.Context, name string) (*contender, error) {
	if err := s.needImage(ctx); err != nil {
		return nil, err
	}
	p, err := s.serve(ctx, name, "docker")
	if err != nil {
		return nil, err
	}
	return &contender{
		name:   name,
		call:   p.call,
		settle: func(ctx context.Context) (int, error) { return s.engine.settle(ctx, s.labels(name)...) },
		shows:  true,
		close:  p.close,
	}, nil
}

// A server is a process "skills-mcp serve" and its client.
type server struct {
	cmd    *exec.Cmd
	client *client
	stderr *os.File
	tool   func(script) string
}

// serve starts a server with one skill for each script, for the contender of a
// name.
func (s *setup) serve(ctx context.Context, name, driver string) (*server, error) {
	program, err := s.server(ctx)
	if err != nil {
		return nil, err
	}
	home := filepath.Join(s.dir, name)
	p := &server{tool: func(script script) string { return s.skill(name, script) }}
	if err := s.writeHome(home, driver, p.tool); err != nil {
		return nil, err
	}
	if p.stderr, err = os.Create(filepath.Join(home, "stderr")); err != nil {
		return nil, err
	}
	// It is ended by the end of its input, and by a kill only where that does
	// not help: it has to clean up.
	p.cmd = exec.Command(program, "serve", "--config", filepath.Join(home, "config.yaml"))
	p.cmd.Dir = home
	p.cmd.Stderr = p.stderr
	p.cmd.Env = []string{"HOME=" + home, "XDG_CACHE_HOME=" + filepath.Join(home, "cache"), "XDG_CONFIG_HOME=" + home, "PATH=" + searchPath}
	if s.engine != nil {
		p.cmd.Env = append(p.cmd.Env, "DOCKER_HOST="+s.engine.host)
	}
	if p.client, err = connect(p.cmd); err != nil {
		return nil, errors.Join(err, p.stderr.Close())
	}
	if err := p.client.initialize(ctx); err != nil {
		return nil, errors.Join(err, p.close())
	}
	return p, nil
}

// writeHome writes the server's configuration and skills. Its slots are for as
// many calls at once as are measured.
func (s *setup) writeHome(home, driver string, name func(script) string) error {
	config := fmt.Sprintf(`skills: [skills]
roots: {session: false, user: false, system: false, samples: false}
images: {default: %q}
sandbox: {driver: %s, slots: {total: %[3]d, per_caller: %[3]d, queue: %[3]d}}
`, s.image, driver, 2*atOnce)
	errs := []error{writeFile(filepath.Join(home, "config.yaml"), config)}
	for _, script := range scripts() {
		folder := filepath.Join(home, "skills", name(script))
		manifest := fmt.Sprintf("---\nname: %s\ndescription: Prints a line.\nscript: %s\n---\n", name(script), script.file)
		errs = append(errs,
			writeFile(filepath.Join(folder, "SKILL.md"), manifest),
			writeFile(filepath.Join(folder, script.file), script.content))
	}
	return errors.Join(errs...)
}

// call calls a script's tool.
func (s *server) call(ctx context.Context, p part) error {
	answer, err := s.client.request(ctx, "tools/call", map[string]any{"name": s.tool(p.script), "arguments": map[string]any{}})
	if err != nil {
		return err
	}
	var result struct {
		IsError bool
		Content []struct{ Text string }
	}
	if err := json.Unmarshal(answer, &result); err != nil {
		return err
	}
	if result.IsError || len(result.Content) != 1 {
		return fmt.Errorf("the tool answers %.500s", answer)
	}
	return check(strings.TrimSuffix(result.Content[0].Text, "\n") + "\n")
}

// close ends the server as a client does, and says what it has logged if that
// does not go well.
func (s *server) close() error {
	kill := time.AfterFunc(closeTimeout, func() { _ = s.cmd.Process.Kill() })
	defer kill.Stop()
	err := s.client.close()
	if wait := s.cmd.Wait(); wait != nil {
		err = errors.Join(err, fmt.Errorf("the server ended with %w", wait))
	}
	if err != nil {
		said, _ := os.ReadFile(s.stderr.Name())
		err = fmt.Errorf("%w; it said: %.2000s", err, said)
	}
	return errors.Join(err, s.stderr.Close())
}
