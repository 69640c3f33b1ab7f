// Package syntax parses JavaScript and TypeScript. It reads the syntax that programs use,
// skips types, and marks what it cannot read.
//
// Start with [Parse].
package syntax

// Bounds of a source.
const (
	maxTokens   = 256 << 10
	maxComments = 4096
	maxOpen     = 4096 // templates inside each other
	maxDepth    = 200  // expressions or statements inside each other
	maxChain    = 5000 // operators, or members, one behind the other
)

// A Kind is the class of a node. Expressions come before Empty, statements from there on.
type Kind uint8

// Kinds of nodes, with the meaning of their parts.
const (
	Unknown         Kind = iota
	Name                 // Name
	String               // Name is its text
	Number               // Name is as written
	Regexp               // Name is as written
	Template             // Texts and Kids alternate, Texts first
	Array                // Kids, nil for holes
	Object               // Kids are Property or Spread
	Property             // Name, or Kids[1] computes it; Kids[0] is the value
	FunctionLiteral      // Function
	ClassLiteral         // Function, whose body Mentions the names in the class
	Mentions             // Kids are the names in a part that is not read
	Call                 // Kids[0] is called with the others
	New                  // the same
	Dot                  // Kids[0].Name
	Index                // Kids[0][Kids[1]]
	Unary                // Name Kids[0]
	Update               // ++ or --; of Kids[0]
	Binary               // Kids[0] Name Kids[1]
	Assign               // Kids[0] Name Kids[1]; a default in patterns
	Condition            // Kids[0] ? Kids[1] : Kids[2]
	Spread               // ...Kids[0]
	Sequence             // Kids
	Tagged               // Kids[0] with the template Kids[1]
	This                 // and super
	Meta                 // import.meta

	Empty
	Variable // Kids are Assign with patterns, or patterns alone; Name is const, let or var
	Expression
	Block               // Kids
	If                  // Kids[0] is the condition; [2] may be nil
	For                 // Kids[0] to [2] may be nil; [3] is the body
	ForOf               // Kids[0] is a pattern or Variable, [1] the collection, [2] the body
	ForIn               // the same
	While               // Kids[0] is the condition, [1] the body
	Do                  // the same
	Return              // Kids[0] may be nil
	Throw               // Kids[0]
	Break               // Name is the label
	Continue            // the same
	Switch              // Kids[0] is the value, the others are Case
	Case                // Kids[0] is nil for default, the others are statements
	Try                 // Kids are the block, the handler and the last block; nil where there is none
	FunctionDeclaration // Function
	ClassDeclaration    // the same; Name is its own
	Import              // Name is the module, Imports the names
	Export              // Kids are exported by value; Name is a module
)

// A Node is one of the syntax tree.
type Node struct {
	Kind     Kind
	Line     int32
	Optional bool // of a member or a call: ?.
	Name     string
	Kids     []*Node
	Texts    []string
	Function *Function
	Imports  []Binding
}

// A Function is one of the source, arrows and methods included.
type Function struct {
	Name   string
	Params []*Node
	Body   *Node // a block, or the expression of an arrow
	Line   int32
}

// A Binding is a name that is imported: all of the module for "*".
type Binding struct{ Name, Local string }

// Each calls do for the node and all below, also in functions. It stops
// below a node of which do returns false.
func (n *Node) Each(do func(*Node) bool) {
	if n == nil || !do(n) {
		return
	}
	for _, kid := range n.Kids {
		kid.Each(do)
	}
	if n.Function != nil {
		for _, p := range n.Function.Params {
			p.Each(do)
		}
		n.Function.Body.Each(do)
	}
}

// Any reports whether the node, or one below that is in no function, is wanted.
func (n *Node) Any(wanted func(*Node) bool) (found bool) {
	n.Each(func(n *Node) bool {
		found = found || wanted(n)
		return !found && n.Function == nil
	})
	return found
}

// Dotted returns the names of a chain of members, "process.argv", and "" of any other
// expression.
func (n *Node) Dotted() string {
	switch {
	case n == nil:
		return ""
	case n.Kind == Name:
		return n.Name
	case n.Kind == Meta:
		return "import.meta"
	case n.Kind == Dot:
		if base := n.Kids[0].Dotted(); base != "" {
			return base + "." + n.Name
		}
	}
	return ""
}
