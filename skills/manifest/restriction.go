package manifest

import (
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/skillsmcp/skills-mcp/skills"
	"gopkg.in/yaml.v3"
)

// misplaced fails closed over fields that restrict and are not read.
func (p restrictionReader) misplaced() {
	p.misspelt()
	lost := p.doc.lost()
	for _, key := range slices.Sorted(maps.Keys(lost)) {
		p.withheld(Position{Line: lost[key]}, `write it between two lines "---" at the top of the file`, "%q stands outside of the frontmatter", key)
	}
}

// misspelt fails closed over merge keys, which may bring restricting fields, and over
// restricting fields that are misspelt, such as disableModelInvocation: other readers may
// honor them.
func (p restrictionReader) misspelt() {
	for _, f := range p.fields.list {
		if f.key == "<<" {
			p.withheld(f.at, "write its fields out", "<< merges fields, which are not read")
			continue
		}
		key := strings.Map(func(r rune) rune {
			if r = unicode.ToLower(r); r < 'a' || r > 'z' {
				return -1
			}
			return r
		}, f.key)
		for exact := range restrictions {
			if f.key != exact && key == strings.ReplaceAll(exact, "-", "") && restricts(exact, f.node) {
				p.withheld(f.at, "write "+exact, "%q is not spelt %q", f.key, exact)
			}
		}
	}
}

// restricts reports whether the value of a field restricts the skill.
func restricts(key string, node *yaml.Node) bool {
	if isNull(node) || node.Kind != yaml.ScalarNode {
		return !isNull(node)
	}
	if key == "class" {
		class := skills.Class(strings.ToLower(strings.TrimSpace(node.Value)))
		return class == skills.Mutating || class == skills.Dangerous
	}
	return !isFalse(node.Value)
}

// withheld keeps a skill from models, with nothing to run.
func (p restrictionReader) withheld(at Position, remedy, format string, args ...any) {
	p.failed = true
	p.skill.ModelInvocable = false
	p.report(skills.Error, at, remedy, format+", "+instructionsOnly+", and no model is offered it", args...)
}
