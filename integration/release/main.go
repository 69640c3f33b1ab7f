// Command release builds the files of a release: for each platform an MCP bundle, which
// clients install with a click, an archive, and packages of Linux systems and npm; then
// what names them: Homebrew's formula, server.json for the MCP registry, a bill of
// materials and digests. It writes the same bytes for the same source.
//
//	go run ./integration/release --help
package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run runs the command and returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	o, err := parse(args, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err != nil {
		return 2
	}
	if err := o.write(ctx, stdout); err != nil {
		fmt.Fprintln(stderr, "release:", err)
		return 1
	}
	return 0
}

// options are the values of the flags.
type options struct {
	version   string
	out       string
	platforms []platform
}

// versions matches Semantic Versioning without build metadata.
var versions = regexp.MustCompile(`^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$`)

func parse(args []string, stderr io.Writer) (*options, error) {
	o := &options{platforms: platforms()}
	flags := flag.NewFlagSet("release", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&o.out, "out", "dist", "write to `FOLDER`, which is made")
	flags.Func("version", "release `VERSION`, such as 1.2.3; its tag is v1.2.3", func(s string) error {
		if o.version = strings.TrimPrefix(s, "v"); !versions.MatchString(o.version) {
			return errors.New("write it like 1.2.3")
		}
		return nil
	})
	flags.Func("platforms", "only for these platforms, such as linux/amd64,windows/arm64 (default all)", func(s string) (err error) {
		o.platforms, err = parsePlatforms(s)
		return err
	})
	flags.Usage = func() {
		fmt.Fprint(stderr, `Usage: go run ./integration/release --version VERSION [--out FOLDER]

Builds the program for each platform and writes to FOLDER:

  skills-mcp-VERSION-SYSTEM-ARCHITECTURE.mcpb    a bundle for MCP clients
  …-SYSTEM-ARCHITECTURE.tar.gz, .zip             the program with its manual pages,
                                                 completions and licences
  …-linux-ARCHITECTURE.deb, .rpm                 packages of Debian and Red Hat
  skills-mcp-VERSION.tgz                         the npm package, which npx starts
  skills-mcp-SYSTEM-CPU-VERSION.tgz              npm packages that it depends on
  skills-mcp.rb                                  Homebrew's formula
  server.json                                    what the MCP registry is told
  skills-mcp-VERSION.cdx.json                    the modules in the program (CycloneDX)
  SHA256SUMS                                     the digests of all files

Run it from the top of a checkout of the tag. The files are the assets of the
release of that tag; server.json has the addresses that they get there, and
their digests.

`)
		flags.PrintDefaults()
	}
	err := flags.Parse(args)
	switch {
	case err != nil:
		return nil, err
	case flags.NArg() > 0:
		err = fmt.Errorf("unknown argument %q", flags.Arg(0))
	case o.version == "":
		err = errors.New("--version is missing")
	}
	if err != nil {
		fmt.Fprintf(stderr, "release: %v (see --help)\n", err)
	}
	return o, err
}

// write writes the files of each platform, and then those that name them, so that all
// that these name exist.
func (o *options) write(ctx context.Context, log io.Writer) error {
	if err := os.MkdirAll(o.out, 0o755); err != nil {
		return err
	}
	r, err := o.release(ctx)
	if err != nil {
		return err
	}
	w := &writer{folder: o.out, log: log, digests: map[string]string{}}
	d, err := document(ctx, r.day)
	if err != nil {
		return err
	}
	linked, called := map[string]*debug.Module{}, ""
	for _, p := range o.platforms {
		b, err := build(ctx, p, o.version)
		if err != nil {
			return fmt.Errorf("build for %s: %w", p, err)
		}
		r.Module, called = b.main.Path, b.main.Version
		for _, m := range b.linked {
			linked[m.Path] = m
		}
		if err := w.platform(r, p, b, d); err != nil {
			return fmt.Errorf("package for %s: %w", p, err)
		}
	}
	if called != "v"+o.version {
		fmt.Fprintf(log, "note: Go calls this checkout %s; a release is made in a clean checkout of the tag v%s\n", called, o.version)
	}
	return w.common(r, linked)
}

// release returns the values that are known before the program is built.
func (o *options) release(ctx context.Context) (r *release, err error) {
	r = &release{Version: o.version, Platforms: platforms(), day: time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)}
	if text, err := exec.CommandContext(ctx, "git", "log", "-1", "--format=%ct").Output(); err == nil {
		if seconds, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil {
			r.day = time.Unix(seconds, 0).UTC()
		}
	}
	if r.readme, err = os.ReadFile("README.md"); err != nil {
		return nil, fmt.Errorf("not at the top of a checkout: %w", err)
	}
	r.licence, err = os.ReadFile("LICENSE")
	return r, err
}

// A writer writes the files of a release, and notes their digests.
type writer struct {
	folder  string
	log     io.Writer
	digests map[string]string // SHA-256 in hex, by file name
}

// platform writes all files with the program of one platform.
func (w *writer) platform(r *release, p platform, b *built, d *documents) error {
	bundle, err := b.bundle(*r, p)
	if err != nil {
		return err
	}
	name := fmt.Sprintf("skills-mcp-%s-%s-%s.mcpb", r.Version, p.OS, p.Arch)
	if err := w.save(name, bundle); err != nil {
		return err
	}
	r.Assets = append(r.Assets, asset{name, w.digests[name]})
	name, data, err := b.archive(*r, p, d)
	if err != nil {
		return err
	}
	if err := w.save(name, data); err != nil {
		return err
	}
	r.brewed(p, asset{name, w.digests[name]})
	if name, data, err = b.npmPlatform(*r, p); err != nil {
		return err
	}
	if err := w.save(name, data); err != nil || p.OS != "linux" {
		return err
	}
	packages, err := b.linuxPackages(*r, p, d)
	for _, name := range slices.Sorted(maps.Keys(packages)) {
		err = errors.Join(err, w.save(name, packages[name]))
	}
	return err
}

// common writes the files of all platforms. SHA256SUMS is the last.
func (w *writer) common(r *release, linked map[string]*debug.Module) error {
	name, launcher, err := r.npmLauncher()
	if err != nil {
		return err
	}
	materials, err := r.bom(linked)
	if err != nil {
		return err
	}
	server, err := render("server.json", r)
	if err != nil {
		return err
	}
	formula, err := render("formula.rb", r)
	if err != nil {
		return err
	}
	for _, f := range []file{{name: name, data: launcher}, {name: "skills-mcp-" + r.Version + ".cdx.json", data: materials}, {name: "server.json", data: server}, {name: "skills-mcp.rb", data: formula}} {
		if err := w.save(f.name, f.data); err != nil {
			return err
		}
	}
	return w.save("SHA256SUMS", sums(w.digests))
}

// bundle returns the program as an MCP bundle: a ZIP file with a manifest.json.
func (b *built) bundle(r release, p platform) ([]byte, error) {
	manifest, err := r.manifest(p)
	if err != nil {
		return nil, err
	}
	return pack(append(slices.Clone(b.terms), file{"manifest.json", manifest, 0o644}, file{"server/" + p.Program(), b.program, 0o755}))
}

func (w *writer) save(name string, data []byte) error {
	w.digests[name] = fmt.Sprintf("%x", sha256.Sum256(data))
	file := filepath.Join(w.folder, name)
	if err := os.WriteFile(file, data, 0o644); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w.log, "%s (%d bytes)\n", file, len(data))
	return err
}
