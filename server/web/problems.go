package web

import (
	"fmt"

	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/truncate"
)

// maxMessage bounds the texts of a problem, in bytes.
const maxMessage = 500

// A shownProblem is a problem for the templates.
type shownProblem struct{ skills.Problem }

func newShownProblem(p skills.Problem) shownProblem {
	p.Message, p.Remedy = truncate.String(p.Message, maxMessage), truncate.String(p.Remedy, maxMessage)
	return shownProblem{p}
}

// Where returns the path with line and column.
func (p shownProblem) Where() string {
	where := p.Path
	if p.Line > 0 {
		where += fmt.Sprintf(":%d", p.Line)
	}
	if p.Line > 0 && p.Col > 0 {
		where += fmt.Sprintf(":%d", p.Col)
	}
	return where
}

// Tone returns the class of the severity's badge.
func (p shownProblem) Tone() string {
	switch p.Severity {
	case skills.Error:
		return "badge-bad"
	case skills.Warning:
		return "badge-warn"
	}
	return ""
}
