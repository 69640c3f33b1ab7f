package manifest

import (
	"github.com/skillsmcp/skills-mcp/skills"
	"slices"
	"strings"
)

// asks reads whom the script may ask. A word that is none of them gives it
// nobody more to ask.
func (p *parser) asks() {
	if p.fields.get("asks") == nil {
		return
	}
	all := []skills.Asked{skills.AskPerson, skills.AskModel, skills.AskRoots}
	p.skill.Asks = nil
	for _, word := range p.fields.words("asks", strings.Fields) {
		switch asked := skills.Asked(word); {
		case !slices.Contains(all, asked):
			p.report(skills.Warning, p.fields.pos("asks"), "write person, model or roots", "%s in %q is nobody who can be asked, and is ignored", Show(word), "asks")
		case !slices.Contains(p.skill.Asks, asked):
			p.skill.Asks = append(p.skill.Asks, asked)
		}
	}
}

// task reads how the skill is run for clients that know tasks.
func (p *parser) task() {
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

// pin reads whether the author wants the skill to be a tool where not all are.
func (p *parser) pin() {
	var ok bool
	if p.skill.Pinned, ok = p.fields.flag("pin", false); !ok {
		p.fields.wrongType("pin", "true or false")
	}
}
