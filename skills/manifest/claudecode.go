package manifest

import (
	"cmp"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills"
)

// ParseCommand reads a command. It is called name, whatever the file says, and
// there is nothing to run.
func ParseCommand(data []byte, skill *skills.Skill, name string, o Options) error {
	doc, err := parseDocument(data)
	if err != nil {
		return err
	}
	return newParser(skill, doc, o).commandFile(name)
}

// commandFile reads the content of a command's file.
func (p *parser) commandFile(name string) error {
	if err := p.raw(); err != nil {
		return err
	}
	p.doc.repairs(p.report)
	skill := p.skill
	skill.Instructions = strings.TrimSpace(p.doc.body)
	if skill.Instructions == "" {
		return Errorf(Position{}, "write what the command asks for below the frontmatter", "the command has no text")
	}
	if name == "" {
		return Errorf(Position{}, "rename the file", "the command has no name")
	}
	skill.Name, skill.Class, skill.Command = name, skills.Safe, true
	of := attributeReader{p}
	of.texts()
	of.checkHidden()
	of.invocation()
	restrictionReader{p}.misplaced()
	requirementReader{p}.requirements()
	of.paths()
	skill.Pinned = p.fields.boolean("pin", skill.Always())
	of.ignored()
	return nil
}

// ParseAgent reads an agent. agent comes with its location; name is its file's,
// with the folders above it.
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
