package main

import (
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/skillsmcp/skills-mcp/server/termtext"
)

// oneLine folds a text and cuts it at most characters.
func oneLine(text string, most int) string {
	runes := []rune(flat(text))
	if len(runes) <= most {
		return string(runes)
	}
	return string(runes[:most-1]) + "…"
}

// flat puts a stranger's text into one line that does nothing to a terminal.
func flat(text string) string { return strings.Join(strings.Fields(termtext.Text(text)), " ") }

func joinWords(words []string) string { return strings.Join(words, " ") }

// completeNames completes the names of skills.
func (a *app) completeNames(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	_, catalog, err := a.catalog(cmd.Context())
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	var names []string
	for _, skill := range catalog.Skills {
		names = append(names, skill.QualifiedName()+"\t"+oneLine(skill.Description, 80))
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// complete completes the values of a flag.
func complete(cmd *cobra.Command, flag string, values []string) {
	// It fails for a flag that the command does not have alone.
	if err := cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err)
	}
}

// day renders a time for people; a time that is not known is "".
func day(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.DateOnly)
}
