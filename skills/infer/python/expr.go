package python

import (
	"errors"
	"strings"
)

// Bounds of one expression. Python's own parser ends at 200 brackets, and its
// compiler at a depth of a few thousand.
const (
	maxNesting = 200
	maxDepth   = 1000
)

var errSyntax = errors.New("it is not Python's syntax")

// A reader parses a source, statement by statement. A statement that it does not
// understand becomes one that is opaque.
type reader struct {
	lex   *lexer
	tok   token
	depth int
	// mentions are the words of the statement that matter to argparse.
	mentions bool
	// functions are all that are defined, and inside the one that is being read.
	functions []*function
	inside    *function
	err       error // of the statement
	broken    int   // the line of the first statement that is not Python's; 0 without one
}

func newReader(src string) *reader {
	r := &reader{lex: newLexer(src)}
	r.advance()
	return r
}

func (r *reader) advance() {
	r.tok = r.lex.next()
	if r.tok.kind != tokName {
		return
	}
	r.mentions = r.mentions || declares(r.tok.text)
	if r.inside != nil {
		r.inside.mentions[r.tok.text] = true
	}
}

func (r *reader) is(text string) bool {
	return r.tok.text == text && (r.tok.kind == tokOp || r.tok.kind == tokName)
}

func (r *reader) accept(text string) bool {
	if !r.is(text) {
		return false
	}
	r.advance()
	return true
}

func (r *reader) expect(text string) {
	if !r.accept(text) {
		r.fail(errSyntax)
	}
}

func (r *reader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

// enter counts the depth of the recursion; the caller leaves again.
func (r *reader) enter() bool {
	r.depth++
	if r.depth > maxNesting {
		r.fail(errTooDeep)
	}
	return r.err == nil
}

func (r *reader) leave() { r.depth-- }

func (r *reader) node(kind nodeKind, line int, name string, kids ...*node) *node {
	n := &node{kind: kind, line: line, name: name, kids: kids}
	for _, kid := range kids {
		if kid != nil && kid.depth >= n.depth {
			n.depth = kid.depth + 1
		}
	}
	if n.depth > maxDepth {
		r.fail(errTooDeep)
		return &node{kind: nOpaque, line: line}
	}
	return n
}

func (r *reader) opaque() *node { return &node{kind: nOpaque, line: r.tok.line} }

// expressions parses "a, b, *c": a tuple where there is a comma.
func (r *reader) expressions() *node {
	line := r.tok.line
	first := r.starExpression()
	if !r.is(",") {
		return first
	}
	kids := []*node{first}
	for r.err == nil && r.accept(",") {
		if r.endsList() {
			break
		}
		kids = append(kids, r.starExpression())
	}
	return r.node(nTuple, line, "", kids...)
}

func (r *reader) endsList() bool {
	switch r.tok.kind {
	case tokEnd, tokNewline:
		return true
	case tokOp:
		return strings.Contains(")]}=:;", r.tok.text) || strings.HasSuffix(r.tok.text, "=") && r.tok.text != "=="
	}
	return r.is("in") || r.is("for")
}

func (r *reader) starExpression() *node {
	if line := r.tok.line; r.accept("*") {
		return r.node(nStar, line, "", r.binary(bitOr))
	}
	return r.expression()
}

// expression parses one without commas.
func (r *reader) expression() *node {
	defer r.leave()
	if !r.enter() {
		return r.opaque()
	}
	line := r.tok.line
	if r.is("lambda") {
		return r.lambda()
	}
	if r.is("yield") {
		return r.yield()
	}
	n := r.binary(0)
	if r.tok.kind == tokOp && r.is(":=") && n.kind == nName {
		r.advance()
		return r.node(nWalrus, line, n.name, r.expression())
	}
	if !r.is("if") {
		return n
	}
	r.advance()
	condition := r.binary(0)
	r.expect("else")
	return r.node(nTernary, line, "", condition, n, r.expression())
}

func (r *reader) lambda() *node {
	line := r.tok.line
	r.advance()
	fn := &function{name: "<lambda>", line: line, params: r.parameters(":", false)}
	r.expect(":")
	fn.body = []*stmt{{kind: sReturn, line: line, value: r.expression()}}
	n := r.node(nLambda, line, "")
	n.value = fn
	return n
}

func (r *reader) yield() *node {
	line := r.tok.line
	r.advance()
	r.accept("from")
	if !r.endsList() {
		r.expressions()
	}
	return &node{kind: nOpaque, line: line}
}

// Levels of binary operators, from loosest.
const (
	boolOr = iota
	boolAnd
	boolNot
	comparison
	bitOr
	bitXor
	bitAnd
	shift
	sum
	product
	unary
)

func precedence(tok token) int {
	if tok.kind == tokName {
		switch tok.text {
		case "or":
			return boolOr
		case "and":
			return boolAnd
		case "in", "is", "not":
			return comparison
		}
		return -1
	}
	if tok.kind != tokOp {
		return -1
	}
	switch tok.text {
	case "<", ">", "<=", ">=", "==", "!=":
		return comparison
	case "|":
		return bitOr
	case "^":
		return bitXor
	case "&":
		return bitAnd
	case "<<", ">>":
		return shift
	case "+", "-":
		return sum
	case "*", "/", "//", "%", "@":
		return product
	}
	return -1
}

// binary parses operators of this level and tighter ones.
func (r *reader) binary(lowest int) *node {
	defer r.leave()
	if !r.enter() {
		return r.opaque()
	}
	line := r.tok.line
	if lowest <= boolNot && r.accept("not") {
		return r.rest(r.node(nUnary, line, "not", r.binary(boolNot)), lowest)
	}
	if lowest > product {
		return r.unary()
	}
	return r.rest(r.unary(), lowest)
}

func (r *reader) rest(left *node, lowest int) *node {
	for r.err == nil {
		at := precedence(r.tok)
		if at < lowest {
			return left
		}
		line, op := r.tok.line, r.operator()
		right := r.binary(at + 1)
		kind := nBinary
		if at <= boolAnd {
			kind = nBool
		}
		left = r.node(kind, line, op, left, right)
	}
	return left
}

// operator takes an operator, of which some are two words.
func (r *reader) operator() string {
	op := r.tok.text
	r.advance()
	switch {
	case op == "is" && r.accept("not"):
		return "is not"
	case op == "not":
		r.expect("in")
		return "not in"
	}
	return op
}

func (r *reader) unary() *node {
	defer r.leave()
	if !r.enter() {
		return r.opaque()
	}
	line, op := r.tok.line, r.tok.text
	if r.tok.kind == tokOp && (op == "-" || op == "+" || op == "~") {
		r.advance()
		return r.node(nUnary, line, op, r.unary())
	}
	if r.accept("await") {
		return r.unary()
	}
	n := r.trailers(r.atom())
	if r.tok.kind == tokOp && r.accept("**") {
		n = r.node(nBinary, line, "**", n, r.unary())
	}
	return n
}

// trailers parses what follows an atom: calls, attributes, subscripts.
func (r *reader) trailers(n *node) *node {
	for r.err == nil && r.tok.kind == tokOp {
		line := r.tok.line
		switch {
		case r.accept("."):
			n = r.node(nAttribute, line, r.tok.text, n)
			if r.tok.kind != tokName {
				r.fail(errSyntax)
			}
			r.advance()
		case r.accept("("):
			n = r.call(n, line)
		case r.accept("["):
			n = r.node(nSubscript, line, "", n, r.subscript())
			r.expect("]")
		default:
			return n
		}
	}
	return n
}

func (r *reader) call(callee *node, line int) *node {
	kids := []*node{callee}
	for r.err == nil && !r.is(")") {
		kids = append(kids, r.argument())
		if !r.accept(",") {
			break
		}
	}
	r.expect(")")
	return r.node(nCall, line, "", kids...)
}

func (r *reader) argument() *node {
	line := r.tok.line
	switch {
	case r.accept("**"):
		return r.node(nKeyword, line, "", r.expression())
	case r.accept("*"):
		return r.node(nStar, line, "", r.expression())
	}
	n := r.expression()
	if r.tok.kind == tokOp && n.kind == nName && r.accept("=") {
		return r.node(nKeyword, line, n.name, r.expression())
	}
	if r.is("for") || r.is("async") {
		return r.comprehension(line, n)
	}
	return n
}

func (r *reader) subscript() *node {
	line := r.tok.line
	first := r.slice()
	if !r.is(",") {
		return first
	}
	kids := []*node{first}
	for r.err == nil && r.accept(",") && !r.is("]") {
		kids = append(kids, r.slice())
	}
	return r.node(nTuple, line, "", kids...)
}

func (r *reader) slice() *node {
	line := r.tok.line
	var parts [3]*node
	colons := 0
	for r.err == nil {
		if !r.is(":") && !r.is("]") && !r.is(",") {
			parts[colons] = r.starExpression()
		}
		if colons == 2 || !r.accept(":") {
			break
		}
		colons++
	}
	if colons == 0 {
		if parts[0] == nil {
			r.fail(errSyntax)
			return r.opaque()
		}
		return parts[0]
	}
	return r.node(nSlice, line, "", parts[:]...)
}

// comprehension parses what follows its element.
func (r *reader) comprehension(line int, elements ...*node) *node {
	kids := []*node{r.node(nTuple, line, "", elements...)}
	for r.err == nil && (r.is("for") || r.is("async")) {
		r.accept("async")
		r.expect("for")
		kids = append(kids, r.targetList())
		r.expect("in")
		kids = append(kids, r.binary(0))
		for r.err == nil && r.accept("if") {
			r.binary(0)
		}
	}
	return r.node(nComprehension, line, "", kids...)
}

// targetList parses what a loop assigns to.
func (r *reader) targetList() *node {
	line := r.tok.line
	var kids []*node
	for r.err == nil && !r.is("in") {
		r.accept("*")
		kids = append(kids, r.binary(bitOr))
		if !r.accept(",") {
			if len(kids) == 1 {
				return kids[0]
			}
			break
		}
	}
	return r.node(nTuple, line, "", kids...)
}
