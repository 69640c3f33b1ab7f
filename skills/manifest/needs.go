package manifest

import (
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// maxNeeds is how many things of one kind a skill may need.
const maxNeeds = 256

// needs reads the requirements of one dialect after the other.
type needs struct {
	fields
	// unreadable is called for a key that restricts the skill and cannot be read.
	unreadable func(at Position, key, want string)
}

// in are the needs in the map that key holds; ok is false where there is none.
func (n needs) in(key string) (inner needs, ok bool) {
	node := n.get(key)
	switch {
	case node == nil:
		return needs{}, false
	case node.Kind != yaml.MappingNode:
		n.unreadable(n.pos(key), key, "a map")
		return needs{}, false
	}
	return needs{newFields(node, n.report), n.unreadable}, true
}

// add appends the words of key, a list or words with commas between them, that
// are not yet in list.
func (n needs) add(list []string, key string) []string {
	node := n.get(key)
	if node == nil {
		return list
	}
	if !isWords(node) {
		n.unreadable(n.pos(key), key, "a list of words")
		return list
	}
	words := n.words(key, func(s string) []string { return strings.Split(s, ",") })
	for _, word := range words {
		word = strings.TrimSpace(word)
		switch {
		case word == "" || slices.Contains(list, word):
		case len(list) == maxNeeds:
			n.unreadable(n.pos(key), key, "a shorter list")
			return list
		default:
			list = append(list, word)
		}
	}
	return list
}

// isWords accepts text, and a list of nothing but text.
func isWords(node *yaml.Node) bool {
	if node.Kind == yaml.ScalarNode {
		return true
	}
	return node.Kind == yaml.SequenceNode && !slices.ContainsFunc(node.Content, func(item *yaml.Node) bool {
		item = deref(item)
		return item.Kind != yaml.ScalarNode || isNull(item)
	})
}

// systems appends the systems of key to list, by the names that Go has for them.
func (n needs) systems(list []string, key string) []string {
	for _, name := range n.add(nil, key) {
		if name = system(name); !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	return list
}

func system(name string) string {
	switch name = strings.ToLower(name); name {
	case "macos", "mac", "osx":
		return "darwin"
	case "win32", "win":
		return "windows"
	}
	return name
}

// requirements reads what each dialect says that the skill needs.
func (p requirementReader) requirements() {
	n := needs{p.fields, p.restrictionAt}
	r := &p.skill.Requires
	if metadata, ok := p.metadata(); ok {
		p.openClaw(metadata)
		onGrid(r, metadata)
	}
	linX(r, n)
	p.foreign()
}
