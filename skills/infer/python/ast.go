package python

type nodeKind int

const (
	nOpaque        nodeKind = iota // whatever has no value that could be known
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
	nComprehension                 // kids: a tuple of the elements, and then target, iterable of each loop
	nLambda                        // value is its function
	nWalrus                        // name := kids[0]
)

// A node is a Python expression.
type node struct {
	kind  nodeKind
	line  int
	depth int // of the tree below
	name  string
	value value
	kids  []*node
}

type stmtKind int

const (
	sExpr    stmtKind = iota // value
	sAssign                  // targets = value
	sAugment                 // targets[0] op= value
	sReturn                  // value may be nil
	sRaise                   // value may be nil
	sImport                  // imports
	sDef                     // function
	sClass                   // class
	sIf                      // value, body, other
	sFor                     // targets[0], value, body, other
	sWhile                   // value, body, other
	sTry                     // body, handlers, other, final
	sWith                    // targets and items are pairs; a target may be nil
	sMatch                   // value, handlers
	sGlobal                  // names
	sJump                    // break, continue
	sOpaque                  // could not be read
)

// A stmt is a Python statement.
type stmt struct {
	kind     stmtKind
	line     int
	name     string // of an operator or a jump
	value    *node
	targets  []*node
	items    []*node
	imports  []imported
	function *function
	class    *class
	names    []string
	note     *node // the annotation of targets[0]
	body     []*stmt
	handlers [][]*stmt
	other    []*stmt
	final    []*stmt
}

// An imported name stands for a dotted path: argparse.ArgumentParser.
type imported struct{ name, path string }

// A function is a definition with def.
type function struct {
	name       string
	line       int
	params     []param
	decorators []*node
	body       []*stmt
	doc        string
	scope      *scope    // where it was defined
	class      string    // whose method it is
	owner      *function // the one that it is defined in
	relevant   bool      // it can reach argparse
	called     bool
}

// A param is a parameter of a function.
type param struct {
	name       string
	star       string // "", "*" or "**"
	keyword    bool   // can only be given by its name
	annotation *node
	fallback   *node // the default
}

// A class is a definition with class.
type class struct {
	name  string
	bases []*node
	body  []*stmt
	// What follows is filled in when it is executed.
	members map[string]value
	parents []value
}
