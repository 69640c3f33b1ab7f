package syntax

import "strings"

// An exprReader parses expressions.
type exprReader struct{ *tokenReader }

// Expression parses a source that is one expression.
func Expression(source string) (*Node, error) {
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
func levelOf(tok *Token) int {
	if tok.Kind != OpToken {
		return -1
	}
	switch tok.Text {
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
func (r *exprReader) expressions(level int) *Node {
	line := r.tok.Line
	first := r.expression(level)
	if !r.is(",") {
		return first
	}
	kids := []*Node{first}
	for r.err == nil && r.accept(",") && !r.endsList() {
		kids = append(kids, r.expression(level))
	}
	return parent(Tuple, line, "", kids...)
}

// expression parses one without commas, with operators of this level and tighter ones.
func (r *exprReader) expression(level int) *Node {
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
func (r *exprReader) operation(level int, left *Node) *Node {
	line, op := r.tok.Line, r.tok.Text
	r.advance()
	switch {
	case op == "if":
		condition := r.expression(boolOr)
		r.expect("else")
		return parent(Ternary, line, "", condition, left, r.expression(ternary))
	case op == "as":
		return parent(As, line, "", left, r.operand(power))
	case op == ":=" && left.Kind == Name:
		return parent(Walrus, line, left.Name, r.expression(ternary))
	case op == ":=":
		r.fail(errSyntax)
	case op == "**":
		return parent(Binary, line, op, left, r.expression(sign))
	case op == "is" && r.accept("not"):
		op = "is not"
	case op == "not":
		r.expect("in")
		op = "not in"
	}
	kind := Binary
	if level <= boolAnd {
		kind = Bool
	}
	return parent(kind, line, op, left, r.expression(level+1))
}

// operand parses an expression without operators between operands. Those of the
// operand of a star have this level.
func (r *exprReader) operand(level int) *Node {
	line, text := r.tok.Line, r.tok.Text
	switch r.tok.Kind {
	case StringToken, FormatToken:
		return r.trailers(r.strings())
	case numberToken:
		r.advance()
		return r.trailers(constant(line, number(text)))
	case NameToken:
		r.advance()
		return r.trailers(name(line, text))
	case OpToken:
		r.advance()
	}
	switch text {
	case "not":
		return parent(Unary, line, text, r.expression(boolNot))
	case "-", "+", "~":
		return parent(Unary, line, text, r.expression(sign))
	case "*":
		return parent(Star, line, "", r.expression(level))
	case "**":
		return parent(Keyword, line, "", r.expression(level))
	case "await":
		return r.expression(power)
	case "lambda":
		return r.lambda(line)
	case "yield":
		r.accept("from")
		if !r.endsList() {
			r.expressions(loosest)
		}
		return &Node{Line: line}
	}
	return r.trailers(r.brackets(line, text))
}

// name returns a variable, or a constant with a name.
func name(line int, text string) *Node {
	switch text {
	case "None":
		return constant(line, None{})
	case "True", "False":
		return constant(line, text == "True")
	}
	return &Node{Kind: Name, Line: line, Name: text}
}

func (r *exprReader) lambda(line int) *Node {
	fn := &Function{Name: "<lambda>", Line: line, Params: r.parameters(":", false)}
	r.expect(":")
	fn.body = []*Stmt{{Kind: ReturnStmt, Line: line, Value: r.expression(ternary)}}
	return &Node{Kind: Lambda, Line: line, Value: fn}
}

// parameters parses those of a function, or of a lambda, up to its end.
func (r *exprReader) parameters(end string, annotated bool) []Param {
	var params []Param
	keyword := false
	for r.err == nil && !r.is(end) {
		p := Param{Keyword: keyword}
		switch {
		case r.accept("/"):
		case r.accept("**"):
			p.Star = "**"
		case r.accept("*"):
			p.Star, keyword = "*", true
		}
		if r.tok.Kind == NameToken {
			p.Name = r.name()
			if annotated && r.accept(":") {
				p.Annotation = r.expression(ternary)
			}
			if r.accept("=") {
				p.Fallback = r.expression(ternary)
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
func (r *exprReader) brackets(line int, open string) *Node {
	switch open {
	case "...":
		return constant(line, Ellipsis{})
	case "(":
		return tuple(r.elements(")", Opaque))
	case "[":
		kids, _ := r.elements("]", Opaque)
		return collection(List, line, kids)
	case "{":
		kids, _ := r.elements("}", Slice)
		return braces(line, kids)
	}
	r.fail(errSyntax)
	return &Node{Line: line}
}

func collection(kind Kind, line int, kids []*Node) *Node {
	if len(kids) == 1 && kids[0].Kind == Comprehension {
		return kids[0]
	}
	return parent(kind, line, "", kids...)
}

// braces returns the dict or the set of elements.
func braces(line int, elements []*Node) *Node {
	kind := Dict
	var kids []*Node
	for _, e := range elements {
		switch e.Kind {
		case Slice:
			kids = append(kids, e.Kids[0], e.Kids[1])
		case Keyword:
			kids = append(kids, nil, e.Kids[0])
		default:
			kind = Set
			kids = append(kids, e)
		}
	}
	return collection(kind, line, kids)
}

// elements parses the inside of brackets up to the closing one. Beside expressions it
// may have name=value (Keyword), or from:to:step and key: value (Slice). Comma
// reports whether there is one at the end.
func (r *exprReader) elements(end string, beside Kind) (kids []*Node, comma bool) {
	for r.err == nil && !r.is(end) {
		kids = append(kids, r.element(end, beside))
		if comma = r.accept(","); !comma {
			break
		}
	}
	r.expect(end)
	return kids, comma
}

func (r *exprReader) element(end string, beside Kind) *Node {
	line := r.tok.Line
	var n *Node
	if beside != Slice || !r.is(":") {
		n = r.expression(loosest)
	}
	switch {
	case beside == Slice && r.is(":"):
		parts := []*Node{n, nil, nil}
		for at := 1; at < len(parts) && r.accept(":"); at++ {
			if !r.is(":") && !r.is(",") && !r.is(end) {
				parts[at] = r.expression(loosest)
			}
		}
		n = parent(Slice, line, "", parts...)
	case beside == Keyword && n.Kind == Name && r.accept("="):
		n = parent(Keyword, line, n.Name, r.expression(loosest))
	}
	return r.comprehension(n)
}

// comprehension parses the loops of a comprehension after its element.
func (r *exprReader) comprehension(element *Node) *Node {
	if !r.is("for") && !r.is("async") {
		return element
	}
	kids := []*Node{element}
	var conditions []*Node
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
	n := parent(Comprehension, element.Line, "", kids...)
	n.Value = conditions
	return n
}

// trailers parses calls, attributes and subscripts after an atom.
func (r *exprReader) trailers(n *Node) *Node {
	for ; r.err == nil; r.nest() {
		line := r.tok.Line
		switch {
		case r.accept("."):
			n = parent(Attribute, line, r.name(), n)
		case r.accept("("):
			kids, _ := r.elements(")", Keyword)
			n = parent(Call, line, "", append([]*Node{n}, kids...)...)
		case r.accept("["):
			if r.is("]") {
				r.fail(errSyntax)
			}
			n = parent(Subscript, line, "", n, tuple(r.elements("]", Slice)))
		default:
			return n
		}
	}
	return n
}

// tuple returns a tuple, or its only element where no comma follows.
func tuple(kids []*Node, comma bool) *Node {
	if len(kids) == 1 && !comma {
		return kids[0]
	}
	return parent(Tuple, 0, "", kids...)
}

// strings parses adjacent string literals, which are one.
func (r *exprReader) strings() *Node {
	line := r.tok.Line
	var parts []*Node
	for r.err == nil {
		switch r.tok.Kind {
		case StringToken:
			parts = append(parts, Literal(r.tok))
			r.advance()
			continue
		case FormatToken:
			parts = r.formatted(parts)
			continue
		}
		break
	}
	var text strings.Builder
	for _, part := range parts {
		s, plain := part.Value.(string)
		if !plain {
			return parent(FString, line, "", parts...)
		}
		text.WriteString(s)
	}
	return constant(line, text.String())
}

// formatted appends the parts of an f-string.
func (r *exprReader) formatted(parts []*Node) []*Node {
	raw := strings.ContainsAny(r.tok.Text, "rR")
	r.advance()
	for r.err == nil && !r.acceptKind(QuotesToken) {
		if r.tok.Kind == TextToken {
			text := strings.ReplaceAll(strings.ReplaceAll(r.tok.Text, "{{", "{"), "}}", "}")
			parts = append(parts, constant(r.tok.Line, unescape(text, raw)))
			r.advance()
		} else {
			parts = append(parts, r.field())
		}
	}
	return parts
}

// field parses a replacement field. One with a conversion or a format has no value
// that is known.
func (r *exprReader) field() *Node {
	line := r.tok.Line
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
			if !r.acceptKind(TextToken) {
				r.field()
			}
		}
	}
	r.expect("}")
	return &Node{Line: line}
}
