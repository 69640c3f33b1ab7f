package manifest

import (
	"cmp"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills"
	"gopkg.in/yaml.v3"
)

// ToolsFile is the file beside a SKILL.md that declares tools for its scripts.
const ToolsFile = "tools.yaml"

// toolKeys are the keys of one tool.
var toolKeys = [...]string{
	"additional", "asks", "calls", "class", "description", "disable-model-invocation", "execution_timeout", "function", "name", "output_schema", "params",
	"sandbox", "sandbox_image_role", "script", "task", "timeout_seconds", "when_to_use",
}

// toolsFile reads the file, where there is one. A tool that cannot be read costs
// itself alone.
func (p toolReader) toolsFile() {
	file := p.options.Tools
	if file.Err == nil && file.Data == nil {
		return
	}
	node, report := p.sideFile(ToolsFile, file)
	if node == nil {
		p.withheldTool = len(lostIn(string(file.Data), 0)) > 0
		return
	}
	in := *p.parser
	in.report = report
	toolReader{&in}.tools(node)
	p.withheldTool = in.withheldTool
}

// tools reads the content of the file: {tools: [{name, script, …}]}.
func (p toolReader) tools(node *yaml.Node) {
	top := newFields(node, p.report)
	list := top.get("tools")
	if list == nil || list.Kind != yaml.SequenceNode {
		at := top.pos("tools")
		at.Line = max(1, at.Line)
		p.report(skills.Error, at, "write tools: [{name: NAME, script: FILE}]", "there is no list of tools")
		return
	}
	for i, item := range list.Content {
		item = deref(item)
		if i == maxTools {
			p.tooMany(posOf(item))
			return
		}
		if err := p.declaredTool(newFields(item, p.report), posOf(item)); err != nil {
			p.reject(err)
		}
	}
}

// declaredTool reads one tool.
func (p toolReader) declaredTool(f fields, at Position) error {
	for _, field := range f.list {
		if !slices.Contains(toolKeys[:], field.key) {
			remedy := "use one of " + skills.Enumerate(toolKeys[:], "or")
			if parent := parentOf(field.key); parent == "sandbox" {
				remedy = "write it below " + parent
			}
			p.report(skills.Warning, field.at, remedy, "%q is not known and is ignored", field.key)
		}
	}
	name := f.text("name")
	tool, err := p.tool(name, cmp.Or(f.pos("name"), at))
	if err != nil {
		return err
	}
	tool.File = beside(tool.File, ToolsFile)
	q := p.forTool(tool, f)
	tool.Description = strings.TrimSpace(f.text("description"))
	tool.WhenToUse = strings.TrimSpace(f.text("when_to_use"))
	if err := (toolReader{q}).toolRestrictions(); err != nil {
		p.withheldTool = true
		return err
	}
	if err := (entryReader{q}).entry(); err != nil {
		return err
	}
	if tool.Entry == nil {
		return Errorf(at, "name the script to run", "tool %q has no script", name)
	}
	if err := (toolReader{q}).toolArgs(); err != nil {
		return err
	}
	p.addTool(tool)
	return nil
}

// toolRestrictions reads what restricts one tool beyond its skill. A tool with an
// unreadable one is omitted.
func (p toolReader) toolRestrictions() error {
	class := skills.Class(p.fields.text("class"))
	disabled, ok := p.fields.flag("disable-model-invocation", false)
	switch {
	case p.fields.get("class") != nil && class != skills.Safe && class != skills.Mutating && class != skills.Dangerous:
		return Errorf(p.fields.pos("class"), "write safe, mutating or dangerous", `"class" is not safe, mutating or dangerous, so the tool is left out`)
	case !ok:
		return Errorf(p.fields.pos("disable-model-invocation"), "write true or false", `"disable-model-invocation" is not true or false, so the tool is left out`)
	}
	p.skill.Class = cmp.Or(class, p.skill.Class)
	p.skill.ModelInvocable = p.skill.ModelInvocable && !disabled
	attributeReader(p).asks()
	attributeReader(p).calls()
	attributeReader(p).task()
	return nil
}
