package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/plain"
	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/server/describe"
	"github.com/skillsmcp/skills-mcp/server/termtext"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/dependencies"
	"github.com/skillsmcp/skills-mcp/skills/surface"
	"github.com/spf13/cobra"
)

// showCommand shows one skill.
type showCommand struct {
	*app
	json bool
}

func newShowCommand(a *app) *cobra.Command {
	c := &showCommand{app: a}
	cmd := &cobra.Command{
		Use:               "show NAME",
		Short:             "Show one skill in full",
		Long:              "Show one skill: what it does, its parameters, what a call of it would execute and\nbe granted, its files and their digest, its capabilities and, if it has changed\nsince it was accepted, the difference, its prompt, the URIs under which clients\nread it, and its problems. NAME is a skill's name, plugin/name, or the name of\nits tool; SOURCE:NAME (session:deploy) or the path of its folder also means one\nwhose name another one has. Nothing of it is run.",
		Example:           "  skills-mcp show colony-samples/code-complexity",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.completeNames,
		RunE:              func(cmd *cobra.Command, args []string) error { return c.run(cmd.Context(), args[0]) },
	}
	cmd.Flags().BoolVar(&c.json, "json", false, "print JSON")
	a.exposeFlag(cmd)
	return cmd
}

func (c *showCommand) run(ctx context.Context, name string) error {
	s, catalog, err := c.learned(ctx, name)
	if err != nil {
		return err
	}
	catalog = s.Sandboxes.Rules.Book.Apply(ctx, catalog)
	skill, own, err := pick(catalog, name, s.Gate)
	if err != nil {
		c.hintProblems(catalog)
		return err
	}
	view := s.View(ctx, own)
	view.Shadowed = catalog.Shadowed
	info, err := view.Skill(ctx, skill)
	if err != nil {
		return err
	}
	all, err := s.OpenPins()
	if err != nil {
		return err
	}
	compared, err := all.Compare(ctx, skill)
	if err != nil {
		return err
	}
	pin := newPinInfo(skill, compared)
	if c.json {
		return c.printJSON(shown{info, compared.Surface.Items, pin})
	}
	if err := c.print(skill, info); err != nil {
		return err
	}
	writeSurface(c.stdout, compared.Surface)
	if pin != nil && compared.Changed() {
		pin.write(c.stdout)
	}
	return nil
}

// shown is a skill with its capabilities, and its accepted version, if there is one.
type shown struct {
	*describe.Skill
	Surface []surface.Item `json:"capabilities"`
	Pin     *pinInfo       `json:"pin,omitempty"`
}

func (c *showCommand) print(skill *skills.Skill, info *describe.Skill) error {
	if err := printFacts(c.stdout, skill, info); err != nil {
		return err
	}
	if skill.Entry != nil && len(skill.Entry.Params()) > 0 {
		fmt.Fprintln(c.stdout, "\nparameters:")
		if err := printParams(c.stdout, skill.Entry); err != nil {
			return err
		}
	}
	if info.Call != nil {
		fmt.Fprintln(c.stdout, "\na call executes:")
		if err := printPlan(c.stdout, info.Call); err != nil {
			return err
		}
	}
	if info.Feedback != nil {
		if err := printFeedback(c.stdout, info.Feedback); err != nil {
			return err
		}
	}
	fmt.Fprintln(c.stdout, "\nfiles:")
	for _, name := range info.Files {
		fmt.Fprintln(c.stdout, "  "+plain.Visible(name))
	}
	if len(info.Problems) > 0 {
		fmt.Fprintln(c.stdout, "\nproblems:")
		for _, p := range info.Problems {
			fmt.Fprintln(c.stdout, "  "+p.String())
		}
	}
	return nil
}

// printFacts writes a table of a skill's properties.
func printFacts(w io.Writer, skill *skills.Skill, info *describe.Skill) error {
	return facts(w, func(w io.Writer) {
		row := func(key, value string) {
			if value != "" {
				fmt.Fprintf(w, "%s\t%s\n", key, plain.Visible(value))
			}
		}
		row("name", info.Name)
		row("tool", info.Tool)
		row("prompt", info.Prompt)
		row("resources", uris(info.Resources))
		row("reached by", plain.Flat(fmt.Sprintf("%s: %s", info.Reach, info.Why)))
		row("description", plain.Flat(info.Description))
		row("when to use", plain.Flat(info.WhenToUse))
		row("Conduit's agent", plain.Flat(info.ConduitAgent))
		row("source", whose(info.Source, info.Untrusted))
		row("workspace", info.Workspace)
		if from := info.Installed; from != nil {
			row("installed", strings.TrimSuffix(fmt.Sprintf("from %s, on %s, revision %s", from.Source, plain.Day(from.At), from.Revision), ", revision "))
			row("its files", cmp.Or(strings.Join(from.Differences, ", "), "as they were installed"))
		}
		row("class", string(info.Class))
		row("kind", info.Kind)
		row("tools", strings.Join(info.Tools, ", "))
		row("tool of", info.Of)
		row("state", plain.Flat(info.State))
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
			row("calls", strings.Join(info.Calls, ", "))
			row("task", string(info.Task))
			row("variables", strings.Join(info.Env, ", "))
			row("warm", warm(info.Warm))
		}
	})
}

// uris joins the URIs of the resources.
func uris(all []describe.Resource) string {
	names := make([]string, len(all))
	for i, r := range all {
		names[i] = r.URI + r.Template
	}
	return strings.Join(names, ", ")
}

func words(asks []skills.Asked) []string {
	var words []string
	for _, asked := range asks {
		words = append(words, string(asked))
	}
	return words
}

// command returns the command line of a script, with … for an inline program.
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

// passing describes how arguments reach a script, unless as --name value.
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

// returns names the properties of the object that a script declares to return.
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

// warm renders the number of ready sandboxes that a skill asks for, if any.
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
	return facts(w, func(w io.Writer) {
		for _, p := range entry.Params() {
			fmt.Fprintf(w, "  --%s\t%s\t%s\n", p.Name, paramType(p), plain.OneLine(p.Help(), 400))
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

// limits renders the limits of a call.
func limits(l describe.Limits) string {
	return fmt.Sprintf("%ss, %s of memory, %s, %d processes, %s of output, %s in %s and in /tmp, %d open files, %s for a file",
		strconv.FormatFloat(l.Timeout, 'f', -1, 64), sandbox.Bytes(l.Memory), processors(l.CPUs), l.PIDs,
		sandbox.Bytes(l.Output), sandbox.Bytes(l.Tmp), sandbox.OutDir, l.Files, sandbox.Bytes(l.File))
}

func processors(n float64) string {
	text := strconv.FormatFloat(n, 'f', -1, 64) + " processor"
	if n != 1 {
		text += "s"
	}
	return text
}

// printPlan writes the plan of a call.
func printPlan(w io.Writer, p *describe.Plan) error {
	return facts(w, func(w io.Writer) {
		row := func(key, value string) { fmt.Fprintf(w, "  %s\t%s\n", key, plain.Visible(value)) }
		if p.Refused != nil {
			row("refused", plain.Flat(fmt.Sprintf("%s: %s", p.Refused.Code, p.Refused.Message)))
		}
		// Its spaces are part of its words.
		fmt.Fprintf(w, "  command\t%s\n", strings.ReplaceAll(termtext.Text(plain.QuoteWords(p.Argv)), "\n", " "))
		if p.Stdin != "" {
			row("stdin", p.Stdin)
		}
		row("in", p.Folder)
		row("sandbox", sandboxOf(p))
		row("environment", strings.Join(p.Environment, " "))
		row("network", cmp.Or(strings.Join(p.Network, ", "), "none"))
		row("limits", limits(p.Limits))
		label := "sees"
		for _, m := range p.Mounts {
			row(label, access(m))
			label = ""
		}
	})
}

// access renders a call's access to a folder.
func access(m describe.Mount) string {
	if m.Note != "" {
		return m.Path + ", " + m.Access + ", but " + m.Note
	}
	if m.From == m.Path {
		return m.Path + ", " + m.Access
	}
	return m.Path + ", " + m.Access + ": " + m.From
}

// sandboxOf renders the driver and image that run a call.
func sandboxOf(p *describe.Plan) string {
	image := fmt.Sprintf("docker, in the image %s of the role %s", p.Image, p.Role)
	if p.Image == "" {
		image = fmt.Sprintf("docker, in the image of the role %s, which has none", p.Role)
	}
	switch p.Driver {
	case "docker":
		return image
	case "native":
		return "native, with the programs of this machine"
	}
	return image + "; native where there is no docker"
}
