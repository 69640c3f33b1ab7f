package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// TestHelp wants each command's help to end with an example, and the flags of all commands
// in the program's help alone.
func TestHelp(t *testing.T) {
	root := newRootCommand(&app{})
	root.InitDefaultHelpFlag()
	var visit func(c *cobra.Command)
	visit = func(c *cobra.Command) {
		if c.Hidden {
			return
		}
		var out bytes.Buffer
		c.SetOut(&out)
		if err := c.Help(); err != nil {
			t.Fatal(err)
		}
		help := out.String()
		_, example, found := strings.Cut(help, "\nExample:\n")
		if !found || !strings.HasPrefix(example, "  ") || strings.Contains(example, "\n\n") || !strings.Contains(example, "skills-mcp") {
			t.Errorf("%s: the help does not end with an example:\n%s", c.CommandPath(), help)
		}
		if got, want := strings.Count(help, "--log-level"), strings.Count(c.Long, "--log-level"); c.HasParent() && got != want || !c.HasParent() && got != 1 {
			t.Errorf("%s: the help has --log-level %d times:\n%s", c.CommandPath(), got, help)
		}
		if c.HasParent() && !strings.Contains(help, "\nGlobal flags: see skills-mcp --help\n") {
			t.Errorf("%s: the help does not say where the global flags are:\n%s", c.CommandPath(), help)
		}
		for _, sub := range c.Commands() {
			visit(sub)
		}
	}
	visit(root)
}
