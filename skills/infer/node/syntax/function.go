package syntax

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
		for isModifier(p.in.peek()) && p.in.ahead(1).kind == tokName {
			p.in.at++
		}
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

func isModifier(t token) bool {
	switch t.text {
	case "public", "private", "protected", "readonly", "override":
		return t.kind == tokName
	}
	return false
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
	case t.is("(") && p.isArrow(p.in.at), t.is("<") && p.isGenericArrow():
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

// isArrow reports whether an arrow function begins with the parenthesis at an index.
func (p *expressions) isArrow(at int) bool {
	pair := int(p.in.tokens[at].pair)
	if pair <= at {
		return false
	}
	next := p.in.tokens[pair+1]
	if !next.is(":") || p.in.ternary > 0 {
		return next.is("=>")
	}
	look := &cursor{tokens: p.in.tokens, at: pair + 2}
	look.skipType()
	return look.broken == 0 && look.peek().is("=>")
}

func (p *expressions) isGenericArrow() bool {
	end := p.in.angles(p.in.at)
	return end > 0 && p.in.tokens[end].is("(") && p.isArrow(end)
}

// literal reads a function or a class as an expression.
func (p *expressions) literal() *Node {
	if p.in.peek().word("class") {
		n := p.class()
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

// class skips a class, with or without a name. Its node has a function that mentions the
// names in it.
func (p *expressions) class() *Node {
	n := p.in.node(ClassDeclaration)
	p.in.at++
	if t := p.in.peek(); t.kind == tokName && !t.word("extends") && !t.word("implements") {
		n.Name = p.in.advance().text
	}
	from := p.in.at
	for t := p.in.peek(); !t.is("{") && t.kind != tokEnd; t = p.in.peek() {
		end := int(t.pair) + 1
		if t.is("<") {
			end = p.in.angles(p.in.at)
		}
		p.in.at = max(p.in.at+1, end)
	}
	p.in.skipPair()
	n.Function = &Function{Line: n.Line, Body: &Node{Kind: Mentions, Line: n.Line, Kids: p.in.namesSince(from)}}
	return n
}
