package installation

import (
	"fmt"
	"strings"

	"github.com/skillsmcp/skills-mcp/server/termtext"
	"github.com/skillsmcp/skills-mcp/skills/surface"
	"github.com/skillsmcp/skills-mcp/skills/verdict"
)

// mark begins the lines of strangers' text: no other line does.
const mark = "> "

const (
	// maxLine bounds a line of strangers' text, in bytes.
	maxLine = 600
	// maxProblems bounds the problems that are shown of one item.
	maxProblems = 5
)

// Lines describes the change for a person who is asked about it: suspicions, then each
// item with its difference, or else its capabilities. Lines of strangers' texts begin with
// "> ", and have codes for characters that are not seen.
func (c *Change) Lines() []string {
	var all []string
	for _, note := range c.Notes {
		if note.Suspicious {
			all = append(all, "SUSPICIOUS, as the source itself states:", stranger(note.Text))
		}
	}
	if len(c.Items) > 1 {
		all = append(all, fmt.Sprintf("These %d are installed together:", len(c.Items)))
	}
	for i := range c.Items {
		all = append(all, c.Items[i].lines()...)
	}
	return append(all, c.proofs()...)
}

// Action returns the words of a question about the change, such as "update it".
func (c *Change) Action(verb string) string {
	if len(c.Grown()) > 0 {
		verb += ", although it gains something new"
	}
	return verb
}

// proofs returns the lines about what was checked and what was not.
func (c *Change) proofs() (all []string) {
	for _, note := range c.Notes {
		if !note.Suspicious {
			all = append(all, "The source states:", stranger(note.Text))
		}
	}
	if len(c.Checked) > 0 {
		all = append(all, "Checked:")
		for _, proof := range c.Checked {
			all = append(all, stranger(proof))
		}
	} else {
		all = append(all, "Not checked: whether the files are the author's. The source states nothing to compare them with.")
	}
	return append(all, "Nothing of it was run. What it could do was read from its files, which can hide it.")
}

// lines returns the lines about an item.
func (i *Item) lines() []string {
	all := []string{
		mark + quoted(i.Name) + ", " + i.what(),
		stranger(i.Description),
		"from",
		stranger(i.Source + i.revision()),
	}
	if i.Folder != "" {
		all = append(all, stranger("its folder "+i.Folder))
	}
	all = append(all, "goes to", stranger(i.Path))
	if i.Link != "" {
		all = append(all, "and to Claude Code, which runs it without a sandbox of skills-mcp:", stranger(i.Link))
	}
	if i.Replaces != nil {
		all = append(all, i.difference()...)
	}
	all = append(append(all, i.Scanned()...), "It could:")
	if groups := Capabilities(i.Capabilities); len(groups) > 0 {
		all = append(all, groups...)
	} else {
		all = append(all, "  nothing but to be read")
	}
	for _, claim := range i.Unproved {
		all = append(all, "Not proved:", stranger(claim))
	}
	for n, p := range i.Problems {
		if n == maxProblems {
			all = append(all, fmt.Sprintf("and %d more problems", len(i.Problems)-n))
			break
		}
		all = append(all, "Problem:", stranger(p.Message))
	}
	return all
}

// Scanned returns the lines about the worst findings in the files of an item; none without a
// warning.
func (i *Item) Scanned() (all []string) {
	counts := verdict.Counts(i.Findings)
	if counts == "" {
		return nil
	}
	all = append(all, "The scan of its files found "+counts+":")
	for _, f := range i.Findings[:min(len(i.Findings), maxProblems)] {
		all = append(all, stranger(f.String()))
	}
	if n := len(i.Findings) - maxProblems; n > 0 {
		all = append(all, fmt.Sprintf("and %d more, as skills-mcp scan shows", n))
	}
	if i.Blocked {
		all = append(all, "Such a skill is blocked by scan.block in the configuration: once installed, it is not callable, and its texts are not passed on.")
	}
	return all
}

// what returns the words for the kind of an item.
func (i *Item) what() string {
	if i.Kind == "skill" && len(i.Skills) < 2 {
		return "a skill"
	}
	names := make([]string, len(i.Skills))
	for n, name := range i.Skills {
		names[n] = quoted(name)
	}
	kind := i.Kind
	if kind == "skill" {
		kind = "pack"
	}
	noun := "skills"
	if len(names) == 1 {
		noun = "skill"
	}
	return cut(fmt.Sprintf("a %s with %d %s: %s", kind, len(names), noun, strings.Join(names, ", ")))
}

func (i *Item) revision() string {
	if i.Revision == "" {
		return ""
	}
	return ", revision " + i.Revision
}

// difference returns the lines about what an item changes: capabilities first, then texts.
func (i *Item) difference() []string {
	before := i.Replaces
	all := []string{"It replaces the installed version" + visibleRevision(before.Revision) + ":"}
	if before.Source != i.Source {
		all = append(all, "THE INSTALLED ONE CAME FROM ANOTHER SOURCE:", stranger(before.Source))
	}
	if len(i.Gained) > 0 {
		all = append(all, "It gains, and nobody has accepted yet:")
		all = append(all, marked(i.Gained)...)
	} else {
		all = append(all, "It gains no capability.")
	}
	if len(i.Lost) > 0 {
		all = append(all, "It loses:")
		all = append(all, marked(i.Lost)...)
	}
	if len(i.Edited) > 0 {
		all = append(all, "These files were edited since it was installed, and go aside:")
		all = append(all, marked(i.Edited)...)
	}
	if i.Diff != "" {
		all = append(all, "Its files change, those first that are executed:")
		for line := range strings.Lines(i.Diff) {
			all = append(all, stranger(strings.TrimSuffix(line, "\n")))
		}
	}
	return all
}

func visibleRevision(revision string) string {
	if revision == "" {
		return ""
	}
	return ", revision " + cut(termtext.Visible(revision))
}

// Capabilities returns lines about capabilities, the most dangerous first: one for each
// that is seldom harmless, with the place that shows it, and one for the others of a kind.
func Capabilities(items []surface.Item) []string {
	var all []string
	groups := map[surface.Kind][]string{}
	var order []surface.Kind
	for _, item := range items {
		switch item.Kind {
		case surface.Name, surface.Description:
		case surface.Download, surface.Credential, surface.Persistence, surface.Decoder, surface.Instruction, surface.Hidden, surface.Remote, surface.Class, surface.Hook, surface.Server, surface.Program, surface.Unread:
			all = append(all, mark+cut(item.String()))
		default:
			if groups[item.Kind] == nil {
				order = append(order, item.Kind)
			}
			groups[item.Kind] = append(groups[item.Kind], item.Value)
		}
	}
	for _, kind := range order {
		all = append(all, group(kind, groups[kind]))
	}
	return all
}

// maxNamed bounds the capabilities of a kind that a line names.
const maxNamed = 12

// group returns the line about the capabilities of a kind.
func group(kind surface.Kind, values []string) string {
	verb := map[surface.Kind]string{
		surface.Host: "reach the hosts", surface.Network: "open network connections", surface.Path: "touch paths outside of the workspace:",
		surface.Variable: "read the variables", surface.Command: "run", surface.Package: "use the packages", surface.Tool: "want these tools allowed:",
		surface.Asks: "ask the", surface.Calls: "call the skills", surface.Image: "run in the image of the role", surface.Script: "run its scripts",
	}[kind]
	if kind == surface.Network {
		return mark + verb
	}
	text := strings.Join(values[:min(len(values), maxNamed)], ", ")
	if len(values) > maxNamed {
		text += fmt.Sprintf(" and %d more", len(values)-maxNamed)
	}
	return mark + cut(termtext.Visible(strings.TrimSpace(verb+" "+text)))
}

// Summary describes the change in a line without any text of a stranger but names, for a
// model to pass on.
func (c *Change) Summary() string {
	var names []string
	for _, item := range c.Items[:min(len(c.Items), maxNamed)] {
		names = append(names, quoted(item.Name))
	}
	text := "would install " + strings.Join(names, ", ") + ", whose files the person looks at before"
	if c.Suspicious() {
		text += "; its source states that it is suspicious"
	}
	for _, item := range c.Items {
		if counts := verdict.Counts(item.Findings); counts != "" {
			text += "; the scan found " + counts + " in " + quoted(item.Name)
		}
	}
	return text + "."
}

// stranger returns a line of a stranger's text.
func stranger(text string) string { return mark + cut(termtext.Visible(text)) }

func marked(texts []string) []string {
	all := make([]string, len(texts))
	for i, text := range texts {
		all[i] = stranger(text)
	}
	return all
}

// quoted returns a name in quotes, short.
func quoted(name string) string {
	const most = 80
	if len(name) > most {
		name = name[:most] + "…"
	}
	return `"` + termtext.Visible(name) + `"`
}

// cut returns a line of at most maxLine bytes.
func cut(line string) string {
	if len(line) <= maxLine {
		return line
	}
	return fmt.Sprintf("%s … (%d bytes more)", strings.ToValidUTF8(line[:maxLine], ""), len(line)-maxLine)
}
