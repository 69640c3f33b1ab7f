package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/config"
)

// Exit codes. `run` also exits with the code of the skill.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
)

// exitError ends the program with a code; the message, if any, is printed.
type exitError struct {
	code int
	err  error // nil where everything has been said
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// usageError marks an error as one of how the program was called.
func usageError(err error) error {
	if err == nil {
		return nil
	}
	return &exitError{exitUsage, err}
}

// execute is the program: it returns the exit code.
func execute(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	var out *output
	if file, ok := stdout.(*os.File); ok {
		out = &output{file: file}
		stdout = out
	}
	if file, ok := stderr.(*os.File); ok && isTerminal(file) {
		stderr = &statusLine{file: file}
	}
	a := &app{stdin: stdin, stdout: stdout, stderr: stderr}
	root := a.command()
	if len(args) == 0 && !isTerminal(stdin) {
		args = []string{"serve"} // as an MCP client starts it
	}
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	var exit *exitError
	if err == nil || errors.As(err, &exit) && exit.err == nil && exit.code != exitOK {
		err = cmp.Or(out.failed(), err)
	}
	var ended *interruption
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &exit) && exit.err == nil:
		return exit.code
	case errors.As(context.Cause(ctx), &ended):
		fmt.Fprintln(stderr, "skills-mcp:", ended)
		return ended.code()
	case errors.As(err, &exit):
		fmt.Fprintln(stderr, "skills-mcp:", exit.err)
		return exit.code
	case out.unread() && errors.Is(err, syscall.EPIPE):
		return exitOK
	}
	fmt.Fprintln(stderr, "skills-mcp:", err)
	if strings.HasPrefix(err.Error(), "unknown command") { // cobra has no type for it
		return exitUsage
	}
	return exitFailed
}

func isTerminal(stream any) bool {
	file, ok := stream.(interface{ Fd() uintptr })
	return ok && term.IsTerminal(int(file.Fd()))
}

// command builds the tree of commands.
func (a *app) command() *cobra.Command {
	root := &cobra.Command{
		Use:   "skills-mcp",
		Short: "Serve your agent skills as MCP tools, each call in its own sandbox",
		Long: `skills-mcp finds the skills you already have, serves each as a typed MCP tool,
and runs every call in a fresh, locked-down sandbox.

Without arguments it serves MCP on standard input and output, unless that is a
terminal. To try a skill by hand:

  skills-mcp list
  skills-mcp run colony-samples/code-complexity --path . --top_n 3`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Version:       readBuilt().String(),
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			return usageError(fromEnvironment(cmd.Flags()))
		},
	}
	f := root.PersistentFlags()
	f.StringVar(&a.flags.config, "config", "", "configuration `FILE` (default: config.yaml in the user's configuration folder)")
	f.StringArrayVar(&a.flags.skills, "skills", nil, "also find skills in `DIR`, or DIR itself if it is one; or a ZIP or tar.gz file with one (repeatable)")
	f.StringArrayVar(&a.flags.plugins, "plugins", nil, "also find plugins in `DIR`, or DIR itself if it is one (repeatable)")
	f.StringArrayVar(&a.flags.workspaces, "workspace", nil, "let skills see the files in `DIR` (repeatable; default: the current folder, where it is a project's)")
	f.StringVar(&a.flags.sandbox, "sandbox", "", "run skills with `DRIVER`: auto, docker or native (default auto)")
	f.StringVar(&a.flags.logLevel, "log-level", "warn", "log from `LEVEL` up: debug, info, warn or error")
	f.StringVar(&a.flags.logFormat, "log-format", "text", "log in `FORMAT`: text or json")
	complete(root, "sandbox", config.Drivers())
	complete(root, "log-level", []string{"debug", "info", "warn", "error"})
	complete(root, "log-format", []string{"text", "json"})
	root.SetVersionTemplate("{{.Version}}")
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError(err) })
	root.AddCommand(
		a.serveCommand(), a.listCommand(), a.showCommand(), a.searchCommand(), a.pluginsCommand(),
		a.runCommand(), a.initCommand(), a.checkCommand(), a.connectCommand(), a.doctorCommand(), a.imageCommand(), a.versionCommand(),
		a.egressCommand(),
	)
	root.InitDefaultCompletionCmd()
	root.InitDefaultHelpCmd()
	asUsage(root)
	return root
}

// asUsage makes wrong arguments of every command an error of usage, also of
// cobra's own "help" and "completion", which answer them with help.
func asUsage(cmd *cobra.Command) {
	switch {
	case cmd.Name() == "help" && !cmd.HasSubCommands():
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			if _, rest, err := cmd.Root().Find(args); err != nil || len(rest) > 0 {
				return cmp.Or(err, fmt.Errorf("unknown command %q", joinWords(args)))
			}
			return nil
		}
	case !cmd.Runnable():
		cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	}
	if check := cmd.Args; check != nil {
		cmd.Args = func(cmd *cobra.Command, args []string) error { return usageError(check(cmd, args)) }
	}
	for _, sub := range cmd.Commands() {
		asUsage(sub)
	}
}

// wrongVariable says of a variable what its flag would say of itself.
func wrongVariable(name string, f *pflag.Flag, value string, err error) error {
	if f.Value.Type() == "bool" {
		return fmt.Errorf("%s is %q; write true or false", name, value)
	}
	return fmt.Errorf("%s: %w", name, err)
}

// fromEnvironment sets each flag that was not given from its variable:
// --log-level from SKILLS_MCP_LOG_LEVEL. Variables of repeatable flags hold
// lists, separated as in PATH.
func fromEnvironment(flags *pflag.FlagSet) error {
	var failed error
	flags.VisitAll(func(f *pflag.Flag) {
		name := "SKILLS_MCP_" + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
		value := os.Getenv(name)
		if f.Changed || value == "" || failed != nil || f.Name == "help" || f.Name == "version" {
			return
		}
		values := []string{value}
		if f.Value.Type() == "stringArray" {
			values = filepath.SplitList(value)
		}
		for _, v := range values {
			if err := flags.Set(f.Name, v); err != nil {
				failed = wrongVariable(name, f, v, err)
			}
		}
	})
	return failed
}
