package syntax

import "slices"

// A Kind is the class of an expression.
type Kind int

// Kinds of expressions, with the meaning of their parts.
const (
	Opaque        Kind = iota // an expression whose value cannot be known
	Const                     // value
	Name                      // name
	Attribute                 // kids[0].name
	Subscript                 // kids[0][kids[1]]
	Slice                     // kids: from, to, step; each may be nil
	Call                      // kids[0](kids[1:]...)
	Keyword                   // name=kids[0]; ** where name is ""
	Star                      // *kids[0]
	Tuple                     // kids
	List                      // kids
	Set                       // kids
	Dict                      // kids: key, value, key, value; a key is nil before **value
	Unary                     // name kids[0]
	Binary                    // kids[0] name kids[1]
	Bool                      // kids[0] name kids[1], name is and, or
	Ternary                   // kids: condition, then, else
	FString                   // kids are the parts
	Comprehension             // kids: the element (Slice of a dict), and then target, iterable of each loop; value is its conditions, a []*Node
	Lambda                    // value is its function
	Walrus                    // name := kids[0]
	As                        // kids[0] as kids[1]
)

// A Node is a Python expression.
type Node struct {
	Kind  Kind
	Line  int
	Name  string
	Value any // nil, a bool, an int64, a float64, a string, None, Ellipsis, *Function or []*Node
	Kids  []*Node
}

// parent returns the node of these parts.
func parent(kind Kind, line int, name string, kids ...*Node) *Node {
	return &Node{Kind: kind, Line: line, Name: name, Kids: kids}
}

// A StmtKind is the class of a statement.
type StmtKind int

// Kinds of statements, with the meaning of their parts.
const (
	ExprStmt     StmtKind = iota // value
	AssignStmt                   // targets = value
	AugmentStmt                  // targets[0] name= value
	ReturnStmt                   // value may be nil
	RaiseStmt                    // value may be nil
	ImportStmt                   // imports
	DefStmt                      // function
	ClassStmt                    // class
	CompoundStmt                 // name is its first word; clauses; targets[0] of a loop; value of a match
	GlobalStmt                   // names; name is global or nonlocal
	JumpStmt                     // name is break, continue, or "" for pass and a note without a value
	OpaqueStmt                   // could not be read
)

// A Stmt is a Python statement.
type Stmt struct {
	Kind     StmtKind
	Line     int
	Name     string
	Value    *Node
	Targets  []*Node
	Note     *Node // the annotation of targets[0]
	Imports  []Imported
	Names    []string
	Function *Function
	Class    *Class
	Clauses  []Clause
	Tokens   []Token // of one that could not be read
}

// A Clause is a part of a compound statement with a block of its own.
type Clause struct {
	Word  string // if, elif, else, for, while, try, except, finally, with, case
	Value *Node  // a condition, the iterable of a loop, the items of a with; may be nil
	Body  []*Stmt
}

// An Imported name stands for a dotted path: argparse.ArgumentParser.
type Imported struct{ Name, Path string }

// A Function is a definition with def.
type Function struct {
	Name       string
	Line       int
	Params     []Param
	Decorators []*Node
	body       []*Stmt // see block
	Unparsed   []Token // of the body, and what follows; nil where it is parsed
	Tokens     []Token // of its parameters and its body
}

// A Param is a parameter of a function.
type Param struct {
	Name       string
	Star       string // "", "*" or "**"
	Keyword    bool   // can only be given by its name
	Annotation *Node
	Fallback   *Node // the default
}

// A Class is a definition with class.
type Class struct {
	Name  string
	Bases []*Node
	Body  []*Stmt
}

// Any reports whether the expression, or a part of it that is no lambda's body, is
// wanted.
func (n *Node) Any(wanted func(*Node) bool) bool {
	return n != nil && (wanted(n) || slices.ContainsFunc(n.Kids, func(kid *Node) bool { return kid.Any(wanted) }))
}

// Dotted returns a name or an attribute of names as it is written, or "".
func Dotted(n *Node) string {
	switch n.Kind {
	case Name:
		return n.Name
	case Attribute:
		if of := Dotted(n.Kids[0]); of != "" {
			return of + "." + n.Name
		}
	}
	return ""
}

// None is the value of None.
type None struct{}

// Ellipsis is Python's ..., which pydantic takes for required.
type Ellipsis struct{}
