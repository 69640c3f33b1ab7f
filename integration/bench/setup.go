package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
)

// A setup is what the contenders share.
type setup struct {
	*options
	log    io.Writer
	id     string // of this run, in the labels and names of what it makes
	dir    string // everything of this run's on disk
	folder string // the skill's: both scripts
	engine *engine
	// noEngine says why engine is nil.
	noEngine error
	// server returns the server's file, and builds it the first time.
	server func(ctx context.Context) (string, error)
}

// newSetup makes the folders, which the caller removes with close, and looks for
// an engine. Finding none is no error.
func newSetup(ctx context.Context, o *options, log io.Writer) (*setup, error) {
	dir, err := os.MkdirTemp("", "skills-mcp-bench-")
	if err != nil {
		return nil, err
	}
	s := &setup{options: o, log: log, id: strings.ToLower(rand.Text()[:10]), dir: dir}
	s.server = s.builder()
	if err := s.makeFolder(); err != nil {
		return nil, errors.Join(err, s.close())
	}
	s.engine, s.noEngine = findEngine(ctx, o.host)
	return s, nil
}

func (s *setup) close() error {
	if s.engine != nil {
		s.engine.client.CloseIdleConnections()
	}
	return os.RemoveAll(s.dir)
}

// makeFolder writes the scripts where every user may read them: some contenders
// run them as nobody.
func (s *setup) makeFolder() error {
	if err := os.Chmod(s.dir, 0o755); err != nil {
		return err
	}
	s.folder = filepath.Join(s.dir, "skill")
	if err := os.Mkdir(s.folder, 0o755); err != nil {
		return err
	}
	for _, script := range scripts() {
		if err := writeFile(filepath.Join(s.folder, script.file), script.content); err != nil {
			return err
		}
	}
	return nil
}

// writeFile writes a file that others may read, and the folders above it.
func writeFile(path, content string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(content), 0o644)
}

// builder returns the function that builds the server once.
func (s *setup) builder() func(ctx context.Context) (string, error) {
	var once sync.Once
	var file string
	var failure error
	return func(ctx context.Context) (string, error) {
		once.Do(func() { file, failure = s.build(ctx) })
		return file, failure
	}
}

func (s *setup) build(ctx context.Context) (string, error) {
	if s.binary != "" {
		return filepath.Abs(s.binary)
	}
	fmt.Fprintln(s.log, "bench: building skills-mcp")
	file := filepath.Join(s.dir, "skills-mcp")
	build := exec.CommandContext(ctx, "go", "build", "-o", file, "./cmd/skills-mcp")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build skills-mcp, which has to be done in the module's folder: %w\n%s", err, out)
	}
	return file, nil
}
