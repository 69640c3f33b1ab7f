package manifest

import (
	"cmp"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/infer"
	"github.com/skillsmcp/skills-mcp/skills/infer/python"
	"github.com/skillsmcp/skills-mcp/skills/lazyregexp"
)

// maxTools bounds the tools of one list.
const maxTools = 64

// toolName matches the part of a tool's name behind "skill__".
var toolName = lazyregexp.New(`^[A-Za-z0-9_-]{1,64}$`)

// tool returns a new tool of the skill, which shares all that it does not have
// itself. The skill has been read except for its entry. The error is of a name
// that cannot be used, with the remedy.
func (p toolReader) tool(name string, at Position) (*skills.Skill, error) {
	full := p.skill.Name + "__" + name
	switch {
	case !toolName.MatchString(name):
		return nil, Errorf(at, "use letters, digits, - and _, 64 at most", "%q cannot be the name of a tool", name)
	case slices.ContainsFunc(p.skill.Tools, func(t *skills.Skill) bool { return t.Name == full }):
		return nil, Errorf(at, "rename one of them", "there are two tools %q; the first counts", name)
	}
	tool := *p.skill
	tool.Name, tool.Of = full, p.skill
	tool.DisplayName, tool.Description, tool.WhenToUse = "", "", ""
	tool.Entry, tool.Tools, tool.Problems, tool.Unavailable = nil, nil, nil, ""
	return &tool, nil
}

// forTool returns a parser of a tool's fields. Its problems are reported for the
// skill.
func (p toolReader) forTool(tool *skills.Skill, f fields) *parser {
	return &parser{skill: tool, fields: f, doc: p.doc, options: p.options, report: p.report}
}

// tooMany reports that a list is longer than [maxTools].
func (p toolReader) tooMany(at Position) {
	p.report(skills.Error, at, "declare fewer", "there are more than %d tools; this one and what follows are left out", maxTools)
}

// describeTool gives a tool without a description that of its skill.
func describeTool(tool *skills.Skill) {
	if tool.Description == "" {
		tool.Description = infer.BorrowedDescription(tool)
	}
}

func (p toolReader) addTool(tool *skills.Skill) {
	describeTool(tool)
	linxReader(p).linxEntry(tool.Entry)
	p.skill.Tools = append(p.skill.Tools, tool)
}

// linxTimeout is the default timeout of a script of LinX's.
const linxTimeout = 30 * time.Second

// linxEntry gives an entry LinX's context and timeout.
func (p linxReader) linxEntry(entry *skills.Entry) {
	if !p.linx {
		return
	}
	entry.Context = skills.ContextLinX
	if entry.Timeout == 0 {
		entry.Timeout = cmp.Or(p.executionTimeout, linxTimeout)
	}
}

// toolArgs sets how arguments reach a script that does not take them as flags.
func (p toolReader) toolArgs() error {
	entry := p.skill.Entry
	function := p.fields.text("function")
	switch {
	case function != "":
		return p.function(entry, function, skills.Input{Params: entry.Params()})
	case p.fields.get("params") == nil && len(entry.Placeholders()) == 0:
		entry.SetUndeclared()
	}
	return nil
}

// function has a function of a Python script called instead of the script, with
// the object in.
func (p toolReader) function(entry *skills.Entry, name string, in skills.Input) error {
	if ext := strings.ToLower(path.Ext(entry.Script)); !python.IsCallable(name) || len(entry.Placeholders()) > 0 || ext != ".py" && ext != ".md" {
		return Errorf(p.fields.pos("function"), "name a function at the top level of a .py file", "%q is not a function of %s that can be called", name, entry.Script)
	}
	entry.Interpreter = python.FunctionInterpreter()
	in.Argv = []string{name}
	entry.Args = in
	return nil
}

// roleOf returns the image role for a script that declares none.
func (p toolReader) roleOf(kind infer.Kind) string {
	if role := p.fields.text("sandbox_image_role"); role != "" {
		return role
	}
	if kind == infer.Node && p.options.ImageRole != nil && p.options.ImageRole("node") {
		return "node"
	}
	return ""
}
