// Command release builds the files of a release: an MCP bundle (.mcpb) for each
// platform, which clients install with a click, and server.json for the MCP
// registry. It writes the same bytes for the same source.
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
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
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

  skills-mcp-VERSION-SYSTEM-ARCHITECTURE.mcpb  a bundle for MCP clients
  server.json                                  what the MCP registry is told

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

// write writes a bundle for each platform and then server.json, so that all
// files that server.json names exist.
func (o *options) write(ctx context.Context, log io.Writer) error {
	if err := os.MkdirAll(o.out, 0o755); err != nil {
		return err
	}
	r, called := release{Version: o.version}, ""
	for _, p := range o.platforms {
		b, err := build(ctx, p)
		if err != nil {
			return fmt.Errorf("build for %s: %w", p, err)
		}
		r.Module, called = b.main.Path, b.main.Version
		data, err := b.bundle(r, p)
		if err != nil {
			return fmt.Errorf("bundle for %s: %w", p, err)
		}
		name := fmt.Sprintf("skills-mcp-%s-%s-%s.mcpb", o.version, p.OS, p.Arch)
		r.Assets = append(r.Assets, asset{name, fmt.Sprintf("%x", sha256.Sum256(data))})
		if err := o.save(name, data, log); err != nil {
			return err
		}
	}
	if called != "v"+o.version {
		fmt.Fprintf(log, "note: the program calls itself %s; a release is made in a clean checkout of the tag v%s\n", called, o.version)
	}
	data, err := render("server.json", r)
	if err != nil {
		return err
	}
	return o.save("server.json", data, log)
}

// bundle returns the program as an MCP bundle: a ZIP file with a manifest.json.
func (b *built) bundle(r release, p platform) ([]byte, error) {
	manifest, err := r.manifest(p)
	if err != nil {
		return nil, err
	}
	return pack(append(b.terms, file{"manifest.json", manifest, 0o644}, file{"server/" + p.Program(), b.program, 0o755}))
}

func (o *options) save(name string, data []byte, log io.Writer) error {
	file := filepath.Join(o.out, name)
	if err := os.WriteFile(file, data, 0o644); err != nil {
		return err
	}
	_, err := fmt.Fprintf(log, "%s (%d bytes)\n", file, len(data))
	return err
}
