package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// A commandGroup are commands in the order of the program's help: the most used ones first.
type commandGroup struct {
	title    string
	commands []*cobra.Command
}

// printUsage writes how a command is called, with an example at the end. The flags of all
// commands are in the help of the program alone.
func printUsage(c *cobra.Command, groups []commandGroup) error {
	var b strings.Builder
	fmt.Fprintf(&b, "Usage:\n  %s\n", c.UseLine())
	if c.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "  %s [command]\n", c.CommandPath())
		if c.HasParent() {
			groups = []commandGroup{{"Commands", c.Commands()}}
		}
		for _, g := range groups {
			fmt.Fprintf(&b, "\n%s:\n", g.title)
			for _, sub := range g.commands {
				fmt.Fprintf(&b, "  %-*s %s\n", sub.NamePadding(), sub.Name(), sub.Short)
			}
		}
		fmt.Fprintf(&b, "\n\"%s [command] --help\" tells more about one.\n", c.CommandPath())
	}
	heading := "Flags"
	if !c.HasParent() {
		heading = "Global flags"
	}
	if c.HasAvailableLocalFlags() {
		fmt.Fprintf(&b, "\n%s:\n%s", heading, c.LocalFlags().FlagUsages())
	}
	if c.HasParent() {
		fmt.Fprintf(&b, "\nGlobal flags: see %s --help\n", c.Root().Name())
	}
	if c.HasExample() {
		fmt.Fprintf(&b, "\nExample:\n%s\n", c.Example)
	}
	_, err := fmt.Fprint(c.OutOrStderr(), b.String())
	return err
}

// addExamples adds examples to the commands that cobra makes.
func addExamples(root *cobra.Command) {
	for _, shell := range [][2]string{
		{"bash", "source <(skills-mcp completion bash)"}, {"zsh", "source <(skills-mcp completion zsh)"},
		{"fish", "skills-mcp completion fish | source"}, {"powershell", "skills-mcp completion powershell | Out-String | Invoke-Expression"},
		{"", "skills-mcp completion bash > ~/.local/share/bash-completion/completions/skills-mcp"},
	} {
		if c, _, err := root.Find(strings.Fields("completion " + shell[0])); err == nil {
			c.Example = "  " + shell[1]
		}
	}
	if c, _, err := root.Find([]string{"help"}); err == nil {
		c.Example = "  skills-mcp help image pull"
	}
}
