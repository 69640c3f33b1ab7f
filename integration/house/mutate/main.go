// Command mutate changes the product code in one random place at a time, and prints the
// changes that no test finds. It measures the tests, not the code. Packages of tests
// (sandboxtest, …) stay as they are.
//
//	go run ./integration/house/mutate [-n 100] [-seed 1] [-run PATTERN] [PACKAGE…]
//
// A change is given to the compiler beside the files, which stay as they are. It meets the
// tests of its package first, then those of the packages that import it, then the tests
// of ./integration that -run names. One that does not compile is replaced by another.
// Survivors are printed with their place; the last line counts them.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

func main() {
	os.Exit(execute(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
}

// limit is the time of one command of go test.
const limit = 5 * time.Minute

// execute runs the command and returns its exit code.
func execute(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("mutate", flag.ContinueOnError)
	flags.SetOutput(stderr)
	n := flags.Int("n", 100, "make `N` changes")
	seed := flags.Uint64("seed", 1, "choose them by `SEED`")
	run := flags.String("run", "TestCommandLine", "run the tests of ./integration that match `PATTERN`; none if empty")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0
		}
		return 2
	}
	patterns := flags.Args()
	if len(patterns) == 0 {
		patterns = []string{"./cmd/...", "./server/...", "./skills/...", "./sandbox/..."}
	}
	m, err := newMeasurement(ctx, patterns, *run)
	if err == nil {
		err = m.measure(ctx, *n, rand.New(rand.NewPCG(*seed, 0)), stdout)
	}
	if err != nil {
		fmt.Fprintln(stderr, "mutate:", err)
		return 1
	}
	return 0
}

// A measurement has the module's packages.
type measurement struct {
	integration string              // the pattern of its tests
	changes     []*change           // all that can be made
	importers   map[string][]string // of a package, by import path
}

// A listed package is a line of go list.
type listed struct {
	ImportPath, Dir string
	GoFiles         []string
	Imports         []string
	TestGoFiles     []string
	XTestGoFiles    []string
}

func newMeasurement(ctx context.Context, patterns []string, integration string) (*measurement, error) {
	m := &measurement{integration: integration, importers: map[string][]string{}}
	all, err := list(ctx, "./...")
	if err != nil {
		return nil, err
	}
	for _, p := range all {
		for _, imported := range p.Imports {
			if len(p.TestGoFiles)+len(p.XTestGoFiles) > 0 {
				m.importers[imported] = append(m.importers[imported], p.ImportPath)
			}
		}
	}
	chosen, err := list(ctx, patterns...)
	if err != nil {
		return nil, err
	}
	for _, p := range chosen {
		if strings.HasSuffix(p.ImportPath, "test") {
			continue // a suite or a helper of tests: nothing finds an assertion that holds
		}
		for _, name := range p.GoFiles {
			changes, err := changesOf(p.ImportPath, filepath.Join(p.Dir, name))
			if err != nil {
				return nil, err
			}
			m.changes = append(m.changes, changes...)
		}
	}
	if len(m.changes) == 0 {
		return nil, errors.New("there is nothing to change")
	}
	return m, nil
}

func list(ctx context.Context, patterns ...string) (all []*listed, err error) {
	out, err := exec.CommandContext(ctx, "go", append([]string{"list", "-json=ImportPath,Dir,GoFiles,Imports,TestGoFiles,XTestGoFiles"}, patterns...)...).Output()
	if err != nil {
		return nil, fmt.Errorf("list the packages: %w", err)
	}
	decoder := json.NewDecoder(strings.NewReader(string(out)))
	for decoder.More() {
		p := &listed{}
		if err := decoder.Decode(p); err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}

// measure makes n changes and prints those that survive.
func (m *measurement) measure(ctx context.Context, n int, random *rand.Rand, w io.Writer) error {
	dir, err := os.MkdirTemp("", "mutate-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	survivors, made := 0, 0
	for _, i := range random.Perm(len(m.changes)) {
		if made == n {
			break
		}
		c := m.changes[i]
		overlay, err := c.write(dir)
		if err != nil {
			return err
		}
		if test(ctx, overlay, "-run", "^$", c.pkg) != nil {
			continue // it does not compile
		}
		made++
		if killer := m.killer(ctx, overlay, c); killer != "" {
			fmt.Fprintf(w, "%3d killed   %s, by %s\n", made, c, killer)
			continue
		}
		survivors++
		fmt.Fprintf(w, "%3d SURVIVES %s\n", made, c)
	}
	_, err = fmt.Fprintf(w, "%d of %d changes survive\n", survivors, made)
	return err
}

// killer returns the package whose tests find a change; "" for a survivor.
func (m *measurement) killer(ctx context.Context, overlay string, c *change) string {
	importers := slices.DeleteFunc(slices.Clone(m.importers[c.pkg]), func(p string) bool { return strings.Contains(p, "/integration") })
	for _, packages := range [][]string{{c.pkg}, importers} {
		if len(packages) > 0 && test(ctx, overlay, packages...) != nil {
			return strings.Join(packages, " or ")
		}
	}
	if m.integration != "" && test(ctx, overlay, "-run", m.integration, "./integration") != nil {
		return "./integration"
	}
	return ""
}

// test runs go test with the changed file. The variable reaches the builds that tests
// make, too.
func test(ctx context.Context, overlay string, args ...string) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, "go", append([]string{"test", "-vet=off"}, args...)...)
	cmd.Env = append(os.Environ(), "GOFLAGS="+strings.TrimSpace(os.Getenv("GOFLAGS")+" -overlay="+overlay))
	return cmd.Run()
}
