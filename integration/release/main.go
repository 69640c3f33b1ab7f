// Command release builds the files of a release: an MCP bundle (.mcpb) for each
// platform, which clients install with a click, and server.json for the MCP
// registry. It writes the same bytes for the same source.
//
//	go run ./integration/release --help
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
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
	if err := release(ctx, o, stdout); err != nil {
		fmt.Fprintln(stderr, "release:", err)
		return 1
	}
	return 0
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
