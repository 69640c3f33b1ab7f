package skills

// pin reads whether the author wants the skill to be a tool where not all are.
func (p *parser) pin() {
	var ok bool
	if p.skill.Pinned, ok = p.fields.flag("pin", false); !ok {
		p.fields.wrongType("pin", "true or false")
	}
}
