package manifest

import (
	"fmt"
	"github.com/skillsmcp/skills-mcp/skills"
	"regexp"
	"slices"
	"strings"
)

// maxTools is how many tools one list may have.
const maxTools = 64

// toolName is what may follow "skill__".
var toolName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// tool returns a new tool of the skill, which shares all that it does not have
// itself. The skill has been read but for what it runs. The error says why the
// name cannot be had, and what to do.
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

// forTool returns a parser of what fields say of a tool. What it finds is a
// problem of the skill.
func (p toolReader) forTool(tool *skills.Skill, f fields) *parser {
	return &parser{skill: tool, fields: f, doc: p.doc, options: p.options, report: p.report}
}

// tooMany says that a list ends where it does for us.
func (p toolReader) tooMany(at Position) {
	p.report(skills.Error, at, "declare fewer", "there are more than %d tools; this one and what follows are left out", maxTools)
}

// describeTool gives a tool of which nobody says what it does the description of
// its skill.
func describeTool(tool *skills.Skill) {
	if tool.Description == "" {
		tool.Description = BorrowedDescription(tool)
	}
}

func BorrowedDescription(tool *skills.Skill) string {
	return strings.TrimSpace(fmt.Sprintf("Run %s of the skill %s. %s", tool.Entry.Script, tool.Of.QualifiedName(), tool.Of.Description))
}
