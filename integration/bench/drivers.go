package main

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/sandbox/docker"
	"github.com/skillsmcp/skills-mcp/sandbox/native"
)

// pause waits for duration, or for the end of ctx.
func pause(ctx context.Context, duration time.Duration) error {
	timer := time.NewTimer(duration)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// A checker is a driver that can say whether it works here.
type checker interface {
	sandbox.Driver
	Check(ctx context.Context) []sandbox.Finding
}

// works is what a driver lacks on this machine.
func works(ctx context.Context, d checker) error {
	for _, f := range d.Check(ctx) {
		if f.Level == sandbox.LevelFailed {
			return &absentError{fmt.Sprintf("%s: %s (%s)", f.Subject, f.Detail, f.Remedy)}
		}
	}
	return nil
}

// calls returns the way to run a script with a driver alone, for the contender
// of a name. warm says how many
// sandboxes to have ready for so many calls at once.
func (s *setup) calls(d sandbox.Driver, name string, warm func(atOnce int) int) func(context.Context, part) error {
	var last atomic.Int64
	return func(ctx context.Context, p part) error {
		var stdout, stderr bytes.Buffer
		exit, err := d.Run(ctx, &sandbox.Command{
			RunID:  fmt.Sprintf("bench-%s-%d", s.id, last.Add(1)),
			Skill:  s.skill(name, p.script),
			Argv:   p.script.argv(),
			Folder: s.folder,
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

// skill is the name of a script's skill for one contender. Nobody else on the
// engine has one of that name, so that containers can be told by it.
func (s *setup) skill(contender string, script script) string {
	return strings.Join([]string{"bench", s.id, contender, script.name}, "-")
}

// labels are those of a contender's containers.
func (s *setup) labels(contender string) []string {
	var all []string
	for _, script := range scripts() {
		all = append(all, label("skill", s.skill(contender, script)))
	}
	return all
}

// ready has as many sandboxes ready as there are calls at once.
func ready(atOnce int) int { return atOnce }

// never has none.
func never(int) int { return -1 }

func (s *setup) native(ctx context.Context, name string) (*contender, error) {
	d := native.New(nil)
	if err := works(ctx, d); err != nil {
		return nil, closed(d, err)
	}
	return &contender{
		name:  name,
		call:  s.calls(d, name, ready),
		close: d.Close,
	}, nil
}

func (s *setup) dockerWarm(ctx context.Context, name string) (*contender, error) {
	return s.docker(ctx, name, "", ready)
}

func (s *setup) dockerWarmRunsc(ctx context.Context, name string) (*contender, error) {
	const runtime = "runsc"
	if s.engine != nil {
		if _, has := s.engine.info.Runtimes[runtime]; !has {
			return nil, &absentError{"the engine has no runtime " + runtime}
		}
	}
	return s.docker(ctx, name, runtime, ready)
}

func (s *setup) dockerCold(ctx context.Context, name string) (*contender, error) {
	return s.docker(ctx, name, "", never)
}

func (s *setup) docker(ctx context.Context, name, runtime string, warm func(int) int) (*contender, error) {
	if err := s.needImage(ctx); err != nil {
		return nil, err
	}
	d := docker.New(&docker.Options{
		Images:  map[string]string{"default": s.image},
		Runtime: runtime,
		Host:    s.engine.host,
		Dir:     filepath.Join(s.dir, "state"),
	})
	if err := works(ctx, d); err != nil {
		return nil, closed(d, err)
	}
	own := s.labels(name)
	c := &contender{
		name:   name,
		call:   s.calls(d, name, warm),
		settle: func(ctx context.Context) (int, error) { return s.engine.settle(ctx, own...) },
		shows:  true,
		close:  d.Close,
	}
	if warm(1) > 0 {
		c.memory = func(ctx context.Context) ([]holding, error) { return s.engine.holdings(ctx, own...) }
	}
	return c, nil
}

// label is a filter for containers.
func label(key, value string) string { return "skills-mcp." + key + "=" + value }

// closed closes a driver that is not used after all.
func closed(d sandbox.Driver, err error) error {
	_ = d.Close() // err is the reason for both
	return err
}
