package skills

import (
	"slices"
	"strings"
)

// An Asked is whom a script may ask while it runs.
type Asked string

// Whom a script may ask.
const (
	AskPerson Asked = "person" // who uses the client: a form to fill in
	AskModel  Asked = "model"  // the client's model: a completion
	AskRoots  Asked = "roots"  // the client: the folders that it works in
)

// asks reads whom the script may ask. A word that is none of them gives it
// nobody more to ask.
func (p *parser) asks() {
	if p.fields.get("asks") == nil {
		return
	}
	all := []Asked{AskPerson, AskModel, AskRoots}
	p.skill.Asks = nil
	for _, word := range p.fields.words("asks", strings.Fields) {
		switch asked := Asked(word); {
		case !slices.Contains(all, asked):
			p.report(Warning, p.fields.pos("asks"), "write person, model or roots", "%s in %q is nobody who can be asked, and is ignored", show(word), "asks")
		case !slices.Contains(p.skill.Asks, asked):
			p.skill.Asks = append(p.skill.Asks, asked)
		}
	}
}
