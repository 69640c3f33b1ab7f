// Package report writes for a person what is known of skills, runs, changes and decisions.
// Texts of strangers are escaped.
//
// Start with [PrintFacts].
package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/plain"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/terminal"
	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/server/describe"
	"github.com/skillsmcp/skills-mcp/server/feedback"
	"github.com/skillsmcp/skills-mcp/server/termtext"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/dependencies"
)

// PrintFacts writes a table of a skill's properties.
func PrintFacts(w io.Writer, skill *skills.Skill, info *describe.Skill) error {
	return printRows(w, func(row func(key, value string)) {
		row("name", info.Name)
		row("tool", info.Tool)
		row("prompt", info.Prompt)
		row("resources", uris(info.Resources))
		row("reached by", plain.Flat(fmt.Sprintf("%s: %s", info.Reach, info.Why)))
		row("description", plain.Flat(info.Description))
		row("when to use", plain.Flat(info.WhenToUse))
		row("Conduit's agent", plain.Flat(info.ConduitAgent))
		row("source", Whose(info.Source, info.Untrusted))
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
	if to := e.Server; to != nil {
		return "the MCP server " + cmp.Or(to.Server.Command, to.Server.URL) + ", kept between calls"
	}
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
	if e.Server != nil {
		return ""
	}
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

// PrintParams writes a table of an entry's parameters.
func PrintParams(w io.Writer, entry *skills.Entry) error {
	lists := false
	err := terminal.Facts(w, func(w io.Writer) {
		for _, p := range entry.Params() {
			lists = lists || p.Schema.Type == "array"
			fmt.Fprintf(w, "  --%s\t%s\t%s\n", p.Name, paramType(p), plain.OneLine(p.Help(), 400))
		}
	})
	if lists && err == nil {
		_, err = fmt.Fprintln(w, "\nA list is written as one --PARAM VALUE for each item, or as a JSON array.")
	}
	return err
}

// paramType returns the type of a parameter, with the bounds of its values.
func paramType(p skills.Param) string {
	kind := cmp.Or(p.Schema.Type, "any")
	switch items := p.Schema.Items; {
	case p.Path:
		kind = "path"
	case kind == "array" && items != nil && items.Type != "":
		kind = "list of " + items.Type
	case kind == "array":
		kind = "list"
	}
	for _, bound := range p.Bounds() {
		kind += ", " + plain.Flat(bound)
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

// PrintPlan writes the plan of a call.
func PrintPlan(w io.Writer, p *describe.Plan) error {
	return terminal.Facts(w, func(w io.Writer) {
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
		for _, line := range p.Secrets {
			row("secret", line)
		}
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
	in := "docker"
	if p.Driver == "kubernetes" {
		in = p.Driver
	}
	image := fmt.Sprintf("%s, in the image %s of the role %s", in, p.Image, p.Role)
	if p.Image == "" {
		image = fmt.Sprintf("%s, in the image of the role %s, which has none", in, p.Role)
	}
	switch p.Driver {
	case "docker", "kubernetes":
		return image
	case "native":
		return "native, with the programs of this machine"
	}
	return image + "; native where there is no docker"
}

// PrintFeedback writes what is known of the use of a skill. Texts that others wrote are
// quoted, each in one line.
func PrintFeedback(w io.Writer, f *feedback.Summary) error {
	fmt.Fprintf(w, "\nlast runs and ratings:\n  %d runs, %d failed; rated good %d times, bad %d times\n", f.Calls, f.Failures, f.Good, f.Bad)
	return terminal.Facts(w, func(w io.Writer) {
		for _, e := range f.LastErrors {
			fmt.Fprintf(w, "  %s\tfailed\t%q\n", plain.Day(e.At), e.Error)
		}
		for _, n := range f.Notes {
			verdict := "good"
			if !n.OK {
				verdict = "bad"
			}
			fmt.Fprintf(w, "  %s\t%s: %s\t%q\n", plain.Day(n.At), n.By, verdict, n.Note)
		}
	})
}

// Whose returns the source of a skill or plugin, and whether it is of an untrusted
// workspace.
func Whose(source skills.Source, untrusted bool) string {
	if untrusted {
		return string(source) + " (untrusted)"
	}
	return string(source)
}
