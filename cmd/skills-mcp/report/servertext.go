package report

import (
	"fmt"
	"strings"

	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/plain"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/server/skillshost"
	"github.com/skillsmcp/skills-mcp/skills/install/adopt"
	"github.com/skillsmcp/skills-mcp/skills/surface"
)

// maxShownSkills bounds the skills in a question.
const maxShownSkills = 20

// ServerQuestion describes a connection, with strangers' text escaped. A nil listing is
// not known yet.
func ServerQuestion(server skillshost.Server, l *skillshost.Listing) string {
	var b strings.Builder
	fmt.Fprintf(&b, "skills-mcp: use the skills of another MCP server, as %s/SKILL?\n> %s\n", server.Label, plain.Visible(server.Address.String()))
	if len(server.Address.Command) > 0 {
		b.WriteString("This is a program, and no skill: it runs outside of any sandbox, as you. It can\ndo all that you can, with all your files and variables. It starts now, and\nwhenever its skills are listed or loaded.\n")
	}
	if server.TokenEnv != "" {
		fmt.Fprintf(&b, "It gets the token in your variable %s.\n", plain.Visible(server.TokenEnv))
	}
	b.WriteString("Models see the names and descriptions of its skills. You are asked about each\nskill when it is first loaded, and after each change; only then are its files\nfetched.\n")
	if l == nil {
		return b.String()
	}
	fmt.Fprintf(&b, "It lists %s:\n", plain.Count(len(l.Entries), "skill"))
	for i, e := range l.Entries {
		if i == maxShownSkills {
			fmt.Fprintf(&b, "> and %d more\n", len(l.Entries)-i)
			break
		}
		fmt.Fprintf(&b, "> %s: %s\n", plain.Visible(e.Name()), plain.Visible(plain.OneLine(e.Description(), 70)))
	}
	return b.String()
}

// TrustQuestion describes a trust, with strangers' text escaped.
func TrustQuestion(t *run.Trust) string {
	var b strings.Builder
	fmt.Fprintf(&b, "skills-mcp: you do not trust this workspace:\n> %s\n", plain.Visible(t.Workspace))
	b.WriteString("If you do, its skills come first. They may get the variables that your\nconfiguration grants to skills, and you may approve what they ask for.\nIts skills:\n")
	for _, change := range t.Changes {
		fmt.Fprintf(&b, "> %s\n", plain.Visible(change))
	}
	if len(t.Changes) == 0 {
		b.WriteString("> none\n")
	}
	return b.String()
}

// AdoptionLines describes candidates to a person. Strangers wrote most of the texts.
func AdoptionLines(found []*adopt.Candidate) (lines []string) {
	for _, candidate := range found {
		if candidate.State == nil {
			reason := candidate.Reason
			if candidate.Remedy != "" {
				reason += "; " + candidate.Remedy
			}
			lines = append(lines, fmt.Sprintf("%s (%s): not adopted: %s", plain.Visible(candidate.Name), candidate.Tool, plain.Visible(reason)))
			continue
		}
		state := candidate.State
		lines = append(lines, fmt.Sprintf("%s (%s)", plain.Visible(candidate.Path), candidate.Tool), "  from "+plain.Visible(state.Source.String()))
		if state.Revision != "" {
			lines = append(lines, "  revision "+plain.Visible(state.Revision))
		}
		lines = append(lines, "  "+capabilitiesOf(state.Surface))
		for _, text := range state.Checked {
			lines = append(lines, "  proved: "+plain.Visible(text))
		}
		for _, text := range state.Unproved {
			lines = append(lines, "  not proved: "+plain.Visible(text))
		}
		for _, path := range candidate.Copies {
			lines = append(lines, "  stays as it is: another folder of this name, "+plain.Visible(path))
		}
	}
	return lines
}

// capabilitiesOf names the kinds of capabilities of a surface, which show --capabilities
// lists one by one.
func capabilitiesOf(items []surface.Item) string {
	counts, kinds := map[surface.Kind]int{}, []string{}
	for _, item := range items {
		if counts[item.Kind]++; counts[item.Kind] == 1 {
			kinds = append(kinds, string(item.Kind))
		}
	}
	if len(kinds) == 0 {
		return "no capabilities were found in it"
	}
	return fmt.Sprintf("%d capabilities: %s", len(items), strings.Join(kinds, ", "))
}
