package manifest

import (
	"github.com/skillsmcp/skills-mcp/skills"
	"strings"
)

// commandName is the name of a command in a file, whose path has no extension.
func CommandName(name string) string { return CleanName(strings.ReplaceAll(name, "/", ":")) }

// ParseCommand reads a command. It is called name, whatever the file says, and
// there is nothing to run.
func ParseCommand(data []byte, skill *skills.Skill, name string, o Options) error {
	doc, err := parseDocument(data)
	if err != nil {
		return err
	}
	return parse(skill, doc, o, func(p *parser) error { return p.commandFile(name) })
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
	p.texts()
	p.checkHidden()
	p.invocation()
	restrictionReader{p}.misplaced()
	requirementReader{p}.requirements()
	p.paths()
	p.pin()
	p.ignored()
	return nil
}
