package manifest

import (
	"cmp"
	"regexp"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills"
	"gopkg.in/yaml.v3"
)

// linxKeys are those that only LinX has.
var linxKeys = [...]string{"skill_type", "entry_points", "execution_timeout", "required_capabilities"}

// linxTools reads LinX's fields: a tool for each entry point.
func (p linxReader) linxTools() {
	for _, key := range linxKeys {
		p.linx = p.linx || p.fields.get(key) != nil
	}
	p.skill.DisplayName = cmp.Or(strings.TrimSpace(p.fields.text("display_name")), p.skill.DisplayName)
	if !p.linx {
		return
	}
	p.executionTimeout = p.fields.seconds("execution_timeout")
	switch kind := p.fields.text("skill_type"); kind {
	case "", "agent_skill", "langchain_tool":
	default:
		p.report(skills.Warning, p.fields.pos("skill_type"), "write agent_skill or langchain_tool", "the skill_type %q is not known and is ignored", kind)
	}
	if p.skill.Entry != nil {
		p.linxEntry(p.skill.Entry)
	}
	p.entryPoints()
	if p.fields.text("skill_type") == "langchain_tool" && p.skill.Entry == nil && len(p.skill.Tools) == 0 {
		p.functions()
		if len(p.skill.Tools) == 0 && p.fields.get("entry_points") == nil {
			p.report(skills.Warning, p.fields.pos("skill_type"), "put functions with @tool into a .py file beside SKILL.md", "it is a langchain_tool, and there is no tool in its Python files%s", p.inlineCode())
		}
	}
}

// inlineCode says that a package has its code where LinX's data base has it.
func (p linxReader) inlineCode() string {
	if p.fields.get("code") != nil || inlineTool.MatchString(p.skill.Instructions) {
		return "; code in SKILL.md itself is not run"
	}
	return ""
}

// inlineTool matches a decorated function in a code block.
var inlineTool = regexp.MustCompile("(?s)```py(?:thon)?\\b[^\n]*\n[^`]*@tool\\b")

// linxEntry gives what the skill runs the context and the time that LinX gives
// it.
func (p linxReader) linxEntry(entry *skills.Entry) {
	if !p.linx {
		return
	}
	entry.Context = skills.ContextLinX
	if entry.Timeout == 0 {
		entry.Timeout = p.executionTimeout
	}
}

// entryPoints reads {name: file}.
func (p linxReader) entryPoints() {
	node := p.fields.get("entry_points")
	if node == nil {
		return
	}
	if node.Kind != yaml.MappingNode {
		p.fields.wrongType("entry_points", "a map of names and files")
		return
	}
	for i, point := range newFields(node, p.report).list {
		if i == maxTools {
			toolReader(p).tooMany(point.at)
			return
		}
		if err := p.entryPoint(point); err != nil {
			p.reject(err)
		}
	}
}

func (p linxReader) entryPoint(point field) error {
	tool, err := toolReader(p).tool(point.key, point.at)
	if err != nil {
		return err
	}
	script := field{"script", point.at, point.node}
	q := toolReader(p).forTool(tool, fields{list: []field{script}, index: map[string]int{"script": 0}, report: p.report})
	if err := (entryReader{q}).entry(); err != nil {
		return err
	}
	if tool.Entry == nil {
		return Errorf(point.at, "write NAME: FILE", "entry point %q names no file", point.key)
	}
	if err := (toolReader{q}).toolArgs(); err != nil {
		return err
	}
	toolReader(p).addTool(tool)
	return nil
}
