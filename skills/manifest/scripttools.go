package manifest

import (
	"strings"

	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/infer"
)

// scriptTools makes tools of the scripts that are in the folder of a skill which
// declares nothing to run.
func (p toolReader) scriptTools() {
	if p.options.Plain || p.skill.Entry != nil || len(p.skill.Tools) > 0 || p.failed || p.withheldTool {
		return
	}
	found := infer.Find(p.skill.Files, p.skill.Instructions, p.options.Sources)
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
