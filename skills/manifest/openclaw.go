package manifest

import (
	"github.com/skillsmcp/skills-mcp/skills"
	"gopkg.in/yaml.v3"
)

// openClawNames are the names that OpenClaw has had, the newest first.
func openClawNames() []string { return []string{"openclaw", "moltbot", "clawdbot", "clawdis"} }

// openClaw reads the requirements in OpenClaw's part of the metadata:
//
//	metadata: {openclaw: {os: [linux], requires: {bins: [jq], anyBins: [rg, grep], env: [KEY], config: [a.b]}}}
//
// Of several names the newest counts. A skill that is `always` there needs its
// system, and nothing else. What `install` says is never run.
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
