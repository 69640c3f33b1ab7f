package manifest

import (
	"io/fs"
	"path"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/infer"
	"github.com/skillsmcp/skills-mcp/skills/infer/python"
)

// scriptTools makes tools of the scripts that are in the folder of a skill which
// declares nothing to run.
func (p toolReader) scriptTools() {
	if p.options.Plain || p.skill.Entry != nil || len(p.skill.Tools) > 0 || p.failed || p.withheldTool {
		return
	}
	found := infer.Find(p.skill.Files, p.skill.Instructions, nil)
	for _, script := range found.Scripts {
		p.scriptTool(script)
	}
	if n := len(found.Rest); n > 0 {
		p.report(skills.Note, Position{}, "declare those that matter in "+ToolsFile, "there are %d scripts; %s and what follows are no tools", len(found.Scripts)+n, found.Rest[0])
	}
	if found.Incomplete {
		p.report(skills.Note, Position{}, "declare tools in "+ToolsFile, "the folder has more files than are looked through for scripts")
	}
}

func (p toolReader) scriptTool(script infer.Script) {
	tool, err := p.tool(script.Name, Position{})
	if err != nil {
		p.reject(err)
		return
	}
	tool.Description = strings.TrimSpace(script.Doc)
	tool.Entry = &skills.Entry{Script: script.Path, Interpreter: script.Interpreter, ImageRole: p.roleOf(script.Kind)}
	tool.Entry.SetUndeclared()
	q := p.forTool(tool, p.fields)
	entryReader{q}.sandbox(tool.Entry)
	tool.Entry.Timeout = p.fields.seconds("timeout_seconds")
	if script.Prompts && len(p.skill.Asks) == 0 {
		p.report(skills.Warning, Position{}, "let it take all it needs as arguments", "script %s seems to ask for input, which nobody answers", script.Path)
	}
	p.addTool(tool)
}

// roleOf is the image role for a script of which nobody says where it runs.
func (p toolReader) roleOf(kind infer.Kind) string {
	if role := p.fields.text("sandbox_image_role"); role != "" {
		return role
	}
	if kind == infer.Node && p.options.ImageRole != nil && p.options.ImageRole("node") {
		return "node"
	}
	return ""
}

// maxModules is how many Python files of a LinX package are read for functions.
const maxModules = 16

// functions makes tools of the functions that LangChain's @tool decorates, in the
// Python files at the top of a LinX package which names no entry points.
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
}

func (p linxReader) functionsOf(module string) {
	source, err := ReadFile(p.skill.Files, module, MaxSize)
	if err != nil {
		p.report(skills.Warning, Position{}, "make it a readable file of at most 1 MiB", "%s cannot be read for functions: %v", module, err)
		return
	}
	for _, function := range python.Tools(source) {
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
