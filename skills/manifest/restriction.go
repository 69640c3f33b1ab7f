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

// misspelt fails closed over restricting fields that a merge key brings or that are
// misspelt, such as disableModelInvocation: other readers may honor them.
func (p restrictionReader) misspelt() {
	for _, f := range p.fields.list {
		if f.key == "<<" {
			p.merged(f.node, map[*yaml.Node]bool{})
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

// merged looks for restricting fields that a merge key brings, once in each
// mapping.
func (p restrictionReader) merged(node *yaml.Node, seen map[*yaml.Node]bool) {
	node = deref(node)
	if node == nil || seen[node] {
		return
	}
	seen[node] = true
	if node.Kind == yaml.SequenceNode {
		for _, item := range node.Content {
			p.merged(item, seen)
		}
		return
	}
	for _, f := range newFields(node, discard).list {
		if _, known := restrictions[f.key]; known && p.fields.get(f.key) == nil && restricts(f.key, f.node) {
			p.withheld(f.at, "write it as a field of its own", "%q is merged by <<, which is not read", f.key)
		}
		if f.key == "<<" {
			p.merged(f.node, seen)
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
