package manifest

import (
	"cmp"

	"github.com/skillsmcp/skills-mcp/skills"
	"gopkg.in/yaml.v3"
)

// ongridPart returns ongrid's own part of the metadata.
func (p ongridReader) ongridPart() fields {
	node := p.fields.get("metadata")
	if node != nil {
		if read, err := unquoted(node); err == nil {
			node = read
		}
	}
	metadata := newFields(node, discard)
	return newFields(metadata.get("ongrid"), discard)
}

// maxKeywords bounds the keywords of a skill that are searched.
const maxKeywords = 64

// activation reads the words that ongrid takes a skill for, which a search finds
// it by. Those in ongrid's own part of the metadata count before those at the top.
func (p ongridReader) activation() {
	for _, node := range []*yaml.Node{p.ongridPart().get("activation"), p.fields.get("activation")} {
		words := newFields(node, discard).words("keywords", splitPaths)
		if len(words) > 0 {
			p.skill.Keywords = words[:min(len(words), maxKeywords)]
			return
		}
	}
}

// ongridTools notes the tools in ongrid's part of the metadata. ongrid has their programs,
// and classes for them: so no script of the folder is offered in their stead.
func (p ongridReader) ongridTools() {
	own := p.ongridPart()
	tools := own.get("tools")
	if tools == nil || tools.Kind != yaml.SequenceNode {
		return
	}
	var names []string
	for _, node := range tools.Content {
		node = deref(node)
		name := newFields(node, discard).text("name")
		if node.Kind == yaml.ScalarNode {
			name = node.Value
		}
		names = append(names, cmp.Or(name, "one without a name"))
	}
	p.withheldTool = true
	p.report(skills.Note, own.pos("tools"), "declare those of the folder in "+ToolsFile, "metadata.ongrid.tools names tools of ongrid's own, which are not here: %s", skills.Enumerate(FirstFew(names, 5), "and"))
}
