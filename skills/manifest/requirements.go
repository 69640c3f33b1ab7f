package manifest

import (
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills"
	"gopkg.in/yaml.v3"
)

// maxNeeds bounds the requirements of one kind that a skill has.
const maxNeeds = 256

// in returns the fields of the map under key; ok is false where there is none.
func (p requirementReader) in(f fields, key string) (inner fields, ok bool) {
	node := f.get(key)
	switch {
	case node == nil:
		return fields{}, false
	case node.Kind != yaml.MappingNode:
		p.restrictionAt(f.pos(key), key, "a map")
		return fields{}, false
	}
	return newFields(node, f.report), true
}

// add appends to list the words of key, a list or words with commas between them,
// that it does not have.
func (p requirementReader) add(list *[]string, f fields, key string) {
	node := f.get(key)
	if node == nil {
		return
	}
	if !isWords(node) {
		p.restrictionAt(f.pos(key), key, "a list of words")
		return
	}
	for _, word := range f.words(key, func(s string) []string { return strings.Split(s, ",") }) {
		word = strings.TrimSpace(word)
		switch {
		case word == "" || slices.Contains(*list, word):
		case len(*list) == maxNeeds:
			p.restrictionAt(f.pos(key), key, "a shorter list")
			return
		default:
			*list = append(*list, word)
		}
	}
}

// systems appends to list the systems of key, by the names that Go has for them.
func (p requirementReader) systems(list *[]string, f fields, key string) {
	var names []string
	p.add(&names, f, key)
	for _, name := range names {
		if name = system(name); !slices.Contains(*list, name) {
			*list = append(*list, name)
		}
	}
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
	if metadata, ok := p.metadata(); ok {
		p.openClaw(metadata)
		p.onGrid(metadata)
	}
	p.linX()
	p.foreign()
}

// metadata returns the map in `metadata`, or in its text of JSON or JSON5. Metadata of
// other types has no requirements; a text that looks like them and cannot be read is
// a restriction.
func (p requirementReader) metadata() (inner fields, ok bool) {
	node := p.fields.get("metadata")
	if node == nil {
		return fields{}, false
	}
	node, err := unquoted(node)
	if err != nil {
		p.restrictionAt(p.fields.pos("metadata"), "metadata", "a map, or JSON")
		return fields{}, false
	}
	return newFields(node, discard), node.Kind == yaml.MappingNode
}

// openClawNames are the names that OpenClaw has had, the newest first.
var openClawNames = [...]string{"openclaw", "moltbot", "clawdbot", "clawdis"}

// openClaw reads the requirements in OpenClaw's part of the metadata:
//
//	metadata: {openclaw: {os: [linux], requires: {bins: [jq], anyBins: [rg, grep], env: [KEY], config: [a.b]}}}
//
// Of several names the newest counts. A skill that is `always` there needs its
// system, and nothing else. `install` is never run.
func (p requirementReader) openClaw(metadata fields) {
	for _, name := range openClawNames {
		node := metadata.get(name)
		if node == nil {
			continue
		}
		node, err := unquoted(node)
		if err != nil || node.Kind != yaml.MappingNode {
			p.restrictionAt(metadata.pos(name), "metadata."+name, "a map")
			return
		}
		own := newFields(node, discard)
		if own.get("install") != nil {
			p.report(skills.Note, p.fields.pos("metadata"), "", `"install" is not honoured: nothing of it is run`)
		}
		p.skill.Key = own.text("skillKey")
		if name := own.text("primaryEnv"); environmentName.MatchString(name) && !slices.Contains(p.skill.Secrets, name) {
			p.skill.Secrets = append(p.skill.Secrets, name)
		}
		p.systems(&p.skill.Requires.OS, own, "os")
		if always, ok := own.flag("always", false); !ok || !always {
			p.programs(own)
		}
		return
	}
}

// programs reads a map `requires`, as OpenClaw and ongrid write it.
func (p requirementReader) programs(f fields) {
	r := &p.skill.Requires
	if requires, ok := p.in(f, "requires"); ok {
		p.add(&r.Bins, requires, "bins")
		p.add(&r.AnyBins, requires, "anyBins")
		p.add(&r.Env, requires, "env")
		p.add(&r.Config, requires, "config")
	}
}

// linX reads the requirements of LinX:
//
//	gating: {binaries: [jq], env_vars: [KEY]}
//	required_capabilities: [network]
func (p requirementReader) linX() {
	r := &p.skill.Requires
	p.add(&r.Capabilities, p.fields, "required_capabilities")
	if gating, ok := p.in(p.fields, "gating"); ok {
		p.add(&r.Bins, gating, "binaries")
		p.add(&r.Env, gating, "env_vars")
	}
}

// onGrid reads the requirements that ongrid has in the metadata without a name
// of its own:
//
//	metadata: {os: [linux], requires: {bins: [jq], config: [a.b]}}
func (p requirementReader) onGrid(metadata fields) {
	p.systems(&p.skill.Requires.OS, metadata, "os")
	p.programs(metadata)
}

// foreign notes the keys that are nearly one that is read. Others are kept without a
// word.
func (p requirementReader) foreign() {
	known := owners()
	for _, f := range newFields(p.fields.get("metadata"), discard).list {
		if isOwn(f.key) && p.fields.get(f.key) == nil {
			p.report(skills.Warning, f.at, "write it at the top of the frontmatter", "%q stands in metadata, where it is not read", f.key)
		}
	}
	for _, f := range p.fields.list {
		if parent := parentOf(f.key); parent != "" {
			p.report(skills.Warning, f.at, "write it below "+parent, "%q stands at the top, where it is not read", f.key)
			continue
		}
		if known[f.key] != "" || f.key == "scripts" && f.node.Kind != yaml.ScalarNode {
			continue // a list of scripts is no script
		}
		if meant := misspelt(f.key); meant != "" && p.fields.get(meant) == nil {
			severity := skills.Note
			if isOwn(meant) {
				severity = skills.Warning
			}
			p.report(severity, f.at, "write "+meant+", if that is meant", "%q is not known; it is kept and has no effect", f.key)
		}
	}
}
