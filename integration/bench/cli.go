package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"
)

// closeTimeout bounds the removal of what a contender made.
const closeTimeout = time.Minute

// hardened are the flags of docker run that come nearest to the driver's
// containers.
func (s *setup) hardened() []string {
	return []string{
		"--label", s.ownLabel(),
		"--network", "none", "--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges",
		"--user", "65534:65534", "--memory", "512m", "--pids-limit", "128", "--tmpfs", "/tmp",
		"--volume", s.folder + ":/skill:ro", "--workdir", "/skill",
	}
}

// ownLabel marks the containers that are made with the docker command.
func (s *setup) ownLabel() string { return label("bench", s.id) }

// client returns the docker command, where it and the engine are there.
func (s *setup) client(ctx context.Context) (string, error) {
	if err := s.needImage(ctx); err != nil {
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
func (s *setup) clientEnv() []string {
	return []string{"DOCKER_HOST=" + s.engine.host, "HOME=" + s.dir}
}

func (s *setup) dockerRun(ctx context.Context, name string) (*contender, error) {
	docker, err := s.client(ctx)
	if err != nil {
		return nil, err
	}
	argv := append(append([]string{docker, "run", "--rm"}, s.hardened()...), s.image)
	return &contender{
		name: name,
		call: func(ctx context.Context, p part) error {
			return execute(ctx, s.dir, s.clientEnv(), append(argv[:len(argv):len(argv)], p.script.argv()...)...)
		},
		close: func() error { return s.removeOwn(docker) },
	}, nil
}

func (s *setup) dockerExec(ctx context.Context, name string) (*contender, error) {
	docker, err := s.client(ctx)
	if err != nil {
		return nil, err
	}
	run := append(append([]string{"run", "--detach"}, s.hardened()...), s.image, "sleep", "infinity")
	id, err := s.command(ctx, docker, run...)
	if err != nil {
		return nil, errors.Join(err, s.removeOwn(docker))
	}
	return &contender{
		name: name,
		call: func(ctx context.Context, p part) error {
			return execute(ctx, s.dir, s.clientEnv(), append([]string{docker, "exec", id}, p.script.argv()...)...)
		},
		close: func() error { return s.removeOwn(docker) },
	}, nil
}

// command runs the docker command and returns what it prints.
func (s *setup) command(ctx context.Context, docker string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, docker, args...)
	cmd.Env = append(s.clientEnv(), "PATH="+searchPath)
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

// removeOwn removes the containers that were made with the docker command. It
// is called after an interrupt too.
func (s *setup) removeOwn(docker string) error {
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	for {
		left, err := s.engine.containers(ctx, s.ownLabel())
		if err != nil || len(left) == 0 {
			return err
		}
		var errs []error
		for _, c := range left {
			_, err := s.command(ctx, docker, "rm", "--force", "--volumes", c.ID)
			errs = append(errs, err)
		}
		// One that removes itself is in nobody's way, but is still listed.
		if err := pause(ctx, poll); err != nil {
			return errors.Join(append(errs, err)...)
		}
	}
}
