package python

import "github.com/skillsmcp/skills-mcp/skills/infer/python/syntax"

// A Module is a Python source that is parsed at most once, when the first method
// needs it. It is not safe for concurrent use.
type Module struct {
	source []byte

	parsed    bool
	tokens    code
	body      []*syntax.Stmt
	defined   []*syntax.Function // without those in bodies that are parsed later
	functions functions
	broken    int // the line of the first statement that is not Python's; 0 without one
	err       error
	lines     []string // see comment
}

// NewModule returns the module with this source, which must not change.
func NewModule(source []byte) *Module { return &Module{source: source, functions: functions{}} }

func (m *Module) parse() ([]*syntax.Stmt, error) {
	if m.parsed {
		return m.body, m.err
	}
	m.parsed = true
	s, err := syntax.Parse(m.source)
	if m.err = err; err == nil {
		m.body, m.tokens, m.defined, m.broken = s.Body, s.Tokens, s.Functions, s.Broken
	}
	return m.body, err
}
