package syntax

// expressions read the expressions of a source.
type expressions struct {
	typeSkipper
	functions functions
}

// functions read functions and classes.
type functions interface {
	arrow() *Node // nil where no arrow function begins
	literal() *Node
	function(name string) *Function
}

// expression reads one, with commas.
func (p *expressions) expression() *Node {
	n := p.assignment()
	if !p.peek().is(",") {
		return n
	}
	all := &Node{Kind: Sequence, Line: n.Line, Kids: []*Node{n}}
	for p.accept(",") {
		all.Kids = append(all.Kids, p.assignment())
	}
	return all
}

// assignment reads an expression without commas. It skips one token at least.
func (p *expressions) assignment() *Node {
	defer func() { p.depth-- }()
	if !p.nest() {
		return p.unknown()
	}
	if n := p.functions.arrow(); n != nil {
		return n
	}
	if p.peek().word("yield") {
		return p.yield()
	}
	n := p.binary(0)
	if p.peek().is("?") {
		return p.condition(n)
	}
	if t := p.peek(); t.kind == tokOperator && isAssignment(t.text) {
		p.at++
		return &Node{Kind: Assign, Line: n.Line, Name: t.text, Kids: []*Node{n, p.assignment()}}
	}
	return n
}

func (p *expressions) yield() *Node {
	n := p.node(Unary, &Node{})
	n.Name = "yield"
	p.at++
	p.accept("*")
	if e := p.peek(); !e.newline && e.kind != tokEnd && !e.is(")") && !e.is("]") && !e.is("}") && !e.is(",") && !e.is(";") {
		n.Kids[0] = p.assignment()
	}
	return n
}

func (p *expressions) condition(test *Node) *Node {
	p.at++
	noIn := p.noIn
	p.noIn = false
	p.ternary++
	yes := p.assignment()
	p.ternary--
	p.noIn = noIn
	p.expect(":")
	return &Node{Kind: Condition, Line: test.Line, Kids: []*Node{test, yes, p.assignment()}}
}

func isAssignment(text string) bool {
	switch text {
	case "=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", ">>>=", "**=", "&&=", "||=", "??=":
		return true
	}
	return false
}

// isArrow reports whether an arrow function begins with the parenthesis at an index.
func (p *expressions) isArrow(at int) bool {
	pair := int(p.tokens[at].pair)
	if pair <= at {
		return false
	}
	next := p.tokens[pair+1]
	if !next.is(":") || p.ternary > 0 {
		return next.is("=>")
	}
	look := typeSkipper{&cursor{tokens: p.tokens, at: pair + 2, depth: p.depth}}
	look.skipType()
	return look.broken == 0 && look.peek().is("=>")
}

func (p *expressions) isGenericArrow() bool {
	end := p.angles(p.at)
	return end > 0 && p.tokens[end].is("(") && p.isArrow(end)
}

// precedences holds the precedence of each binary operator; 0 is none.
func precedence(text string) int {
	switch text {
	case "??", "||":
		return 1
	case "&&":
		return 2
	case "|":
		return 3
	case "^":
		return 4
	case "&":
		return 5
	case "==", "!=", "===", "!==":
		return 6
	case "<", ">", "<=", ">=", "instanceof", "in":
		return 7
	case "<<", ">>", ">>>":
		return 8
	case "+", "-":
		return 9
	case "*", "/", "%":
		return 10
	case "**":
		return 11
	}
	return 0
}

// binary reads operators that bind more closely than one.
func (p *expressions) binary(least int) *Node {
	left := p.unary()
	for range maxChain {
		t := p.peek()
		if (t.word("as") || t.word("satisfies")) && !t.newline {
			p.at++
			p.skipType()
			continue
		}
		level := 0
		if t.kind == tokOperator || t.word("instanceof") || t.word("in") && !p.noIn {
			level = precedence(t.text)
		}
		if level <= least {
			return left
		}
		p.at++
		if t.is("**") {
			level--
		}
		left = &Node{Kind: Binary, Line: left.Line, Name: t.text, Kids: []*Node{left, p.nestedBinary(level)}}
	}
	p.fail()
	return left
}

func (p *expressions) nestedBinary(least int) *Node {
	defer func() { p.depth-- }()
	if !p.nest() {
		return p.unknown()
	}
	return p.binary(least)
}

func (p *expressions) unary() *Node {
	t := p.peek()
	n := p.node(Unary)
	n.Name = t.text
	switch {
	case t.is("!"), t.is("-"), t.is("+"), t.is("~"), t.word("typeof"), t.word("void"), t.word("delete"):
	case t.word("await"):
		if next := p.ahead(1); next.kind == tokOperator && !next.is("(") && !next.is("[") && !next.is("{") && !next.is("!") || next.newline && next.kind != tokName || next.kind == tokEnd {
			return p.postfix()
		}
	case t.is("++"), t.is("--"):
		n.Kind = Update
	case t.is("<"): // a cast
		if end := p.angles(p.at); end > 0 {
			p.at = end
			return p.nestedUnary()
		}
		return p.unknown()
	default:
		return p.postfix()
	}
	p.at++
	operand := p.nestedUnary()
	if t.word("await") {
		return operand
	}
	n.Kids = []*Node{operand}
	return n
}

func (p *expressions) nestedUnary() *Node {
	defer func() { p.depth-- }()
	if !p.nest() {
		return p.unknown()
	}
	return p.unary()
}

func (p *expressions) postfix() *Node {
	n := p.leftHandSide()
	if t := p.peek(); (t.is("++") || t.is("--")) && !t.newline {
		p.at++
		return &Node{Kind: Update, Line: n.Line, Name: t.text, Kids: []*Node{n}, Optional: true}
	}
	return n
}

// leftHandSide reads a primary expression with its members and calls.
func (p *expressions) leftHandSide() *Node {
	if p.peek().word("new") {
		return p.members(p.construct(), true)
	}
	return p.members(p.primary(), true)
}

func (p *expressions) construct() *Node {
	n := p.node(New)
	p.at++
	if p.accept(".") { // new.target
		p.at++
		return &Node{Line: n.Line}
	}
	callee := p.primary
	if p.peek().word("new") {
		defer func() { p.depth-- }()
		if !p.nest() {
			return p.unknown()
		}
		callee = p.construct
	}
	n.Kids = []*Node{p.members(callee(), false)}
	if p.peek().is("<") {
		if end := p.angles(p.at); end > 0 {
			p.at = end
		}
	}
	if p.peek().is("(") {
		n.Kids = append(n.Kids, p.list("(", ")")...)
	}
	return n
}

// members reads members, indexes and templates, and calls where they are allowed.
func (p *expressions) members(n *Node, calls bool) *Node {
	for range maxChain {
		t := p.peek()
		switch {
		case t.is("."):
			p.at++
			n = &Node{Kind: Dot, Line: p.peek().line, Name: p.memberName(), Kids: []*Node{n}}
		case t.is("?.") && calls:
			p.at++
			switch next := p.peek(); {
			case next.is("("):
				n = &Node{Kind: Call, Optional: true, Line: n.Line, Kids: append([]*Node{n}, p.list("(", ")")...)}
			case next.is("["):
				n = p.index(n)
				n.Optional = true
			default:
				n = &Node{Kind: Dot, Optional: true, Line: next.line, Name: p.memberName(), Kids: []*Node{n}}
			}
		case t.is("["):
			n = p.index(n)
		case t.is("(") && calls:
			n = &Node{Kind: Call, Line: n.Line, Kids: append([]*Node{n}, p.list("(", ")")...)}
		case t.kind == tokTemplate && t.pair != continues:
			n = &Node{Kind: Tagged, Line: n.Line, Kids: []*Node{n, p.template()}}
		case t.is("!") && !t.newline && calls && !p.ahead(1).is("="):
			p.at++
		case t.is("<") && calls && p.isGenericCall():
			p.at = p.angles(p.at)
		default:
			return n
		}
	}
	p.fail()
	return n
}

func (p *expressions) index(n *Node) *Node {
	p.expect("[")
	at := p.inside(p.expression)
	p.expect("]")
	return &Node{Kind: Index, Line: n.Line, Kids: []*Node{n, at}}
}

// list reads expressions between brackets. Holes are nil.
func (p *expressions) list(open, end string) (all []*Node) {
	p.expect(open)
	for !p.peek().is(end) && p.peek().kind != tokEnd {
		if open == "[" && p.accept(",") {
			all = append(all, nil)
			continue
		}
		all = append(all, p.inside(p.element))
		if !p.accept(",") && !p.peek().is(end) {
			p.unknown()
		}
	}
	p.expect(end)
	return all
}

// element reads an expression that may be spread.
func (p *expressions) element() *Node {
	n := p.node(Spread)
	if p.accept("...") {
		n.Kids = []*Node{p.assignment()}
		return n
	}
	return p.assignment()
}

func (p *expressions) primary() *Node {
	t := p.peek()
	n := p.node(Unknown)
	n.Name = t.text
	switch t.kind {
	case tokString:
		n.Kind = String
	case tokNumber:
		n.Kind = Number
	case tokRegexp:
		n.Kind = Regexp
	case tokTemplate:
		return p.template()
	case tokPrivate:
		n.Kind = Name
	case tokName:
		return p.primaryName(t, n)
	case tokOperator:
		switch t.text {
		case "(":
			p.at++
			inner := p.inside(p.expression)
			p.expect(")")
			return inner
		case "[":
			n.Kind = Array
			n.Kids = p.list("[", "]")
			return n
		case "{":
			return p.object()
		case "@":
			p.at++
			p.leftHandSide()
			return p.nestedUnary()
		}
		return p.unknown()
	default:
		p.fail()
		return n
	}
	p.at++
	return n
}

func (p *expressions) primaryName(t token, n *Node) *Node {
	next := p.ahead(1)
	switch {
	case t.text == "function", t.text == "class", t.text == "async" && next.word("function") && !next.newline:
		return p.functions.literal()
	case t.text == "this", t.text == "super":
		n.Kind = This
	case t.text == "import" && next.is("."):
		p.at += 2
		n.Kind = Meta
	default:
		n.Kind = Name
	}
	p.at++
	return n
}

// template reads a template with its expressions.
func (p *expressions) template() *Node {
	n := p.node(Template)
	for {
		t := p.advance()
		n.Texts = append(n.Texts, t.text)
		if t.last || p.peek().kind == tokEnd {
			return n
		}
		n.Kids = append(n.Kids, p.inside(p.expression))
		for p.peek().pair != continues && p.peek().kind != tokEnd {
			p.unknown()
		}
		if p.peek().kind == tokEnd {
			p.fail()
			return n
		}
	}
}

func (p *expressions) object() *Node {
	n := p.node(Object)
	p.expect("{")
	for !p.peek().is("}") && p.peek().kind != tokEnd {
		n.Kids = append(n.Kids, p.inside(p.property))
		if !p.accept(",") && !p.peek().is("}") {
			p.unknown()
		}
	}
	p.expect("}")
	return n
}

// property reads one of an object, or of a pattern.
func (p *expressions) property() *Node {
	n := p.node(Spread)
	if p.accept("...") {
		n.Kids = []*Node{p.assignment()}
		return n
	}
	n.Kind = Property
	accessor := p.methodModifiers()
	short := p.peek()
	name, computed := p.key()
	n.Name = name
	var value *Node
	switch t := p.peek(); {
	case t.is("(") || t.is("<"):
		value = &Node{Kind: FunctionLiteral, Line: t.line, Function: p.functions.function(name)}
		if accessor {
			value = &Node{Line: t.line}
		}
	case p.accept(":"):
		value = p.assignment()
	case short.kind == tokName:
		value = &Node{Kind: Name, Line: short.line, Name: name}
		if p.accept("=") {
			value = &Node{Kind: Assign, Line: short.line, Name: "=", Kids: []*Node{value, p.assignment()}}
		}
	default:
		value = p.unknown()
	}
	n.Kids = []*Node{value}
	if computed != nil {
		n.Kids = append(n.Kids, computed)
	}
	return n
}

// key reads the name of a property: one that is computed for [x].
func (p *expressions) key() (name string, computed *Node) {
	switch t := p.peek(); {
	case t.kind == tokName, t.kind == tokString, t.kind == tokNumber, t.kind == tokPrivate:
		p.at++
		return t.text, nil
	case t.is("["):
		p.at++
		computed = p.expression()
		p.expect("]")
		return "", computed
	}
	return "", p.unknown()
}
