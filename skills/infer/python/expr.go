package python

import (
	"strconv"
	"strings"
)

// An exprReader parses expressions.
type exprReader struct{ tokenReader }

func (r *exprReader) node(kind nodeKind, line int, name string, kids ...*node) *node {
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

func (r *exprReader) opaque() *node { return &node{kind: nOpaque, line: r.tok.line} }

func constant(line int, v value) *node { return &node{kind: nConst, line: line, value: v} }

// expressions parses "a, b, *c": a tuple where there is a comma.
func (r *exprReader) expressions() *node {
	line := r.tok.line
	first := r.starExpression()
	if !r.is(",") {
		return first
	}
	kids := []*node{first}
	for r.err == nil && r.accept(",") && !r.endsList() {
		kids = append(kids, r.starExpression())
	}
	return r.node(nTuple, line, "", kids...)
}

func (r *exprReader) endsList() bool {
	switch r.tok.kind {
	case tokEnd, tokNewline:
		return true
	case tokOp:
		return strings.Contains(")]}=:;", r.tok.text) || strings.HasSuffix(r.tok.text, "=") && r.tok.text != "=="
	}
	return r.is("in") || r.is("for")
}

func (r *exprReader) starExpression() *node {
	if line := r.tok.line; r.accept("*") {
		return r.node(nStar, line, "", r.binary(bitOr))
	}
	return r.expression()
}

// expression parses one without commas.
func (r *exprReader) expression() *node {
	defer r.leave()
	if !r.enter() {
		return r.opaque()
	}
	line := r.tok.line
	if r.accept("lambda") {
		fn := &function{name: "<lambda>", line: line, params: r.parameters(":", false)}
		r.expect(":")
		fn.body = []*stmt{{kind: sReturn, line: line, value: r.expression()}}
		return &node{kind: nLambda, line: line, value: fn}
	}
	if r.accept("yield") {
		r.accept("from")
		if !r.endsList() {
			r.expressions()
		}
		return &node{kind: nOpaque, line: line}
	}
	n := r.binary(0)
	if n.kind == nName && r.accept(":=") {
		return r.node(nWalrus, line, n.name, r.expression())
	}
	if r.accept("if") {
		condition := r.binary(0)
		r.expect("else")
		return r.node(nTernary, line, "", condition, n, r.expression())
	}
	if r.accept("as") { // of with, with or without brackets, and except
		return r.node(nAs, line, "", n, r.unary())
	}
	return n
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
			p.name = r.tok.text
			r.advance()
			if annotated && r.accept(":") {
				p.annotation = r.starExpression()
			}
			if r.accept("=") {
				p.fallback = r.expression()
			}
			params = append(params, p)
		}
		if !r.accept(",") {
			break
		}
	}
	return params
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
)

func precedence(tok token) int {
	if tok.kind != tokOp && tok.kind != tokName {
		return -1
	}
	switch tok.text {
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
	}
	return -1
}

// binary parses operators of this level and tighter ones.
func (r *exprReader) binary(lowest int) *node {
	defer r.leave()
	if !r.enter() {
		return r.opaque()
	}
	line := r.tok.line
	var left *node
	if lowest <= boolNot && r.accept("not") {
		left = r.node(nUnary, line, "not", r.binary(boolNot))
	} else {
		left = r.unary()
	}
	for r.err == nil {
		at := precedence(r.tok)
		if at < lowest {
			break
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

func (r *exprReader) unary() *node {
	defer r.leave()
	if !r.enter() {
		return r.opaque()
	}
	line, op := r.tok.line, r.tok.text
	if r.accept("-") || r.accept("+") || r.accept("~") {
		return r.node(nUnary, line, op, r.unary())
	}
	if r.accept("await") {
		return r.unary()
	}
	n := r.trailers(r.atom())
	if r.accept("**") {
		n = r.node(nBinary, line, "**", n, r.unary())
	}
	return n
}

// trailers parses calls, attributes and subscripts after an atom.
func (r *exprReader) trailers(n *node) *node {
	for r.err == nil {
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

func (r *exprReader) call(callee *node, line int) *node {
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

func (r *exprReader) argument() *node {
	line := r.tok.line
	switch {
	case r.accept("**"):
		return r.node(nKeyword, line, "", r.expression())
	case r.accept("*"):
		return r.node(nStar, line, "", r.expression())
	}
	n := r.expression()
	if n.kind == nName && r.accept("=") {
		return r.node(nKeyword, line, n.name, r.expression())
	}
	return r.comprehension(line, n)
}

func (r *exprReader) subscript() *node {
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

func (r *exprReader) slice() *node {
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
	if colons > 0 {
		return r.node(nSlice, line, "", parts[:]...)
	}
	if parts[0] == nil {
		r.fail(errSyntax)
		return r.opaque()
	}
	return parts[0]
}

// comprehension parses the loops of a comprehension after its elements. Without
// loops it returns the first element.
func (r *exprReader) comprehension(line int, elements ...*node) *node {
	if !r.is("for") && !r.is("async") {
		return elements[0]
	}
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

// targetList parses the targets of a loop.
func (r *exprReader) targetList() *node {
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

func (r *exprReader) atom() *node {
	line, text := r.tok.line, r.tok.text
	switch {
	case r.tok.kind == tokString:
		return r.strings()
	case r.tok.kind == tokNumber:
		r.advance()
		return constant(line, number(text))
	case r.tok.kind == tokName && !isKeyword(text):
		r.advance()
		switch text {
		case "None":
			return constant(line, none{})
		case "True", "False":
			return constant(line, text == "True")
		}
		return &node{kind: nName, line: line, name: text}
	case r.accept("("):
		return r.parenthesis(line)
	case r.accept("["):
		return r.list(line)
	case r.accept("{"):
		return r.dictOrSet(line)
	case r.accept("..."):
		return constant(line, ellipsis{})
	}
	r.fail(errSyntax)
	return r.opaque()
}

// number returns the value of a literal, unknown where it has none of int64 or
// float64.
func number(text string) value {
	octal := len(text) > 1 && text[0] == '0' && isDigit(text[1]) // 0755 is no number in Python 3
	if n, err := strconv.ParseInt(text, 0, 64); err == nil && (!octal || n == 0) {
		return n
	}
	if f, err := strconv.ParseFloat(strings.ReplaceAll(text, "_", ""), 64); err == nil && strings.ContainsAny(text, ".eE") && !strings.ContainsAny(text, "xXpP") {
		return f
	}
	return unknown{}
}

// strings parses adjacent string literals, which are one.
func (r *exprReader) strings() *node {
	line := r.tok.line
	var parts []*node
	var text strings.Builder
	plain := true
	for r.err == nil && r.tok.kind == tokString {
		part := r.literal(r.tok)
		constant, ok := part.value.(string)
		plain = plain && ok
		text.WriteString(constant)
		parts = append(parts, part)
		r.advance()
	}
	if plain {
		return constant(line, text.String())
	}
	return r.node(nFString, line, "", parts...)
}

func (r *exprReader) literal(tok token) *node {
	lit := splitLiteral(tok.text)
	switch {
	case lit.bytes:
		return constant(tok.line, unknown{})
	case lit.formatted:
		return r.formatted(lit, tok.line)
	}
	return textNode(lit.body, lit.raw, tok.line)
}

func textNode(body string, raw bool, line int) *node {
	if text, ok := unescape(body, raw); ok {
		return constant(line, text)
	}
	return constant(line, unknown{})
}

// formatted parses the parts of an f-string.
func (r *exprReader) formatted(lit literal, line int) *node {
	var parts []*node
	var text strings.Builder
	flush := func() {
		if text.Len() > 0 {
			parts = append(parts, textNode(text.String(), lit.raw, line))
			text.Reset()
		}
	}
	for body := lit.body; body != ""; {
		n := 1
		switch {
		case body[0] == '\\' && !lit.raw && len(body) > 1:
			n = 2
			text.WriteString(body[:2])
		case strings.HasPrefix(body, "{{"), strings.HasPrefix(body, "}}"):
			n = 2
			text.WriteByte(body[0])
		case body[0] == '{':
			flush()
			if n = fieldLength(body, `"""`, 0); n < 0 {
				r.fail(errSyntax)
				return r.opaque()
			}
			parts = append(parts, r.field(body[1:n-1], line))
		default:
			text.WriteByte(body[0])
		}
		body = body[n:]
	}
	flush()
	switch {
	case len(parts) == 0:
		return constant(line, "")
	case len(parts) == 1 && parts[0].kind == nConst:
		return parts[0]
	}
	return r.node(nFString, line, "", parts...)
}

// field parses the expression of a replacement field. One with a conversion or a
// format has no value that is known.
func (r *exprReader) field(source string, line int) *node {
	inner := &exprReader{tokenReader{lex: newLexer("(" + source + ")"), depth: r.depth + 1, inside: r.inside, names: r.names}}
	inner.lex.line = line
	inner.lex.fresh = false
	inner.advance()
	inner.advance() // the bracket
	n := inner.expressions()
	r.names = inner.names
	if inner.err == nil && inner.is(")") {
		return n
	}
	return &node{kind: nOpaque, line: line}
}

func (r *exprReader) parenthesis(line int) *node {
	if r.accept(")") {
		return r.node(nTuple, line, "")
	}
	n := r.comprehension(line, r.expressions())
	r.expect(")")
	return n
}

func (r *exprReader) list(line int) *node {
	var kids []*node
	for r.err == nil && !r.is("]") {
		n := r.comprehension(line, r.starExpression())
		if n.kind == nComprehension && len(kids) == 0 {
			r.expect("]")
			return n
		}
		kids = append(kids, n)
		if !r.accept(",") {
			break
		}
	}
	r.expect("]")
	return r.node(nList, line, "", kids...)
}

func (r *exprReader) dictOrSet(line int) *node {
	var kids []*node
	kind := nDict
	for r.err == nil && !r.is("}") {
		if r.accept("**") {
			kids = append(kids, nil, r.binary(bitOr))
		} else {
			entry := []*node{r.starExpression()}
			if r.accept(":") {
				entry = append(entry, r.expression())
			} else {
				kind = nSet
			}
			if n := r.comprehension(line, entry...); n != entry[0] {
				r.expect("}")
				return n
			}
			kids = append(kids, entry...)
		}
		if !r.accept(",") {
			break
		}
	}
	r.expect("}")
	return r.node(kind, line, "", kids...)
}
