package main

import (
	"cmp"
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
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return exitcode.Usage(err) })
	root.AddCommand(
		newServeCommand(a), newUICommand(a), newListCommand(a), newShowCommand(a), newReadCommand(a), newSearchCommand(a), newPluginsCommand(a),
		newRunCommand(a), newRunsCommand(a), newApprovalsCommand(a), newApproveCommand(a), newDenyCommand(a), newRevokeCommand(a), newInitCommand(a), newCheckCommand(a), newPushCommand(a), newConnectCommand(a), newDoctorCommand(a), newImageCommand(a), newVersionCommand(a),
		newWhyCommand(a), newGrantCommand(a), newEnableCommand(a), newDisableCommand(a),
		newTrustCommand(a), newUntrustCommand(a), newPinCommand(a),
		newInstallCommand(a), newUninstallCommand(a), newUpdateCommand(a), newOutdatedCommand(a), newVerifyCommand(a), newRollbackCommand(a), newLockCommand(a),
		newConnectServerCommand(a), newDisconnectServerCommand(a),
		newRateCommand(a),
		newEgressCommand(a),
	)
	addManual(root)
	root.InitDefaultCompletionCmd()
	root.InitDefaultHelpCmd()
	root.SetUsageFunc(printUsage)
	addExamples(root)
	asUsage(root)
	return root
}

// newEgressCommand returns the command that a driver runs inside of a container.
func newEgressCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:    egress.Command + " [ADDRESS]",
		Short:  "Forward a sandbox's connections over standard input and output",
		Args:   cobra.MaximumNArgs(1),
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

// asUsage makes wrong arguments of every command an error of usage, also of
// cobra's own "help" and "completion", which answer them with help.
func asUsage(cmd *cobra.Command) {
	switch {
	case cmd.Name() == "help" && !cmd.HasSubCommands():
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			if _, rest, err := cmd.Root().Find(args); err != nil || len(rest) > 0 {
				return cmp.Or(err, fmt.Errorf("unknown command %q", strings.Join(args, " ")))
			}
			return nil
		}
	case !cmd.Runnable():
		cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	}
	if check := cmd.Args; check != nil {
		cmd.Args = func(cmd *cobra.Command, args []string) error { return exitcode.Usage(check(cmd, args)) }
	}
	for _, sub := range cmd.Commands() {
		asUsage(sub)
	}
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
