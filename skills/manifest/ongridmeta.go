package manifest

import (
	"cmp"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/infer"
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

// ongridTools adds the tools in ongrid's part of the metadata whose program is in
// the folder: they are called as a skill.json's are. Others are ongrid's own.
func (p ongridReader) ongridTools() {
	own := p.ongridPart()
	tools := own.get("tools")
	if tools == nil || tools.Kind != yaml.SequenceNode {
		return
	}
	var absent []string
	for i, node := range tools.Content {
		if i == maxTools {
			toolReader(p).tooMany(posOf(deref(node)))
			break
		}
		node = deref(node)
		f := newFields(node, p.report)
		name := f.text("name")
		if node.Kind == yaml.ScalarNode {
			name = node.Value
		}
		added, err := p.ongridTool(name, f, posOf(node))
		if err != nil {
			p.reject(err)
		} else if !added {
			absent = append(absent, cmp.Or(name, "one without a name"))
		}
	}
	if len(absent) > 0 {
		p.report(skills.Note, own.pos("tools"), "", "metadata.ongrid.tools names tools of ongrid's own, which are not here: %s", skills.Enumerate(FirstFew(absent, 5), "and"))
	}
}

// ongridTool adds a tool whose program is in the skill's folder; added is false
// where there is none.
func (p ongridReader) ongridTool(name string, f fields, at Position) (added bool, err error) {
	script := ""
	for _, key := range []string{"script", "entry", "impl", "path", "command"} {
		if at := strings.TrimSpace(f.text(key)); at != "" {
			if _, err := infer.FindScript(p.skill, at); err == nil {
				script = at
				break
			}
		}
	}
	if script == "" || p.skill.Command {
		return false, nil
	}
	tool, err := toolReader(p).tool(name, at)
	if err != nil {
		return false, err
	}
	interpreter, err := infer.InterpreterOf(p.skill, script)
	if err != nil {
		return false, err
	}
	class, ok := ongridClasses()[f.text("class")]
	if !ok {
		p.withheldTool = true
		return false, Errorf(f.pos("class"), "write safe, mutating or dangerous", `"class" is not safe, mutating or dangerous, so the tool is left out`)
	}
	q := toolReader(p).forTool(tool, f)
	tool.Class = stricter(class, p.skill.Class)
	tool.Description, tool.WhenToUse = strings.TrimSpace(f.text("description")), strings.TrimSpace(f.text("when_to_use"))
	tool.Entry = ongridReader{q}.ongridCall(script, interpreter)
	toolReader(p).addTool(tool)
	return true, nil
}

// ongridClasses are the classes of tools that ongrid knows.
func ongridClasses() map[string]skills.Class {
	return map[string]skills.Class{
		"": skills.Safe, "safe": skills.Safe, "read": skills.Safe, "mutating": skills.Mutating, "write": skills.Mutating, "dangerous": skills.Dangerous, "destructive": skills.Dangerous,
	}
}

// stricter returns the class of the two that is granted less easily.
func stricter(a, b skills.Class) skills.Class {
	order := []skills.Class{skills.Safe, skills.Mutating, skills.Dangerous}
	return order[max(slices.Index(order, a), slices.Index(order, b))]
}
