package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// A contender is one way to run a script.
type contender struct {
	name string
	// call runs the script once and fails unless it printed what it should.
	call func(ctx context.Context, p part) error
	// settle waits until the contender is as ready as it gets, and returns how
	// many sandboxes are waiting; nil has nothing to get ready.
	settle func(ctx context.Context) (waiting int, err error)
	// shows says that settle sees what is waiting.
	shows bool
	// memory is what its waiting sandboxes hold; nil where there are none.
	memory func(ctx context.Context) ([]holding, error)
	// close removes all that it made, also after an interrupt.
	close func() error
}

// A script is what every contender runs. It is in the setup's folder.
type script struct {
	name    string // "bash" or "python"
	program string
	file    string
	content string
}

// scripts do next to nothing, so that what is measured is what is around them.
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

// check is the error of a call that printed something else.
func check(output string) error {
	if output != printed+"\n" {
		return fmt.Errorf("it printed %.200q instead of %q", output, printed+"\n")
	}
	return nil
}

// An entry is a contender that has not been set up.
type entry struct {
	name, about string
	open        func(s *setup, ctx context.Context, name string) (*contender, error)
}

// entries are all contenders, in the order of their turns. Those that are
// compared with each other are neighbours.
func entries() []entry {
	return []entry{
		{"bare", "the script on the host: what nothing can beat", (*setup).bare},
		{"bwrap", "bubblewrap with all namespaces", (*setup).bubblewrap},
		{"native", "the native driver", (*setup).native},
		{"serve-native", "skills-mcp serve on the native driver: tools/call over stdio", (*setup).serveNative},
		{"docker-warm", "the docker driver with its warm pool, runc", (*setup).dockerWarm},
		{"serve-docker", "skills-mcp serve on the docker driver: tools/call over stdio", (*setup).serveDocker},
		{"docker-warm-runsc", "the same driver with gVisor, where the engine has a runtime runsc", (*setup).dockerWarmRunsc},
		{"docker-cold", "the docker driver without its pool: each call starts its container", (*setup).dockerCold},
		{"docker-exec", "docker exec into one running container: calls share it", (*setup).dockerExec},
		{"docker-run", "docker run --rm with the sandbox's flags", (*setup).dockerRun},
	}
}

// An absentError says what the machine lacks for a contender.
type absentError struct{ what string }

func (e *absentError) Error() string { return e.what }

// open sets up the contenders that were asked for. Those that are not to be had
// are in absent, unless they were asked for by name.
func (s *setup) open(ctx context.Context) (contenders []*contender, absent []absence, err error) {
	for _, e := range entries() {
		if len(s.only) > 0 && !slices.Contains(s.only, e.name) {
			continue
		}
		c, err := s.try(ctx, e)
		var lacking *absentError
		if errors.As(err, &lacking) && len(s.only) == 0 {
			absent = append(absent, absence{e.name, lacking.what})
			continue
		}
		if err != nil {
			return contenders, absent, fmt.Errorf("set up %s: %w", e.name, err)
		}
		contenders = append(contenders, c)
	}
	return contenders, absent, nil
}

// try sets up a contender and lets it run a script, which shows whether what the
// machine has also works.
func (s *setup) try(ctx context.Context, e entry) (*contender, error) {
	c, err := e.open(s, ctx, e.name)
	if err != nil {
		return nil, err
	}
	if err := c.call(ctx, part{scripts()[0], 1}); err != nil {
		var failure error = &absentError{fmt.Sprintf("it does not work here: %v", err)}
		if ctx.Err() != nil {
			failure = context.Cause(ctx)
		}
		return nil, errors.Join(failure, closeAll([]*contender{c}))
	}
	return c, nil
}

// closeAll closes contenders, and reports all that failed.
func closeAll(contenders []*contender) error {
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
