package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/exitcode"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/plain"
	"github.com/skillsmcp/skills-mcp/skills/lazyregexp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// checkArguments compares arguments with those that the command's line of usage names.
// It is an error of usage where one is missing, unexpected, or an unknown command.
func checkArguments(cmd *cobra.Command, args []string) error {
	names, unlimited := argumentsOf(cmd.Use)
	switch {
	case cmd.HasAvailableSubCommands() && len(args) > 0:
		return unknownCommand(cmd, args[0])
	case len(args) < len(names) && !strings.HasPrefix(names[len(args)], "["):
		return exitcode.Usage(fmt.Errorf("%s is missing; usage: %s", names[len(args)], strings.TrimSuffix(cmd.UseLine(), " [flags]")))
	case len(args) > len(names) && !unlimited:
		return noArguments(args[len(names):])
	}
	return nil
}

// noArguments wants no arguments.
func noArguments(args []string) error {
	if len(args) == 0 {
		return nil
	}
	return exitcode.Usage(fmt.Errorf("unexpected argument %q", args[0]))
}

// flagsInUse matches the flags in a line of usage.
var flagsInUse = lazyregexp.New(`\[--[^]]*\]|\(--[^)]*\)`)

// argumentsOf returns the names of the arguments in a line of usage, in brackets if they may
// be left out, and whether more may follow.
func argumentsOf(use string) (names []string, unlimited bool) {
	names = strings.Fields(flagsInUse.ReplaceAllString(use, ""))[1:]
	if unlimited = strings.HasSuffix(use, "..."); unlimited {
		last := len(names) - 1
		if names[last] = strings.TrimSuffix(names[last], "..."); names[last] == "" { // flags
			names = names[:last]
		}
	}
	return names, unlimited
}

// unknownCommand returns the error of a command that cmd does not have.
func unknownCommand(cmd *cobra.Command, name string) error {
	var known []string
	for _, sub := range cmd.Commands() {
		if !sub.Hidden {
			known = append(known, sub.Name())
		}
	}
	return exitcode.Usage(fmt.Errorf("unknown command %q%s", name, meant(cmd, name, known)))
}

// meant returns the end of an error about a word that is none of the known ones.
func meant(cmd *cobra.Command, word string, known []string) string {
	if near := plain.DidYouMean(word, known); near != "" {
		return near
	}
	return fmt.Sprintf("; see %q", cmd.CommandPath()+" --help")
}

// flagError explains a wrong flag. After a command that does not exist, flags mean nothing.
func flagError(cmd *cobra.Command, err error) error {
	if args := cmd.Flags().Args(); cmd.HasAvailableSubCommands() && len(args) > 0 {
		return unknownCommand(cmd, args[0])
	}
	var missing *pflag.NotExistError
	if !errors.As(err, &missing) {
		return exitcode.Usage(err)
	}
	var known []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { known = append(known, "--"+f.Name) })
	name := "--" + missing.GetSpecifiedName()
	return exitcode.Usage(fmt.Errorf("unknown flag %s%s", name, meant(cmd, name, known)))
}
