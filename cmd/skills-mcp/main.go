// Command skills-mcp serves the skills that a person has as MCP tools, and runs
// each call in a fresh sandbox. Run it without arguments for help.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	// A client that is gone is seen as a failed write, so that what runs for it
	// is ended before this program is.
	signal.Ignore(syscall.SIGPIPE)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}
