// Command skills-mcp serves the skills that a person has as MCP tools, and runs
// each call in a fresh sandbox. Run it without arguments for help.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/exitcode"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/terminal"
	"github.com/skillsmcp/skills-mcp/server/seal"
	"github.com/skillsmcp/skills-mcp/server/termtext"
)

func main() {
	// A write to a client that is gone then fails, so that its runs end before this
	// program does.
	signal.Ignore(syscall.SIGPIPE)
	ctx, stop := exitcode.Interruptible(context.Background())
	code := execute(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// execute runs the program and returns the exit code.
func execute(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	var out *output
	if file, ok := stdout.(*os.File); ok {
		out = &output{file: file}
		stdout = out
	}
	if file, ok := stderr.(*os.File); ok && terminal.Of(file).Controls {
		stderr = terminal.NewStatus(file)
	}
	a := &app{stdin: stdin, stdout: stdout, stderr: stderr, agent: &seal.Agent{}}
	root := newRootCommand(a)
	if len(args) == 0 && !isTerminal(stdin) {
		args = []string{"serve"} // as an MCP client starts it
	}
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	defer a.close()
	return exitCode(ctx, root.ExecuteContext(seal.NewContext(ctx, a.agent)), out, stderr)
}

// exitCode prints the error of a command, if any, and returns the exit code. A command
// that lost output has failed.
func exitCode(ctx context.Context, err error, out *output, stderr io.Writer) int {
	var exit *exitcode.Error
	if err == nil || errors.As(err, &exit) && exit.Err == nil && exit.Code != exitcode.OK {
		err = cmp.Or(out.failed(), err)
	}
	var ended *exitcode.Interruption
	switch {
	case err == nil:
		return exitcode.OK
	case errors.As(err, &exit) && exit.Err == nil:
		return exit.Code
	case errors.As(context.Cause(ctx), &ended):
		fmt.Fprintln(stderr, "skills-mcp:", ended)
		return ended.Code()
	case errors.As(err, &exit):
		fmt.Fprintln(stderr, "skills-mcp:", termtext.Legible(exit.Err.Error()))
		return exit.Code
	case out.unread() && errors.Is(err, syscall.EPIPE):
		return exitcode.OK
	}
	fmt.Fprintln(stderr, "skills-mcp:", termtext.Legible(err.Error()))
	return exitcode.Failed
}
