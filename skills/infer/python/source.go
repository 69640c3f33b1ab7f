package python

import (
	"slices"

	"github.com/skillsmcp/skills-mcp/skills/infer/python/syntax"
)

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
}

// NewModule returns the module with this source, which must not change.
func NewModule(source []byte) *Module {
	return &Module{source: source, functions: functions{of: map[*syntax.Function]*function{}}}
}

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

// Docstring returns the module's docstring without indentation; "" without one, or where
// the source cannot be read.
func (m *Module) Docstring() string {
	body, _ := m.parse()
	return syntax.Docstring(body)
}

// code is the tokens of a source.
type code []syntax.Token

// text returns the text of the token at an index, "" where there is none.
func (c code) text(at int) string {
	if at < 0 || at >= len(c) {
		return ""
	}
	return c[at].Text
}

// hasName reports whether one of the names is wanted.
func (c code) hasName(wanted func(name string) bool) bool {
	return slices.ContainsFunc(c, func(tok syntax.Token) bool { return tok.Kind == syntax.NameToken && wanted(tok.Text) })
}

// defined returns the names of the functions of a source, at any depth.
func (c code) defined() map[string]bool {
	names := map[string]bool{}
	for at, tok := range c {
		if at > 0 && tok.Kind == syntax.NameToken && c[at-1].Kind == syntax.OpToken && c[at-1].Text == "def" {
			names[tok.Text] = true
		}
	}
	return names
}

// each visits statements and those in their blocks, without the bodies of functions
// that were not parsed.
func each(body []*syntax.Stmt, visit func(*syntax.Stmt)) {
	for _, s := range body {
		visit(s)
		for _, c := range s.Clauses {
			each(c.Body, visit)
		}
		if s.Function != nil {
			each(s.Function.Block(), visit)
		}
		if s.Class != nil {
			each(s.Class.Body, visit)
		}
	}
}

// functions has the functions of a module by their definitions.
type functions struct {
	of       map[*syntax.Function]*function
	declares func(name string) bool // nil for no name
	wanted   map[string]bool        // functions that lead to one that declares arguments
}

// get returns the function of a definition. It is relevant if a name in it declares
// arguments, or is wanted.
func (f *functions) get(def *syntax.Function) *function {
	if f.of[def] == nil {
		f.of[def] = &function{Function: def, relevant: code(def.Tokens).hasName(f.leads)}
	}
	return f.of[def]
}

func (f *functions) leads(name string) bool {
	return f.wanted[name] || f.declares != nil && f.declares(name)
}
