// Package manifest reads the bytes of one manifest into the model, with problems
// at the positions that their parsers counted. There is a file for each dialect:
// SKILL.md, commands and agents of Claude Code, tools.yaml, ongrid's skill.json,
// LinX, OpenClaw, Codex, and the manifests of plugins and marketplaces.
//
// Start with [ParseSkill] and [ParsePlugin].
package manifest

import (
	"strings"
	"unicode/utf8"

	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/lazyregexp"
)

// ParseSkill reads a SKILL.md. skill comes with its location: Plugin, Source,
// Dir, File, Files. folder is the name of its folder.
func ParseSkill(data []byte, skill *skills.Skill, folder string, o Options) error {
	doc, err := parseDocument(data)
	if err != nil {
		return err
	}
	return newParser(skill, doc, o).skillFile(folder)
}

// skillFile reads the content of a SKILL.md in a folder.
func (p *parser) skillFile(folder string) error {
	if err := p.raw(); err != nil {
		return err
	}
	p.doc.repairs(p.report)
	if err := p.identity(folder); err != nil {
		return err
	}
	of := attributeReader{p}
	of.invocation()
	of.openAI()
	restrictionReader{p}.misplaced()
	of.paths()
	p.skill.Pinned = p.fields.boolean("pin", p.skill.Always())
	of.asks()
	of.calls()
	p.skill.Secrets = variables(p.fields, "secrets")
	of.task()
	of.class()
	requirementReader{p}.requirements()
	ongridReader{p}.activation()
	if err := (entryReader{p}).entry(); err != nil {
		return err
	}
	linxReader{p}.linxTools()
	toolReader{p}.toolsFile()
	ongridReader{p}.ongridTools()
	toolReader{p}.scriptTools()
	of.ignored()
	if p.failed {
		p.skill.Entry, p.skill.Tools = nil, nil
	}
	resourceReader{p}.resources()
	return nil
}

// conforming matches a name as the Agent Skills specification wants it, and with
// the underscores that Colony allows.
var conforming = lazyregexp.New(`^[a-z0-9]+([-_][a-z0-9]+)*$`)

func (p *parser) identity(folder string) error {
	s := p.skill
	s.Instructions = strings.TrimSpace(p.doc.body)
	given := strings.TrimSpace(p.fields.text("name"))
	if p.options.Strict {
		if err := p.strict(folder); err != nil {
			return err
		}
	}
	attributeReader{p}.texts()
	if given == "" && s.Description == "" {
		return Errorf(Position{}, "add name and description between two lines ---", "it has neither a name nor a description")
	}
	s.Name = CleanName(given)
	if s.Name == "" {
		s.Name = CleanName(folder)
	}
	p.checkName(given, folder)
	attributeReader{p}.checkDescription()
	return nil
}

// standardName matches a name as the Agent Skills specification wants it.
var standardName = lazyregexp.New(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// strict returns an error for a skill without the name and description of the standard.
func (p *parser) strict(folder string) error {
	name, at := p.fields.text("name"), p.fields.pos("name")
	const remedy = "correct it, or set scan.strict: false"
	switch {
	case name == "" || len(name) > 64 || !standardName.MatchString(name):
		return Errorf(at, remedy, "it is left out (scan.strict): the name %s is not one that the standard allows", show(name))
	case folder != "" && name != folder:
		return Errorf(at, remedy, "it is left out (scan.strict): the name %q differs from the folder's, %q", name, folder)
	case strings.TrimSpace(p.fields.text("description")) == "":
		return Errorf(p.fields.pos("description"), remedy, "it is left out (scan.strict): there is no description")
	}
	return nil
}

func (p *parser) checkName(given, folder string) {
	at, name := p.fields.pos("name"), p.skill.Name
	switch {
	case given != "" && given != name:
		p.report(skills.Warning, at, "use a-z, 0-9 and -", "the name %q is not usable; the skill is called %q", given, name)
	case utf8.RuneCountInString(name) > 64:
		p.report(skills.Warning, at, "shorten it to 64 characters", "the name is %d characters long, more than 64; its tool is called %q", utf8.RuneCountInString(name), p.skill.HashedToolName())
	case !conforming.MatchString(name):
		p.report(skills.Warning, at, "use a-z, 0-9 and -", "the name %q does not conform to the Agent Skills specification", name)
	}
	if folder != "" && given != "" && given != folder {
		p.report(skills.Warning, at, "give both the same name", "the name %q differs from the folder's, %q", given, folder)
	}
}
