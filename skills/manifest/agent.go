package manifest

import (
	"cmp"
	"github.com/skillsmcp/skills-mcp/skills"
	"strings"
)

// ParseAgent reads an agent. agent comes with what is known of its place; name is
// its file's, with the folders above it.
func ParseAgent(data []byte, agent *skills.Agent, name string, report Report) error {
	doc, err := parseDocument(data)
	if err != nil {
		return err
	}
	if agent.Frontmatter, err = doc.values(); err != nil {
		return err
	}
	doc.repairs(report)
	f := newFields(doc.front, report)
	agent.Instructions = strings.TrimSpace(doc.body)
	agent.Name = cmp.Or(CleanName(f.text("name")), CommandName(name))
	agent.Description = strings.TrimSpace(f.text("description"))
	agent.Model = strings.TrimSpace(f.text("model"))
	agent.Tools = f.words("tools", splitTools)
	switch {
	case agent.Name == "":
		return Errorf(Position{}, "add a name", "the agent has no name")
	case agent.Description == "" && agent.Instructions == "":
		return Errorf(Position{}, "write who the agent is below the frontmatter", "the agent has neither a description nor a text")
	case agent.Description == "":
		report(skills.Warning, f.pos("description"), "say when to use the agent", "there is no description")
	}
	if r, found := hiddenRune(agent.Name, agent.Description); found {
		report(skills.Warning, f.pos("description"), "remove it", "name or description contain the invisible or direction-changing character %U", r)
	}
	return nil
}

// splitTools splits the names of tools at commas and blanks, but not within
// parentheses: "Bash(git add *), Read".
func splitTools(text string) []string { return splitOutside(text, '(', ')', ", \t\n") }
