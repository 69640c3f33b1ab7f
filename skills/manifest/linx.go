package manifest

import (
	"cmp"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/infer"
	"github.com/skillsmcp/skills-mcp/skills/infer/python"
	"gopkg.in/yaml.v3"
)

// linxKeys are the keys that only LinX has.
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
			p.report(skills.Warning, p.fields.pos("skill_type"), "write functions with @tool into a .py file beside SKILL.md, or into a ```python block of it", "it is a langchain_tool, and there is no tool in its Python files, nor in its instructions")
		}
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

// maxModules bounds the Python files of a LinX package that are read for functions.
const maxModules = 16

// functions makes tools of the functions that LangChain's @tool decorates, in the
// Python files at the top of a LinX package which names no entry points, or else in the
// instructions themselves.
func (p linxReader) functions() {
	entries, err := fs.ReadDir(p.skill.Files, ".")
	if err != nil {
		return
	}
	modules := 0
	for _, entry := range entries {
		if entry.IsDir() || path.Ext(entry.Name()) != ".py" {
			continue
		}
		if modules++; modules > maxModules {
			p.report(skills.Warning, Position{}, "name the others in entry_points", "only the first %d Python files are read for functions", maxModules)
			return
		}
		p.functionsOf(entry.Name())
	}
	if len(p.skill.Tools) == 0 {
		p.functionsOf(path.Base(filepath.ToSlash(p.skill.File)))
	}
}

func (p linxReader) functionsOf(module string) {
	source, err := ReadFile(p.skill.Files, module, MaxSize)
	if err != nil {
		p.report(skills.Warning, Position{}, "make it a readable file of at most 1 MiB", "%s cannot be read for functions: %v", module, err)
		return
	}
	for _, function := range python.Tools(python.Code(module, source)) {
		if len(function.Needs) > 0 {
			p.report(skills.Warning, Position{}, "give each a default, or wrap the class in a function with @tool", "%s: the tool %s is left out: the class cannot be made without %s", module, function.Python, strings.Join(function.Needs, ", "))
			continue
		}
		tool, err := toolReader(p).tool(infer.Names([]string{function.Name + ".py"})[0], Position{})
		if err == nil {
			tool.Description = strings.TrimSpace(function.Doc)
			tool.Entry = &skills.Entry{Script: module, ImageRole: toolReader(p).roleOf(infer.Python)}
			q := toolReader(p).forTool(tool, p.fields)
			entryReader{q}.sandbox(tool.Entry)
			err = toolReader{q}.function(tool.Entry, function.Python, skills.Input{Object: function.Params})
		}
		if err != nil {
			p.reject(err)
			continue
		}
		toolReader(p).addTool(tool)
	}
}
