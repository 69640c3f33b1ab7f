package manifest

import (
	"path"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills"
	"gopkg.in/yaml.v3"
)

// texts reads the skill's description and when to use it.
func (p attributeReader) texts() {
	s := p.skill
	s.Description = strings.TrimSpace(p.fields.text("description"))
	s.WhenToUse = strings.TrimSpace(p.fields.text("when_to_use"))
	if s.Description == "" {
		s.Description = firstParagraph(s.Instructions)
	}
}

func (p attributeReader) checkDescription() {
	description := p.skill.Description
	at := p.fields.pos("description")
	if p.fields.text("description") == "" {
		instead := ""
		if description != "" {
			instead = " in the frontmatter; the beginning of the text is used"
		}
		p.report(skills.Warning, at, "say what the skill does and when to use it", "there is no description%s", instead)
	}
	if n := len([]rune(description)); n > 1024 {
		p.report(skills.Warning, at, "shorten it; clients may cut it", "the description is %d characters long, more than 1024", n)
	}
	p.checkHidden()
}

func (p attributeReader) checkHidden() {
	if r, found := hiddenRune(p.skill.Name, p.skill.Description, p.skill.WhenToUse); found {
		p.report(skills.Warning, p.fields.pos("description"), "remove it", "name or description contain the invisible or direction-changing character %U", r)
	}
}

func (p attributeReader) invocation() {
	s := p.skill
	disabled, ok := p.fields.flag("disable-model-invocation", false)
	if !ok {
		p.restriction("disable-model-invocation", "true or false")
		disabled = true
	}
	s.ModelInvocable = !disabled
	s.UserInvocable = p.fields.boolean("user-invocable", true)
	s.Arguments = p.fields.words("arguments", strings.Fields)
	s.ArgumentHint = p.hint()
}

// hint reads the text to type after the skill's name. Most write it like [file],
// which is a list to YAML.
func (p attributeReader) hint() string {
	if node := p.fields.get("argument-hint"); node != nil && node.Kind == yaml.SequenceNode && isWords(node) {
		return "[" + strings.Join(p.fields.words("argument-hint", one), ", ") + "]"
	}
	return p.fields.text("argument-hint")
}

// class reads the skill's class, and fails closed.
func (p attributeReader) class() {
	p.skill.Class = skills.Safe
	if p.fields.get("class") == nil {
		return
	}
	switch class := skills.Class(p.fields.text("class")); class {
	case skills.Safe, skills.Mutating, skills.Dangerous:
		p.skill.Class = class
	default:
		p.restriction("class", "safe, mutating or dangerous")
	}
}

// asks reads whom the script may ask. A word that is none of them gives it
// nobody more to ask.
func (p attributeReader) asks() {
	if p.fields.get("asks") == nil {
		return
	}
	all := []skills.Asked{skills.AskPerson, skills.AskModel, skills.AskRoots}
	p.skill.Asks = nil
	for _, word := range p.fields.words("asks", strings.Fields) {
		switch asked := skills.Asked(word); {
		case !slices.Contains(all, asked):
			p.report(skills.Warning, p.fields.pos("asks"), "write person, model or roots", "%s in %q is nobody who can be asked, and is ignored", show(word), "asks")
		case !slices.Contains(p.skill.Asks, asked):
			p.skill.Asks = append(p.skill.Asks, asked)
		}
	}
}

// Bounds of the skills that a script wants to call.
const (
	maxCalls      = 64  // patterns of one skill
	maxCallLength = 256 // of one pattern, in bytes
)

// calls reads which skills the script wants to call. A pattern that cannot be used is
// reported and names no skill.
func (p attributeReader) calls() {
	if p.fields.get("calls") == nil {
		return
	}
	p.skill.Calls = nil
	at := p.fields.pos("calls")
	for _, pattern := range p.fields.words("calls", strings.Fields) {
		_, err := path.Match(pattern, "")
		switch {
		case slices.Contains(p.skill.Calls, pattern):
		case err != nil || pattern == "" || len(pattern) > maxCallLength:
			p.report(skills.Warning, at, "write the name of a skill, plugin/name or plugin/*", "%s in %q names no skill, and is ignored", show(pattern), "calls")
		case len(p.skill.Calls) == maxCalls:
			p.report(skills.Warning, at, "name fewer", "there are more than %d skills in %q; the rest is ignored", maxCalls, "calls")
			return
		default:
			p.skill.Calls = append(p.skill.Calls, pattern)
		}
	}
}

// task reads how the skill is run for clients that know tasks.
func (p attributeReader) task() {
	if p.fields.get("task") == nil {
		return
	}
	switch task := skills.Task(p.fields.get("task").Value); task {
	case skills.TaskAlways, skills.TaskRequired:
		p.skill.Task = task
	default:
		p.fields.wrongType("task", "always or required")
	}
}

// ignored reports the fields that this server does not honour.
func (p attributeReader) ignored() {
	for _, field := range [...]struct{ key, why string }{
		{"requires", "only metadata can say what a skill needs where it runs"},
		{"context", "the instructions are read in the caller's own context"},
		{"allowed-tools", "it grants nothing here: the sandbox decides what a script can do"},
		{"disallowed-tools", "it forbids nothing here: the sandbox decides what a script can do"},
		{"hooks", "hooks are not run"},
	} {
		if p.fields.get(field.key) != nil {
			p.report(skills.Note, p.fields.pos(field.key), "", "%q is not honoured: %s", field.key, field.why)
		}
	}
	if skills.HasInlineCommands(p.skill.Instructions) {
		p.report(skills.Note, Position{}, "", "the instructions contain !`commands`; they are shown, not run")
	}
}
