package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/exitcode"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/setup"
	"github.com/skillsmcp/skills-mcp/sandbox/egress"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// newRootCommand returns the tree of commands.
func newRootCommand(a *app) *cobra.Command {
	var version bool
	root := &cobra.Command{
		Use:   "skills-mcp",
		Short: "Serve your agent skills as MCP tools, each call in its own sandbox",
		Long: `skills-mcp finds the skills you already have, serves each as a typed MCP tool,
and runs every call in a fresh, locked-down sandbox.

Without arguments it serves MCP on standard input and output, unless that is a
terminal.`,
		Example: `  skills-mcp list
  skills-mcp run colony-samples/code-complexity --path . --top_n 3`,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if version {
				return (&versionCommand{app: a}).run()
			}
			return cmd.Help()
		},
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			return exitcode.Usage(fromEnvironment(cmd.Flags(), cmd.Root().PersistentFlags()))
		},
	}
	a.register(root)
	// Not cobra's: its template keeps each exported method in the program, see [markup].
	root.Flags().BoolVarP(&version, "version", "v", false, "print the version, the commit and the protocol revisions")
	root.SetFlagErrorFunc(flagError)
	groups := commandGroups(a)
	for _, g := range groups {
		root.AddCommand(g.commands...)
	}
	root.AddCommand(newEgressCommand(a))
	addManual(root)
	root.InitDefaultCompletionCmd()
	root.InitDefaultHelpCmd()
	more := &groups[len(groups)-1]
	for _, made := range root.Commands() {
		if name := made.Name(); name == "completion" || name == "help" {
			more.commands = append(more.commands, made)
		}
	}
	root.SetUsageFunc(func(c *cobra.Command) error { return printUsage(c, groups) })
	addExamples(root)
	finish(root)
	return root
}

// commandGroups returns all commands.
func commandGroups(a *app) []commandGroup {
	return []commandGroup{
		{"Use skills", []*cobra.Command{
			newListCommand(a), newSearchCommand(a), newShowCommand(a), newReadCommand(a), newRunCommand(a),
			newRunsCommand(a), newPluginsCommand(a), newAgentsCommand(a), newRateCommand(a),
		}},
		{"Serve them to MCP clients", []*cobra.Command{
			newConnectCommand(a), newHookCommand(a, fromEnvironment), newServeCommand(a), newTokenCommand(a), newUICommand(a), newDoctorCommand(a), newImageCommand(a),
		}},
		{"Install skills of others", []*cobra.Command{
			newInstallCommand(a), newUpdateCommand(a), newOutdatedCommand(a), newRollbackCommand(a),
			newUninstallCommand(a), newVerifyCommand(a), newScanCommand(a), newLockCommand(a), newConnectServerCommand(a),
			newDisconnectServerCommand(a),
		}},
		{"Decide what they may do", []*cobra.Command{
			newApprovalsCommand(a), newApproveCommand(a), newDenyCommand(a), newRevokeCommand(a), newWhyCommand(a),
			newGrantCommand(a), newSecretCommand(a), newProfileCommand(a), newTrustCommand(a), newUntrustCommand(a), newPinCommand(a), newEnableCommand(a),
			newDisableCommand(a),
		}},
		{"Make your own", []*cobra.Command{
			newInitCommand(a), newCheckCommand(a), newPushCommand(a),
		}},
		{"More", []*cobra.Command{
			newVersionCommand(a),
		}},
	}
}

// newEgressCommand returns the command that a driver runs inside of a container.
func newEgressCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:    egress.Command + " [ADDRESS]",
		Short:  "Forward a sandbox's connections over standard input and output",
		Hidden: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			var address string
			if len(args) > 0 {
				address = args[0]
			}
			return egress.Main(cmd.Context(), address, a.stdin, a.stdout)
		},
	}
}

// finish gives every command its check of arguments, also those of cobra, and help to
// those that do nothing else.
func finish(cmd *cobra.Command) {
	switch check := cmd.Args; {
	case cmd.Name() == "help" && !cmd.HasSubCommands():
		cmd.Args = func(cmd *cobra.Command, args []string) error { return findHelp(cmd.Root(), args) }
	case check == nil || strings.HasPrefix(cmd.CommandPath(), cmd.Root().Name()+" completion"):
		cmd.Args = checkArguments
	default:
		cmd.Args = func(cmd *cobra.Command, args []string) error { return exitcode.Usage(check(cmd, args)) }
	}
	if !cmd.Runnable() {
		cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	}
	for _, sub := range cmd.Commands() {
		finish(sub)
	}
}

// findHelp wants the words of one command.
func findHelp(root *cobra.Command, args []string) error {
	cmd, rest, err := root.Find(args)
	if err == nil && len(rest) > 0 {
		return checkArguments(cmd, rest)
	}
	return exitcode.Usage(err)
}

// fromEnvironment sets each flag that was not given from its variable:
// --log-level from SKILLS_MCP_LOG_LEVEL. Variables of repeatable flags hold
// lists, separated as in PATH. global are the flags of all commands.
func fromEnvironment(flags, global *pflag.FlagSet) error {
	var failed error
	flags.VisitAll(func(f *pflag.Flag) {
		if shared := global.Lookup(f.Name); shared != nil {
			f = shared // a command's own flag of the name means something else
		}
		name := setup.VariableOf(f.Name)
		value := os.Getenv(name)
		if f.Changed || value == "" || failed != nil || f.Name == "help" || f.Name == "version" {
			return
		}
		values := []string{value}
		if f.Value.Type() == "stringArray" {
			values = filepath.SplitList(value)
		}
		for _, v := range values {
			if err := f.Value.Set(v); err != nil {
				failed = wrongVariable(name, f, v, err)
			}
			f.Changed = true
		}
	})
	return failed
}

// wrongVariable returns the error of a variable with a wrong value for its flag.
func wrongVariable(name string, f *pflag.Flag, value string, err error) error {
	if f.Value.Type() == "bool" {
		return fmt.Errorf("%s is %q; write true or false", name, value)
	}
	return fmt.Errorf("%s: %w", name, err)
}
