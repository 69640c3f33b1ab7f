package python

import "strings"

// An exprReader parses expressions.
type exprReader struct{ tokenReader }

// parseExpression parses a source that is one expression.
func parseExpression(source string) (*node, error) {
	l := lex(source)
	r := &exprReader{newTokenReader(l.tokens)}
	r.err = l.err
	return r.expression(loosest), r.err
}

// Levels of the operators, from loosest.
const (
	loosest = iota // := and as
	ternary
	boolOr
	boolAnd
	boolNot
	comparison
	bitOr
	bitXor
	bitAnd
	shift
	sum
	product
	sign
	power
)

// levelOf returns the level of an operator between two operands, and -1 for any other
// token.
func levelOf(tok *token) int {
	if tok.kind != tokOp {
		return -1
	}
	switch tok.text {
	case ":=", "as":
		return loosest
	case "if":
		return ternary
	case "or":
		return boolOr
	case "and":
		return boolAnd
	case "in", "is", "not", "<", ">", "<=", ">=", "==", "!=":
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
	case "**":
		return power
	}
	return -1
}

// expressions parses "a, b, *c", with operators of this level and tighter ones: a
// tuple where there is a comma.
func (r *exprReader) expressions(level int) *node {
	line := r.tok.line
	first := r.expression(level)
	if !r.is(",") {
		return first
	}
	kids := []*node{first}
	for r.err == nil && r.accept(",") && !r.endsList() {
		kids = append(kids, r.expression(level))
	}
	return parent(nTuple, line, "", kids...)
}

func (r *exprReader) endsList() bool {
	switch r.tok.kind {
	case tokEnd, tokNewline:
		return true
	case tokOp:
		return strings.Contains(")]}=:;", r.tok.text) || r.tok.text == "in" || r.tok.text == "from" || strings.HasSuffix(r.tok.text, "=") && r.tok.text != "=="
	}
	return false
}

// expression parses one without commas, with operators of this level and tighter ones.
func (r *exprReader) expression(level int) *node {
	before := r.depth
	defer func() { r.depth = before }()
	r.nest()
	n := r.operand(level)
	for r.err == nil {
		at := levelOf(r.tok)
		if at < level {
			break
		}
		n = r.operation(at, n)
		r.nest()
	}
	return n
}

// nest counts that the current expression is one deeper.
func (r *exprReader) nest() {
	if r.depth++; r.depth > maxDepth {
		r.fail(errTooDeep)
	}
}

// operation parses an operator of this level and its right side.
func (r *exprReader) operation(level int, left *node) *node {
	line, op := r.tok.line, r.tok.text
	r.advance()
	switch {
	case op == "if":
		condition := r.expression(boolOr)
		r.expect("else")
		return parent(nTernary, line, "", condition, left, r.expression(ternary))
	case op == "as":
		return parent(nAs, line, "", left, r.operand(power))
	case op == ":=" && left.kind == nName:
		return parent(nWalrus, line, left.name, r.expression(ternary))
	case op == ":=":
		r.fail(errSyntax)
	case op == "**":
		return parent(nBinary, line, op, left, r.expression(sign))
	case op == "is" && r.accept("not"):
		op = "is not"
	case op == "not":
		r.expect("in")
		op = "not in"
	}
	kind := nBinary
	if level <= boolAnd {
		kind = nBool
	}
	return parent(kind, line, op, left, r.expression(level+1))
}

// operand parses an expression without operators between operands. Those of the
// operand of a star have this level.
func (r *exprReader) operand(level int) *node {
	line, text := r.tok.line, r.tok.text
	switch r.tok.kind {
	case tokString, tokFormat:
		return r.trailers(r.strings())
	case tokNumber:
		r.advance()
		return r.trailers(constant(line, number(text)))
	case tokName:
		r.advance()
		return r.trailers(name(line, text))
	case tokOp:
		r.advance()
	}
	switch text {
	case "not":
		return parent(nUnary, line, text, r.expression(boolNot))
	case "-", "+", "~":
		return parent(nUnary, line, text, r.expression(sign))
	case "*":
		return parent(nStar, line, "", r.expression(level))
	case "**":
		return parent(nKeyword, line, "", r.expression(level))
	case "await":
		return r.expression(power)
	case "lambda":
		return r.lambda(line)
	case "yield":
		r.accept("from")
		if !r.endsList() {
			r.expressions(loosest)
		}
		return &node{line: line}
	}
	return r.trailers(r.brackets(line, text))
}

// name returns a variable, or a constant with a name.
func name(line int, text string) *node {
	switch text {
	case "None":
		return constant(line, none{})
	case "True", "False":
		return constant(line, text == "True")
	}
	return &node{kind: nName, line: line, name: text}
}

func (r *exprReader) lambda(line int) *node {
	fn := &funcDef{name: "<lambda>", line: line, params: r.parameters(":", false)}
	r.expect(":")
	fn.body = []*stmt{{kind: sReturn, line: line, value: r.expression(ternary)}}
	return &node{kind: nLambda, line: line, value: fn}
}

// parameters parses those of a function, or of a lambda, up to its end.
func (r *exprReader) parameters(end string, annotated bool) []param {
	var params []param
	keyword := false
	for r.err == nil && !r.is(end) {
		p := param{keyword: keyword}
		switch {
		case r.accept("/"):
		case r.accept("**"):
			p.star = "**"
		case r.accept("*"):
			p.star, keyword = "*", true
		}
		if r.tok.kind == tokName {
			p.name = r.name()
			if annotated && r.accept(":") {
				p.annotation = r.expression(ternary)
			}
			if r.accept("=") {
				p.fallback = r.expression(ternary)
			}
			params = append(params, p)
		}
		if !r.accept(",") {
			break
		}
	}
	return params
}

// brackets parses an expression in brackets, of which the first is read.
func (r *exprReader) brackets(line int, open string) *node {
	switch open {
	case "...":
		return constant(line, ellipsis{})
	case "(":
		return tuple(r.elements(")", nOpaque))
	case "[":
		kids, _ := r.elements("]", nOpaque)
		return r.collection(nList, line, kids)
	case "{":
		kids, _ := r.elements("}", nSlice)
		return r.braces(line, kids)
	}
	r.fail(errSyntax)
	return &node{line: line}
}

func (r *exprReader) collection(kind nodeKind, line int, kids []*node) *node {
	if len(kids) == 1 && kids[0].kind == nComprehension {
		return kids[0]
	}
	return parent(kind, line, "", kids...)
}

// braces returns the dict or the set of elements.
func (r *exprReader) braces(line int, elements []*node) *node {
	kind := nDict
	var kids []*node
	for _, e := range elements {
		switch e.kind {
		case nSlice:
			kids = append(kids, e.kids[0], e.kids[1])
		case nKeyword:
			kids = append(kids, nil, e.kids[0])
		default:
			kind = nSet
			kids = append(kids, e)
		}
	}
	return r.collection(kind, line, kids)
}

// elements parses the inside of brackets up to the closing one. Beside expressions it
// may have name=value (nKeyword), or from:to:step and key: value (nSlice). Comma
// reports whether there is one at the end.
func (r *exprReader) elements(end string, beside nodeKind) (kids []*node, comma bool) {
	for r.err == nil && !r.is(end) {
		kids = append(kids, r.element(end, beside))
		if comma = r.accept(","); !comma {
			break
		}
	}
	r.expect(end)
	return kids, comma
}

func (r *exprReader) element(end string, beside nodeKind) *node {
	line := r.tok.line
	var n *node
	if beside != nSlice || !r.is(":") {
		n = r.expression(loosest)
	}
	switch {
	case beside == nSlice && r.is(":"):
		parts := []*node{n, nil, nil}
		for at := 1; at < len(parts) && r.accept(":"); at++ {
			if !r.is(":") && !r.is(",") && !r.is(end) {
				parts[at] = r.expression(loosest)
			}
		}
		n = parent(nSlice, line, "", parts...)
	case beside == nKeyword && n.kind == nName && r.accept("="):
		n = parent(nKeyword, line, n.name, r.expression(loosest))
	}
	return r.comprehension(n)
}

// comprehension parses the loops of a comprehension after its element.
func (r *exprReader) comprehension(element *node) *node {
	if !r.is("for") && !r.is("async") {
		return element
	}
	kids := []*node{element}
	var conditions []*node
	for r.is("for") || r.is("async") {
		r.accept("async")
		r.expect("for")
		kids = append(kids, r.expressions(bitOr))
		r.expect("in")
		kids = append(kids, r.expression(boolOr))
		for r.accept("if") {
			conditions = append(conditions, r.expression(boolOr))
		}
	}
	if r.is(",") { // in Python 2
		r.fail(errSyntax)
	}
	n := parent(nComprehension, element.line, "", kids...)
	n.value = conditions
	return n
}

// trailers parses calls, attributes and subscripts after an atom.
func (r *exprReader) trailers(n *node) *node {
	for ; r.err == nil; r.nest() {
		line := r.tok.line
		switch {
		case r.accept("."):
			n = parent(nAttribute, line, r.name(), n)
		case r.accept("("):
			kids, _ := r.elements(")", nKeyword)
			n = parent(nCall, line, "", append([]*node{n}, kids...)...)
		case r.accept("["):
			if r.is("]") {
				r.fail(errSyntax)
			}
			n = parent(nSubscript, line, "", n, tuple(r.elements("]", nSlice)))
		default:
			return n
		}
	}
	return n
}

// tuple returns a tuple, or its only element where no comma follows.
func tuple(kids []*node, comma bool) *node {
	if len(kids) == 1 && !comma {
		return kids[0]
	}
	return parent(nTuple, 0, "", kids...)
}

// strings parses adjacent string literals, which are one.
func (r *exprReader) strings() *node {
	line := r.tok.line
	var parts []*node
	for r.err == nil {
		switch r.tok.kind {
		case tokString:
			parts = append(parts, literal(r.tok))
			r.advance()
			continue
		case tokFormat:
			parts = r.formatted(parts)
			continue
		}
		break
	}
	var text strings.Builder
	for _, part := range parts {
		s, plain := part.value.(string)
		if !plain {
			return parent(nFString, line, "", parts...)
		}
		text.WriteString(s)
	}
	return constant(line, text.String())
}

// formatted appends the parts of an f-string.
func (r *exprReader) formatted(parts []*node) []*node {
	raw := strings.ContainsAny(r.tok.text, "rR")
	r.advance()
	for r.err == nil && !r.acceptKind(tokQuotes) {
		if r.tok.kind == tokText {
			text := strings.ReplaceAll(strings.ReplaceAll(r.tok.text, "{{", "{"), "}}", "}")
			parts = append(parts, constant(r.tok.line, unescape(text, raw)))
			r.advance()
		} else {
			parts = append(parts, r.field())
		}
	}
	return parts
}

// field parses a replacement field. One with a conversion or a format has no value
// that is known.
func (r *exprReader) field() *node {
	line := r.tok.line
	r.expect("{")
	n := r.expressions(loosest)
	if r.accept("}") {
		return n
	}
	r.accept("=")
	if r.accept("!") {
		r.name()
	}
	if r.accept(":") {
		for r.err == nil && !r.is("}") {
			if !r.acceptKind(tokText) {
				r.field()
			}
		}
	}
	r.expect("}")
	return &node{line: line}
}
