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
	"github.com/skillsmcp/skills-mcp/server/skillsext"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/dependencies"
	"github.com/skillsmcp/skills-mcp/skills/scan"
	"github.com/skillsmcp/skills-mcp/skills/snapshot"
)

// shown is the output of show --json.
type shown struct {
	listed
	WhenToUse   string   `json:"when_to_use,omitempty"`
	URI         string   `json:"uri,omitempty"`      // of its SKILL.md
	Unlisted    string   `json:"unlisted,omitempty"` // why skills/list of MCP leaves it out
	Tools       []string `json:"tools,omitempty"`    // names of what else it runs
	Of          string   `json:"of,omitempty"`       // whose tool it is
	Prompt      string   `json:"prompt,omitempty"`
	Script      string   `json:"script,omitempty"`
	Interpreter []string `json:"interpreter,omitempty"`
	ImageRole   string   `json:"image_role,omitempty"`
	Network     []string `json:"network,omitempty"`
	Env         []string `json:"env,omitempty"`  // names of variables that it wants
	Warm        int      `json:"warm,omitempty"` // negative is none
	Timeout     float64  `json:"timeout_seconds,omitempty"`

	Asks     []skills.Asked   `json:"asks,omitempty"` // whom it may ask while it runs
	Task     skills.Task      `json:"task,omitempty"` // when calls of it are tasks, beside those that take long
	Requires *skills.Requires `json:"requires,omitempty"`
	Paths    []string         `json:"paths,omitempty"`

	Resources []shownResource `json:"resources,omitempty"` // that clients read

	Dependencies []dependencies.Declared `json:"dependencies,omitempty"`

	Call        *plannedCall     `json:"call,omitempty"` // nil where there is nothing to run
	Parameters  any              `json:"parameters,omitempty"`
	Output      any              `json:"output_schema,omitempty"`
	Frontmatter map[string]any   `json:"frontmatter"`
	Digest      string           `json:"digest"`
	Files       []string         `json:"files"`
	Problems    []skills.Problem `json:"problems"`
}

// shownResource is a resource that a skill declares.
type shownResource struct {
	URI      string `json:"uri,omitempty"`
	Template string `json:"uri_template,omitempty"`
	File     string `json:"file,omitempty"` // "" is what the skill prints
}

// resourcesOf are the resources that a skill has in its catalog.
func resourcesOf(catalog *skills.Catalog, skill *skills.Skill) (all []shownResource) {
	for _, r := range catalog.Resources() {
		if r.Skill == skill {
			all = append(all, shownResource{r.URI, r.Template, r.File})
		}
	}
	return all
}

// uris joins what the resources are called.
func uris(all []shownResource) string {
	names := make([]string, len(all))
	for i, r := range all {
		names[i] = r.URI + r.Template
	}
	return strings.Join(names, ", ")
}

func (a *app) showCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:               "show NAME",
		Short:             "Show one skill in full",
		Long:              "Show one skill: what it does, its parameters, what a call of it would execute and\nbe granted, its files and their digest, its prompt, the URIs under which clients\nread it, and its problems. NAME is a skill's name, plugin/name, or the name of\nits tool; SOURCE:NAME (session:deploy) or the path of its folder also means one\nwhose name another one has. Nothing of it is run.",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.completeNames,
		RunE: func(cmd *cobra.Command, args []string) error {
			s, catalog, err := a.learned(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			skill, own, err := s.pick(catalog, args[0])
			if err != nil {
				a.hintProblems(catalog)
				return err
			}
			info, err := s.show(cmd.Context(), own, skill)
			if err != nil {
				return err
			}
			info.place(catalog, skill)
			info.Call = s.plan(cmd.Context(), skill)
			if asJSON {
				return a.printJSON(info)
			}
			return a.printSkill(skill, info)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	a.exposeFlag(cmd)
	return cmd
}

func (s *settings) show(ctx context.Context, catalog *skills.Catalog, skill *skills.Skill) (*shown, error) {
	digest, err := snapshot.Digest(ctx, skill.Files)
	if err != nil {
		return nil, err
	}
	lister := s.newLister(ctx, catalog)
	info := &shown{
		listed:      lister.describe(skill),
		Resources:   resourcesOf(catalog, skill),
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
	if server.IsPrompt(skill) {
		info.Prompt = lister.tools[skill]
	}
	info.Tools, info.Of = server.Relatives(skill)
	s.showServed(ctx, catalog, skill, info)
	if e := skill.Entry; e != nil {
		info.Env, info.Asks, info.Task = e.Env, skill.Asks, skill.Task
		info.Script, info.Interpreter, info.ImageRole = e.Script, e.Interpreter, e.ImageRole
		info.Network, info.Warm = e.Network, e.Warm
		info.Timeout, info.Parameters = e.Timeout.Seconds(), e.Schema()
		if e.Output != nil {
			info.Output = e.Output
		}
		info.Problems = slices.Concat(info.Problems, skill.Unread(), scan.Review(skill))
		declared, problem := declaredBy(skill)
		info.Dependencies = declared
		if problem != nil {
			info.Problems = append(slices.Clone(info.Problems), *problem)
		}
	}
	return info, nil
}

// place tells of a skill that has another's name, or whose name another has, and
// of one that is denied a grant for where it is from.
func (i *shown) place(catalog *skills.Catalog, skill *skills.Skill) {
	if e := skill.Entry; skill.Workspace != "" && e != nil && len(e.Env)+len(e.Network) > 0 {
		i.Problems = append(slices.Clone(i.Problems), skills.Problem{
			Severity: skills.Note, Path: skill.File, Message: "it is of the workspace " + skill.Workspace + ", so it is granted no variables and no hosts",
			Remedy: "if you trust it, name its folder under skills in your configuration",
		})
	}
	for _, shadow := range catalog.Shadowed {
		if shadow.Skill.File == skill.File && (shadow.Skill.Name == skill.Name || shadow.Skill.Name == skill.Owner().Name) {
			i.hide(shadow)
		}
		if shadow.Takes() && (shadow.Skill.File == skill.File || shadow.By.File == skill.File) {
			i.Problems = append(slices.Clone(i.Problems), shadow.Problem())
		}
	}
}

// showServed tells how the skill is seen by the Skills extension of MCP.
func (s *settings) showServed(ctx context.Context, catalog *skills.Catalog, skill *skills.Skill, info *shown) {
	info.URI = skillsext.URI(skill)
	if !skillsext.Has(skill) {
		return
	}
	info.Unlisted = skillsext.New(catalog, &skillsext.Digests{}).Unlisted(ctx, skill)
	if problem := skillsext.Excess(ctx, skill); problem != nil {
		info.Problems = append(slices.Clone(info.Problems), *problem)
	}
}

func (a *app) printSkill(skill *skills.Skill, info *shown) error {
	if err := printFacts(a.stdout, skill, info); err != nil {
		return err
	}
	if skill.Entry != nil && len(skill.Entry.Params()) > 0 {
		fmt.Fprintln(a.stdout, "\nparameters:")
		if err := printParams(a.stdout, skill.Entry); err != nil {
			return err
		}
	}
	if info.Call != nil {
		fmt.Fprintln(a.stdout, "\na call executes:")
		if err := printPlan(a.stdout, info.Call); err != nil {
			return err
		}
	}
	fmt.Fprintln(a.stdout, "\nfiles:")
	for _, name := range info.Files {
		fmt.Fprintln(a.stdout, "  "+flat(name))
	}
	if len(info.Problems) > 0 {
		fmt.Fprintln(a.stdout, "\nproblems:")
		for _, p := range info.Problems {
			fmt.Fprintln(a.stdout, "  "+p.String())
		}
	}
	return nil
}

// printFacts writes a table of what is known of a skill in a line each.
func printFacts(w io.Writer, skill *skills.Skill, info *shown) error {
	return table(w, func(w io.Writer) {
		row := func(key, value string) {
			if value != "" {
				fmt.Fprintf(w, "%s\t%s\n", key, flat(value))
			}
		}
		row("name", info.Name)
		row("tool", info.Tool)
		row("prompt", info.Prompt)
		row("resources", uris(info.Resources))
		row("reached by", fmt.Sprintf("%s: %s", info.Reach, info.Why))
		row("description", info.Description)
		row("when to use", info.WhenToUse)
		row("source", string(info.Source))
		row("class", string(info.Class))
		row("kind", info.Kind)
		row("tools", strings.Join(info.Tools, ", "))
		row("tool of", info.Of)
		row("state", info.State)
		row("file", info.File)
		row("uri", info.URI)
		row("unlisted", info.Unlisted)
		row("digest", info.Digest)
		row("requires", skill.Requires.String())
		row("paths", strings.Join(info.Paths, ", "))
		if skill.Entry != nil {
			row("runs", command(skill.Entry))
			row("passed", passing(skill.Entry))
			row("returns", returns(skill.Entry))
			row("image role", cmp.Or(info.ImageRole, "default"))
			row("declares", dependencies.Summary(info.Dependencies))
			row("network", strings.Join(info.Network, ", "))
			row("asks", strings.Join(words(info.Asks), ", "))
			row("task", string(info.Task))
			row("variables", strings.Join(info.Env, ", "))
			row("warm", warm(info.Warm))
		}
	})
}

func words(asks []skills.Asked) []string {
	var words []string
	for _, asked := range asks {
		words = append(words, string(asked))
	}
	return words
}

// command is what runs a script, with … for a program that is part of it.
func command(e *skills.Entry) string {
	words := append(slices.Clone(e.Interpreter), e.Script)
	for i, word := range words {
		if strings.Contains(word, "\n") {
			words[i] = "…"
		}
	}
	if in, ok := e.Args.(skills.Input); ok {
		words = append(words, in.Argv...)
	}
	return strings.Join(words, " ")
}

// passing says how arguments reach a script, where that is not as --name value.
func passing(e *skills.Entry) string {
	switch e.Passing().(type) {
	case skills.Input:
		return "as a JSON object on standard input"
	case skills.RawArgv:
		return "word by word, as they are given"
	case skills.ParsedCLI:
		return "as the script's own parser takes them"
	}
	return ""
}

// returns names the properties of the object that a script returns, where it
// says.
func returns(e *skills.Entry) string {
	if e.Output == nil {
		return ""
	}
	var names []string
	if properties := e.Output.Properties; properties != nil {
		for p := properties.Oldest(); p != nil; p = p.Next() {
			names = append(names, p.Key)
		}
	}
	return strings.TrimSuffix("an object of its output_schema: "+strings.Join(names, ", "), ": ")
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
		for _, p := range entry.Params() {
			fmt.Fprintf(w, "  --%s\t%s\t%s\n", p.Name, paramType(p), oneLine(p.Help(), 400))
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
