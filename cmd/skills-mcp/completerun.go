package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skillsmcp/skills-mcp/skills"
)

// completeRun completes the name of a skill, then its parameters and their values.
// A value that can be anything may be a file.
func (a *app) completeRun(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 0 {
		return a.completeNames(cmd, args, begun)
	}
	s, catalog, err := a.catalog(cmd.Context())
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	skill, _, err := s.pick(catalog, args[0])
	if err != nil || skill.Entry == nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	params := skill.Entry.Params()
	if i := slices.IndexFunc(params, func(p skills.Param) bool { return "--"+p.Name == args[len(args)-1] }); i >= 0 {
		if choices := params[i].Choices(); len(choices) > 0 {
			return choices, cobra.ShellCompDirectiveNoFileComp
		}
		return nil, cobra.ShellCompDirectiveDefault
	}
	return missing(params, args[1:]), cobra.ShellCompDirectiveNoFileComp
}

// missing are the options that are not among the words yet. An array's may come
// again.
func missing(params []skills.Param, words []string) []string {
	var options []string
	for _, p := range params {
		option := "--" + p.Name
		given := slices.ContainsFunc(words, func(word string) bool { return word == option || strings.HasPrefix(word, option+"=") })
		if !given || p.Schema.Type == "array" {
			options = append(options, option+"\t"+oneLine(p.Help(), 80))
		}
	}
	return options
}
