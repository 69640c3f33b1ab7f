package syntax

// expressions read the expressions of a source.
type expressions struct {
	in    *cursor
	block func() *Node // reads a block of statements
}

// expression reads one, with commas.
func (p *expressions) expression() *Node {
	n := p.assignment()
	if !p.in.peek().is(",") {
		return n
	}
	all := &Node{Kind: Sequence, Line: n.Line, Kids: []*Node{n}}
	for p.in.accept(",") {
		all.Kids = append(all.Kids, p.assignment())
	}
	return all
}

// assignment reads an expression without commas. It skips one token at least.
func (p *expressions) assignment() *Node { return p.in.nested(p.oneAssignment) }

func (p *expressions) oneAssignment() *Node {
	if n := p.arrow(); n != nil {
		return n
	}
	n := p.binary(0)
	switch t := p.in.peek(); {
	case t.is("?"):
		return p.condition(n)
	case t.kind == tokOperator && isAssignment(t.text):
		p.in.at++
		return &Node{Kind: Assign, Line: n.Line, Name: t.text, Kids: []*Node{n, p.assignment()}}
	}
	return n
}

func (p *expressions) condition(test *Node) *Node {
	p.in.at++
	noIn := p.in.noIn
	p.in.noIn = false
	p.in.ternary++
	yes := p.assignment()
	p.in.ternary--
	p.in.noIn = noIn
	p.in.expect(":")
	return &Node{Kind: Condition, Line: test.Line, Kids: []*Node{test, yes, p.assignment()}}
}

// binary reads operators that bind more closely than one.
func (p *expressions) binary(least int) *Node {
	left := p.unary()
	for range maxChain {
		t := p.in.peek()
		if (t.word("as") || t.word("satisfies")) && !t.newline {
			p.in.at++
			p.in.skipType()
			continue
		}
		level := 0
		if t.kind == tokOperator || t.word("instanceof") || t.word("in") && !p.in.noIn {
			level = precedence(t.text)
		}
		if level <= least {
			return left
		}
		p.in.at++
		if t.is("**") {
			level--
		}
		right := p.in.nested(func() *Node { return p.binary(level) })
		left = &Node{Kind: Binary, Line: left.Line, Name: t.text, Kids: []*Node{left, right}}
	}
	p.in.fail()
	return left
}

// unary reads an expression with the operators before and behind it.
func (p *expressions) unary() *Node {
	t, n := p.in.peek(), p.in.node(Unary)
	n.Name = t.text
	switch {
	case t.is("!"), t.is("-"), t.is("+"), t.is("~"), t.word("typeof"), t.word("void"), t.word("delete"):
	case (t.word("await") || t.word("yield")) && p.hasOperand():
	case t.is("++"), t.is("--"):
		n.Kind = Update
	case t.is("<"): // a cast
		p.in.skipTypes()
		return p.in.nested(p.unary)
	default:
		return p.postfix()
	}
	p.in.at++
	if t.word("yield") {
		p.in.accept("*")
	}
	operand := p.in.nested(p.unary)
	if t.word("await") {
		return operand
	}
	n.Kids = []*Node{operand}
	return n
}

// hasOperand reports whether an expression follows await or yield, which are names else.
func (p *expressions) hasOperand() bool {
	next := p.in.ahead(1)
	if next.kind == tokOperator {
		return next.is("(") || next.is("[") || next.is("{") || next.is("!") || next.is("*")
	}
	return next.kind != tokEnd && (!next.newline || next.kind == tokName)
}

func (p *expressions) postfix() *Node {
	n := p.leftHandSide()
	if t := p.in.peek(); (t.is("++") || t.is("--")) && !t.newline {
		p.in.at++
		return &Node{Kind: Update, Line: n.Line, Name: t.text, Kids: []*Node{n}}
	}
	return n
}

// leftHandSide reads a primary expression with its members and calls.
func (p *expressions) leftHandSide() *Node {
	if p.in.peek().word("new") {
		return p.members(p.construct(), true)
	}
	return p.members(p.primary(), true)
}

func (p *expressions) construct() *Node {
	n := p.in.node(New)
	p.in.at++
	if p.in.accept(".") { // new.target
		p.in.at++
		return &Node{Line: n.Line}
	}
	callee := p.primary
	if p.in.peek().word("new") {
		callee = func() *Node { return p.in.nested(p.construct) }
	}
	n.Kids = []*Node{p.members(callee(), false)}
	p.in.skipTypes()
	if p.in.peek().is("(") {
		n.Kids = append(n.Kids, p.list("(", ")")...)
	}
	return n
}

// members reads members, indexes and templates, and calls where they are allowed.
func (p *expressions) members(n *Node, calls bool) *Node {
	for range maxChain {
		t := p.in.peek()
		optional := t.is("?.") && calls
		if optional {
			p.in.at++
			t = p.in.peek()
		}
		switch {
		case t.is("(") && calls:
			n = &Node{Kind: Call, Line: n.Line, Kids: append([]*Node{n}, p.list("(", ")")...)}
		case t.is("["):
			n = &Node{Kind: Index, Line: n.Line, Kids: append([]*Node{n}, p.list("[", "]")...)}
			if len(n.Kids) != 2 || n.Kids[1] == nil {
				p.in.fail()
				n.Kids = append(n.Kids[:1], &Node{})
			}
		case optional, p.in.accept("."):
			name := p.in.advance()
			if name.kind != tokName && name.kind != tokPrivate {
				p.in.fail()
			}
			n = &Node{Kind: Dot, Line: name.line, Name: name.text, Kids: []*Node{n}}
		case t.kind == tokTemplate && t.pair != continues:
			n = &Node{Kind: Tagged, Line: n.Line, Kids: []*Node{n, p.template()}}
		case t.is("!") && !t.newline && calls && !p.in.ahead(1).is("="):
			p.in.at++
		case t.is("<") && calls && p.isGenericCall():
			p.in.skipTypes()
		default:
			return n
		}
		n.Optional = optional
	}
	p.in.fail()
	return n
}

// isGenericCall reports whether types for a call begin here.
func (p *expressions) isGenericCall() bool {
	end := p.in.angles(p.in.at)
	return end > 0 && (p.in.tokens[end].is("(") || p.in.tokens[end].kind == tokTemplate)
}

// list reads expressions between brackets. Holes are nil.
func (p *expressions) list(open, end string) (all []*Node) {
	p.in.expect(open)
	p.in.until(end, func() {
		if open == "[" && p.in.accept(",") {
			all = append(all, nil)
			return
		}
		all = append(all, p.in.inside(p.element))
		p.in.comma(end)
	})
	return all
}

// element reads an expression that may be spread.
func (p *expressions) element() *Node {
	n := p.in.node(Spread)
	if p.in.accept("...") {
		n.Kids = []*Node{p.assignment()}
		return n
	}
	return p.assignment()
}

func (p *expressions) primary() *Node {
	t, n := p.in.peek(), p.in.node(Unknown)
	n.Name = t.text
	switch {
	case t.kind == tokString:
		n.Kind = String
	case t.kind == tokNumber:
		n.Kind = Number
	case t.kind == tokRegexp:
		n.Kind = Regexp
	case t.kind == tokTemplate:
		return p.template()
	case t.kind == tokPrivate:
		n.Kind = Name
	case t.word("function"), t.word("class"), t.word("async") && p.in.ahead(1).word("function") && !p.in.ahead(1).newline:
		return p.literal()
	case t.word("this"), t.word("super"):
		n.Kind = This
	case t.word("import") && p.in.ahead(1).is("."):
		p.in.at += 2
		n.Kind = Meta
	case t.kind == tokName:
		n.Kind = Name
	case p.in.accept("("):
		inner := p.in.inside(p.expression)
		p.in.expect(")")
		return inner
	case t.is("["):
		n.Kind, n.Kids = Array, p.list("[", "]")
		return n
	case t.is("{"):
		return p.object()
	default:
		return p.in.unknown()
	}
	p.in.at++
	return n
}

// template reads a template with its expressions.
func (p *expressions) template() *Node {
	n := p.in.node(Template)
	for {
		t := p.in.advance()
		n.Texts = append(n.Texts, t.text)
		if t.last || p.in.peek().kind == tokEnd {
			return n
		}
		n.Kids = append(n.Kids, p.in.inside(p.expression))
		for p.in.peek().pair != continues && p.in.peek().kind != tokEnd {
			p.in.unknown()
		}
	}
}

func (p *expressions) object() *Node {
	n := p.in.node(Object)
	p.in.expect("{")
	p.in.until("}", func() {
		n.Kids = append(n.Kids, p.in.inside(p.property))
		p.in.comma("}")
	})
	return n
}

// property reads one of an object, or of a pattern.
func (p *expressions) property() *Node {
	if p.in.peek().is("...") {
		return p.element()
	}
	n := p.in.node(Property)
	accessor := p.methodModifiers()
	short := p.in.peek()
	if n.Kids = []*Node{nil}; short.is("[") {
		n.Kids = append(n.Kids, p.list("[", "]")...)
	} else if n.Name = p.in.advance().text; short.kind == tokOperator || short.kind == tokTemplate {
		p.in.fail()
	}
	switch t := p.in.peek(); {
	case t.is("(") || t.is("<"):
		n.Kids[0] = &Node{Kind: FunctionLiteral, Line: t.line, Function: p.function(n.Name)}
		if accessor {
			n.Kids[0] = &Node{Line: t.line}
		}
	case p.in.accept(":"):
		n.Kids[0] = p.assignment()
	case short.kind == tokName:
		n.Kids[0] = p.withDefault(&Node{Kind: Name, Line: short.line, Name: n.Name})
	default:
		n.Kids[0] = p.in.unknown()
	}
	return n
}

// withDefault reads the default behind a pattern, if there is one.
func (p *expressions) withDefault(pattern *Node) *Node {
	if p.in.accept("=") {
		return &Node{Kind: Assign, Line: pattern.Line, Name: "=", Kids: []*Node{pattern, p.assignment()}}
	}
	return pattern
}

// methodModifiers skips async, get, set and * before a name, and reports get or set.
func (p *expressions) methodModifiers() (accessor bool) {
	for {
		t, next := p.in.peek(), p.in.ahead(1)
		named := next.kind == tokName || next.kind == tokString || next.kind == tokNumber || next.kind == tokPrivate || next.is("[") || next.is("*")
		if !t.is("*") && !(named && (t.word("async") || t.word("get") || t.word("set"))) {
			return accessor
		}
		accessor = accessor || t.word("get") || t.word("set")
		p.in.at++
	}
}

// variable reads a pattern with its type and value.
func (p *expressions) variable() *Node {
	n := p.pattern()
	p.in.accept("!")
	p.in.typed()
	return p.withDefault(n)
}

// pattern reads a name, or an array or object of patterns.
func (p *expressions) pattern() *Node {
	if t := p.in.peek(); t.is("[") || t.is("{") || t.kind == tokName {
		return p.primary()
	}
	return p.in.unknown()
}

// parameters reads a function's.
func (p *expressions) parameters() (params []*Node) {
	p.in.expect("(")
	p.in.until(")", func() {
		n := p.in.node(Spread)
		rest := p.in.accept("...")
		pattern := p.pattern()
		p.in.accept("?")
		p.in.typed()
		if n.Kids = []*Node{pattern}; !rest {
			n = p.withDefault(pattern)
		}
		params = append(params, n)
		p.in.comma(")")
	})
	return params
}

// arrow reads an arrow function, or returns nil.
func (p *expressions) arrow() *Node {
	start := p.in.at
	if next := p.in.ahead(1); p.in.peek().word("async") && !next.newline && (next.kind == tokName || next.is("(") || next.is("<")) {
		p.in.at++
	}
	t, n := p.in.peek(), p.in.node(FunctionLiteral)
	n.Function = &Function{Line: t.line}
	switch {
	case t.kind == tokName && p.in.ahead(1).is("=>"):
		n.Function.Params = []*Node{p.primary()}
	case t.is("(") && p.in.isArrow(p.in.at), t.is("<") && p.in.isGenericArrow():
		p.in.skipTypes()
		n.Function.Params = p.parameters()
		p.in.typed()
	default:
		p.in.at = start
		return nil
	}
	p.in.expect("=>")
	if p.in.peek().is("{") {
		n.Function.Body = p.in.inside(p.block)
	} else {
		n.Function.Body = p.assignment()
	}
	return n
}

// literal reads a function or a class as an expression.
func (p *expressions) literal() *Node {
	if p.in.peek().word("class") {
		n := p.in.class()
		n.Kind = ClassLiteral
		return n
	}
	p.in.acceptWord("async")
	n := p.named()
	n.Kind = FunctionLiteral
	return n
}

// function reads one from its type parameters on. The body is nil where it is only
// declared.
func (p *expressions) function(name string) *Function {
	fn := &Function{Name: name, Line: p.in.peek().line}
	p.in.skipTypes()
	fn.Params = p.parameters()
	p.in.typed()
	if p.in.peek().is("{") {
		fn.Body = p.in.inside(p.block)
	}
	return fn
}

// named reads a function from its keyword on.
func (p *expressions) named() *Node {
	n := p.in.node(FunctionDeclaration)
	p.in.at++
	p.in.accept("*")
	name := ""
	if p.in.peek().kind == tokName {
		name = p.in.advance().text
	}
	if n.Function = p.function(name); n.Function.Body == nil {
		p.in.end()
		n.Kind = Empty // an overload
	}
	return n
}
