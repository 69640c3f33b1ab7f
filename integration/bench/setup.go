package main

import (
	"context"
	"crypto/rand"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// A suite is one set of measurements. It holds the values of its own flags.
type suite struct {
	name, about string
	duration    time.Duration       // the default of --duration; 0 for a suite without it
	flags       func(*flag.FlagSet) // adds the flags
	quick       func(*options)      // sets the flags to those of --quick
	check       func() error        // returns the first wrong flag
	// measure adds results to the report, also before an error.
	measure func(context.Context, *setup, *report) error
}

// options are the flags that all suites have.
type options struct {
	quick    bool
	json     bool
	markdown bool
	binary   string        // the server; "" builds it
	against  string        // an older server; "" compares with none
	duration time.Duration // of measuring each case, all contenders together
}

// atOnce is how many requests or calls are under way in sustained measurements.
const atOnce = 8

// A setup holds the state that contenders share.
type setup struct {
	*options
	log      io.Writer
	id       string   // of this run, in labels and names
	dir      string   // holds all files of this run
	binaries []binary // the server, and the older one with --against
}

// A binary is one skills-mcp.
type binary struct {
	file   string
	suffix string // of the names of its contenders
}

// newSetup makes a folder, which the caller removes.
func newSetup(ctx context.Context, o *options, log io.Writer) (*setup, error) {
	dir, err := os.MkdirTemp("", "skills-mcp-bench-")
	if err != nil {
		return nil, err
	}
	s := &setup{options: o, log: log, id: strings.ToLower(rand.Text()[:10]), dir: dir}
	// Some contenders read it as nobody.
	if err := os.Chmod(dir, 0o755); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return s, nil
}

// servers returns the binaries to measure. It builds the first where no flag
// names it.
func (s *setup) servers(ctx context.Context) ([]binary, error) {
	if s.binaries != nil {
		return s.binaries, nil
	}
	file, err := filepath.Abs(s.binary)
	if s.binary == "" {
		file, err = s.build(ctx)
	}
	if err != nil {
		return nil, err
	}
	all := []binary{{file, ""}}
	if s.against != "" {
		older, err := filepath.Abs(s.against)
		if err != nil {
			return nil, err
		}
		all = append(all, binary{older, olderSuffix})
	}
	s.binaries = all
	return all, nil
}

func (s *setup) build(ctx context.Context) (string, error) {
	fmt.Fprintln(s.log, "bench: building skills-mcp")
	file := filepath.Join(s.dir, "skills-mcp")
	build := exec.CommandContext(ctx, "go", "build", "-o", file, "github.com/skillsmcp/skills-mcp/cmd/skills-mcp")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build skills-mcp: %w\n%s", err, out)
	}
	return file, nil
}

// writeFile writes a file that every user may read, and the folders above it.
func writeFile(path, content string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(content), 0o644)
}
