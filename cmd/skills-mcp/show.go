package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skillsmcp/skills-mcp/server"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/dependencies"
	"github.com/skillsmcp/skills-mcp/skills/snapshot"
)

// shown is the output of show --json.
type shown struct {
	listed
	WhenToUse   string   `json:"when_to_use,omitempty"`
	Script      string   `json:"script,omitempty"`
	Interpreter []string `json:"interpreter,omitempty"`
	ImageRole   string   `json:"image_role,omitempty"`
	Network     []string `json:"network,omitempty"`
	Warm        int      `json:"warm,omitempty"` // negative is none
	Timeout     float64  `json:"timeout_seconds,omitempty"`

	Requires *skills.Requires `json:"requires,omitempty"`
	Paths    []string         `json:"paths,omitempty"`

	Dependencies []dependencies.Declared `json:"dependencies,omitempty"`

	Parameters  any              `json:"parameters,omitempty"`
	Frontmatter map[string]any   `json:"frontmatter"`
	Digest      string           `json:"digest"`
	Files       []string         `json:"files"`
	Problems    []skills.Problem `json:"problems"`
}

func (a *app) showCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:               "show NAME",
		Short:             "Show one skill in full",
		Long:              "Show one skill: what it does, its parameters, its files and their digest, and\nits problems. NAME is a skill's name, plugin/name, or the name of its tool.",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.completeNames,
		RunE: func(cmd *cobra.Command, args []string) error {
			catalog, err := a.learned(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			skill, err := server.Lookup(catalog, args[0])
			if err != nil {
				a.hintProblems(catalog)
				return usage(err)
			}
			info, err := show(cmd.Context(), catalog, skill)
			if err != nil {
				return err
			}
			if asJSON {
				return a.printJSON(info)
			}
			return a.printSkill(skill, info)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func show(ctx context.Context, catalog *skills.Catalog, skill *skills.Skill) (*shown, error) {
	digest, err := snapshot.Digest(ctx, skill.Files)
	if err != nil {
		return nil, err
	}
	info := &shown{
		listed:      newLister(catalog).describe(skill),
		WhenToUse:   skill.WhenToUse,
		Frontmatter: skill.Frontmatter,
		Digest:      digest,
		Files:       server.Files(skill, 1<<20),
		Problems:    nonNil(skill.Problems),
		Paths:       skill.Paths,
	}
	if !skill.Requires.Empty() {
		info.Requires = &skill.Requires
	}
	if e := skill.Entry; e != nil {
		info.Script, info.Interpreter, info.ImageRole = e.Script, e.Interpreter, e.ImageRole
		info.Network, info.Warm = e.Network, e.Warm
		info.Timeout, info.Parameters = e.Timeout.Seconds(), e.Schema()
		declared, problem := declaredBy(skill)
		info.Dependencies = declared
		if problem != nil {
			info.Problems = append(slices.Clone(info.Problems), *problem)
		}
	}
	return info, nil
}

func (a *app) printSkill(skill *skills.Skill, info *shown) error {
	err := table(a.stdout, func(w io.Writer) {
		row := func(key, value string) {
			if value != "" {
				fmt.Fprintf(w, "%s\t%s\n", key, value)
			}
		}
		row("name", info.Name)
		row("tool", info.Tool)
		row("description", strings.Join(strings.Fields(info.Description), " "))
		row("when to use", strings.Join(strings.Fields(info.WhenToUse), " "))
		row("source", string(info.Source))
		row("class", string(info.Class))
		row("kind", info.Kind)
		row("state", info.State)
		row("file", info.File)
		row("digest", info.Digest)
		row("requires", skill.Requires.String())
		row("paths", strings.Join(info.Paths, ", "))
		if skill.Entry != nil {
			row("runs", strings.Join(append(append([]string{}, info.Interpreter...), info.Script), " "))
			row("image role", cmp.Or(info.ImageRole, "default"))
			row("declares", dependencies.Summary(info.Dependencies))
			row("network", strings.Join(info.Network, ", "))
			row("warm", warm(info.Warm))
		}
	})
	if err != nil {
		return err
	}
	if skill.Entry != nil && len(skill.Entry.Params) > 0 {
		fmt.Fprintln(a.stdout, "\nparameters:")
		if err := printParams(a.stdout, skill.Entry); err != nil {
			return err
		}
	}
	fmt.Fprintln(a.stdout, "\nfiles:")
	for _, name := range info.Files {
		fmt.Fprintln(a.stdout, "  "+name)
	}
	if len(info.Problems) > 0 {
		fmt.Fprintln(a.stdout, "\nproblems:")
		for _, p := range info.Problems {
			fmt.Fprintln(a.stdout, "  "+p.String())
		}
	}
	return nil
}

// warm words how many sandboxes a skill wants to have ready, where it says so.
func warm(n int) string {
	switch {
	case n == 0:
		return ""
	case n < 0:
		return "none"
	}
	return strconv.Itoa(n)
}

// printParams writes a table of an entry's parameters.
func printParams(w io.Writer, entry *skills.Entry) error {
	return table(w, func(w io.Writer) {
		for _, p := range entry.Params {
			fmt.Fprintf(w, "  --%s\t%s\t%s\n", p.Name, paramType(p), oneLine(paramHelp(p), 400))
		}
	})
}

func paramType(p skills.Param) string {
	kind := cmp.Or(p.Schema.Type, "any")
	if p.Path {
		kind = "path"
	}
	if p.Required {
		kind += ", required"
	}
	return kind
}

func paramHelp(p skills.Param) string {
	help := p.Schema.Description
	values := p.Schema.Enum
	if p.Schema.Items != nil && values == nil {
		values = p.Schema.Items.Enum
	}
	if values != nil {
		help += fmt.Sprintf(" One of: %s.", strings.Trim(fmt.Sprint(values), "[]"))
	}
	if p.Schema.Default != nil {
		help += fmt.Sprintf(" Default: %v.", p.Schema.Default)
	}
	return help
}
