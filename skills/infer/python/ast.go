package python

import "slices"

type nodeKind int

const (
	nOpaque        nodeKind = iota // an expression whose value cannot be known
	nConst                         // value
	nName                          // name
	nAttribute                     // kids[0].name
	nSubscript                     // kids[0][kids[1]]
	nSlice                         // kids: from, to, step; each may be nil
	nCall                          // kids[0](kids[1:]...)
	nKeyword                       // name=kids[0]; ** where name is ""
	nStar                          // *kids[0]
	nTuple                         // kids
	nList                          // kids
	nSet                           // kids
	nDict                          // kids: key, value, key, value; a key is nil before **value
	nUnary                         // name kids[0]
	nBinary                        // kids[0] name kids[1]
	nBool                          // kids[0] name kids[1], name is and, or
	nTernary                       // kids: condition, then, else
	nFString                       // kids are the parts
	nComprehension                 // kids: the element (nSlice of a dict), and then target, iterable of each loop; value is its conditions, a []*node
	nLambda                        // value is its function
	nWalrus                        // name := kids[0]
	nAs                            // kids[0] as kids[1]
)

// A node is a Python expression.
type node struct {
	kind  nodeKind
	line  int
	name  string
	value any // nil, a bool, an int64, a float64, a string, none, ellipsis, *funcDef or []*node
	kids  []*node
}

// parent returns the node of these parts.
func parent(kind nodeKind, line int, name string, kids ...*node) *node {
	return &node{kind: kind, line: line, name: name, kids: kids}
}

type stmtKind int

const (
	sExpr     stmtKind = iota // value
	sAssign                   // targets = value
	sAugment                  // targets[0] name= value
	sReturn                   // value may be nil
	sRaise                    // value may be nil
	sImport                   // imports
	sDef                      // function
	sClass                    // class
	sCompound                 // name is its first word; clauses; targets[0] of a loop; value of a match
	sGlobal                   // names; name is global or nonlocal
	sJump                     // name is break, continue, or "" for pass and a note without a value
	sOpaque                   // could not be read; name is not "" where it declares arguments
)

// A stmt is a Python statement.
type stmt struct {
	kind     stmtKind
	line     int
	name     string
	value    *node
	targets  []*node
	note     *node // the annotation of targets[0]
	imports  []imported
	names    []string
	function *funcDef
	class    *classDef
	clauses  []clause
}

// A clause is a part of a compound statement with a block of its own.
type clause struct {
	word  string // if, elif, else, for, while, try, except, finally, with, case
	value *node  // a condition, the iterable of a loop, the items of a with; may be nil
	body  []*stmt
}

// An imported name stands for a dotted path: argparse.ArgumentParser.
type imported struct{ name, path string }

// A funcDef is a definition with def.
type funcDef struct {
	name       string
	line       int
	params     []param
	decorators []*node
	body       []*stmt    // see block
	unparsed   []token    // of the body, and what follows; nil where it is parsed
	nested     []*funcDef // of a body that was parsed later
	tokens     []token    // of its parameters and its body
}

// A param is a parameter of a function.
type param struct {
	name       string
	star       string // "", "*" or "**"
	keyword    bool   // can only be given by its name
	annotation *node
	fallback   *node // the default
}

// A classDef is a definition with class.
type classDef struct {
	name  string
	bases []*node
	body  []*stmt
}

// any reports whether the expression, or a part of it that is no lambda's body, is
// wanted.
func (n *node) any(wanted func(*node) bool) bool {
	return n != nil && (wanted(n) || slices.ContainsFunc(n.kids, func(kid *node) bool { return kid.any(wanted) }))
}

// dotted returns a name or an attribute of names as it is written, or "".
func dotted(n *node) string {
	switch n.kind {
	case nName:
		return n.name
	case nAttribute:
		if of := dotted(n.kids[0]); of != "" {
			return of + "." + n.name
		}
	}
	return ""
}

// none is the value of None.
type none struct{}

// ellipsis is Python's ..., which typer and pydantic take for required.
type ellipsis struct{}
