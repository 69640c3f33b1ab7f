package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// A suite is one set of measurements. It holds the values of its own flags.
type suite struct {
	name, about string
	duration    time.Duration       // the default of --duration; 0 for a suite without it
	flags       func(*flag.FlagSet) // adds the flags
	quick       []string            // the flags that --quick sets, as NAME=VALUE
	// measure adds results to the report, also before an error.
	measure func(context.Context, *bench) error
}

// A bench is one run of a suite.
type bench struct {
	report
	suite    suite
	markdown bool
	binary   string        // the server; "" builds it
	against  string        // an older server; "" compares with none
	duration time.Duration // of measuring each case, all contenders together
	log      io.Writer
	id       string   // of this run, in labels and names
	dir      string   // holds all files of this run
	binaries []binary // see servers
}

// A binary is one skills-mcp.
type binary struct {
	file   string
	suffix string // of the names of its contenders
}

// run measures the suite. The report holds all figures so far, also with an
// error.
func (b *bench) run(ctx context.Context) (err error) {
	b.Suite, b.Machine = b.suite.name, thisMachine()
	if b.dir, err = os.MkdirTemp("", "skills-mcp-bench-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(b.dir)) }()
	if err := os.Chmod(b.dir, 0o755); err != nil { // some contenders read it as nobody
		return err
	}
	return b.suite.measure(ctx, b)
}

// servers returns the binaries to measure. It builds the first where no flag
// names it.
func (b *bench) servers(ctx context.Context) (all []binary, err error) {
	if b.binaries != nil {
		return b.binaries, nil
	}
	file := b.binary
	if file == "" {
		file, err = b.build(ctx, "skills-mcp", "github.com/skillsmcp/skills-mcp/cmd/skills-mcp")
	}
	file, err2 := filepath.Abs(file)
	all = []binary{{file, ""}}
	if b.against != "" {
		older, err := filepath.Abs(b.against)
		if err != nil {
			return nil, err
		}
		all = append(all, binary{older, olderSuffix})
	}
	if err := errors.Join(err, err2); err != nil {
		return nil, err
	}
	b.binaries = all
	return all, nil
}

// build builds a package, or a program of one file, which flags may precede.
func (b *bench) build(ctx context.Context, name string, source ...string) (string, error) {
	fmt.Fprintln(b.log, "bench: building", name)
	file := filepath.Join(b.dir, name)
	build := exec.CommandContext(ctx, "go", append([]string{"build", "-o", file}, source...)...)
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build %s: %w\n%s", name, err, out)
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
