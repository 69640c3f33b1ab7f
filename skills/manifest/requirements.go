package manifest

import (
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills"
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

// in returns the needs in the map under key; ok is false where there is none.
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

// requirements reads the skill's requirements in each dialect.
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

// metadata returns the map that `metadata` is, or that it holds as text of JSON
// or JSON5. Metadata of other types says nothing; a text that looks like
// requirements and cannot be read is a restriction.
func (p requirementReader) metadata() (inner needs, ok bool) {
	node := p.fields.get("metadata")
	if node == nil {
		return needs{}, false
	}
	at := p.fields.pos("metadata")
	node, err := unquoted(node)
	if err != nil {
		p.restrictionAt(at, "metadata", "a map, or JSON")
		return needs{}, false
	}
	if node.Kind != yaml.MappingNode {
		return needs{}, false
	}
	return needs{newFields(node, discard), p.restrictionAt}, true
}

// openClawNames are the names that OpenClaw has had, the newest first.
func openClawNames() []string { return []string{"openclaw", "moltbot", "clawdbot", "clawdis"} }

// openClaw reads the requirements in OpenClaw's part of the metadata:
//
//	metadata: {openclaw: {os: [linux], requires: {bins: [jq], anyBins: [rg, grep], env: [KEY], config: [a.b]}}}
//
// Of several names the newest counts. A skill that is `always` there needs its
// system, and nothing else. `install` is never run.
func (p requirementReader) openClaw(metadata needs) {
	r := &p.skill.Requires
	for _, name := range openClawNames() {
		node := metadata.get(name)
		if node == nil {
			continue
		}
		node, err := unquoted(node)
		if err != nil || node.Kind != yaml.MappingNode {
			metadata.unreadable(metadata.pos(name), "metadata."+name, "a map")
			return
		}
		own := needs{newFields(node, discard), metadata.unreadable}
		if own.get("install") != nil {
			p.report(skills.Note, p.fields.pos("metadata"), "", `"install" is not honoured: nothing of it is run`)
		}
		p.skill.Key = own.text("skillKey")
		r.OS = own.systems(r.OS, "os")
		if always, ok := own.flag("always", false); !ok || !always {
			programs(r, own)
		}
		return
	}
}

// programs reads a map `requires`, as OpenClaw and ongrid write it.
func programs(r *skills.Requires, n needs) {
	requires, ok := n.in("requires")
	if !ok {
		return
	}
	r.Bins = requires.add(r.Bins, "bins")
	r.AnyBins = requires.add(r.AnyBins, "anyBins")
	r.Env = requires.add(r.Env, "env")
	r.Config = requires.add(r.Config, "config")
}

// linX reads the requirements of LinX:
//
//	gating: {binaries: [jq], env_vars: [KEY]}
//	required_capabilities: [network]
func linX(r *skills.Requires, top needs) {
	r.Capabilities = top.add(r.Capabilities, "required_capabilities")
	gating, ok := top.in("gating")
	if !ok {
		return
	}
	r.Bins = gating.add(r.Bins, "binaries")
	r.Env = gating.add(r.Env, "env_vars")
}

// onGrid reads the requirements that ongrid has in the metadata without a name
// of its own:
//
//	metadata: {os: [linux], requires: {bins: [jq], config: [a.b]}}
func onGrid(r *skills.Requires, metadata needs) {
	r.OS = metadata.systems(r.OS, "os")
	programs(r, metadata)
}

// foreign notes the keys that are like one that is read, and those of other
// dialects that have no effect here. All others are kept, and nothing is said.
func (p requirementReader) foreign() {
	known := owners()
	for _, f := range p.fields.list {
		if known[f.key] != "" || f.key == "scripts" && f.node.Kind != yaml.ScalarNode {
			continue // a list of scripts is no script
		}
		if meant := misspelt(f.key, known); meant != "" && p.fields.get(meant) == nil {
			severity := skills.Note
			if of := known[meant]; of == "Colony" || of == "skills-mcp" || meant == "disable-model-invocation" {
				severity = skills.Warning // the field runs or restricts something
			}
			p.report(severity, f.at, "write "+meant+", if that is meant", "%q is not known; it is kept and has no effect", f.key)
		}
	}
	for _, field := range []struct{ key, why string }{
		{"requires", "only metadata can say what a skill needs where it runs"},
		{"command-dispatch", "commands are not passed on to tools"},
		{"context", "the instructions are read in the caller's own context"},
	} {
		if p.fields.get(field.key) != nil {
			p.report(skills.Note, p.fields.pos(field.key), "", "%q is not honoured: %s", field.key, field.why)
		}
	}
}
