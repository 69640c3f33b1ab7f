package syntax

// definitions read the variables, functions, classes and imports of a source.
type definitions struct {
	*expressions
	blocks blocks
}

// blocks read blocks of statements.
type blocks interface{ block() *Node }

// variables reads const, let or var with its variables.
func (p *definitions) variables() *Node {
	n := p.node(Variable)
	n.Name = p.advance().text
	for {
		n.Kids = append(n.Kids, p.variable())
		if !p.accept(",") {
			return n
		}
	}
}

// variable reads a pattern with its type and value.
func (p *definitions) variable() *Node {
	line := p.peek().line
	pattern := p.pattern()
	p.accept("!")
	if p.accept(":") {
		p.skipType()
	}
	if p.accept("=") {
		return &Node{Kind: Assign, Line: line, Name: "=", Kids: []*Node{pattern, p.assignment()}}
	}
	return pattern
}

// pattern reads a name, or an array or object of patterns.
func (p *definitions) pattern() *Node {
	switch t := p.peek(); {
	case t.is("["), t.is("{"), t.kind == tokName:
		return p.primary()
	}
	return p.unknown()
}

// parameters reads a function's.
func (p *definitions) parameters() (params []*Node) {
	p.expect("(")
	for !p.peek().is(")") && p.peek().kind != tokEnd {
		start := p.at
		for p.accept("@") {
			p.leftHandSide()
		}
		for isModifier(p.peek()) && p.ahead(1).kind == tokName {
			p.at++
		}
		line, rest := p.peek().line, p.accept("...")
		n := p.pattern()
		p.accept("?")
		if p.accept(":") {
			p.skipType()
		}
		switch {
		case rest:
			n = &Node{Kind: Spread, Line: line, Kids: []*Node{n}}
		case p.accept("="):
			n = &Node{Kind: Assign, Line: line, Name: "=", Kids: []*Node{n, p.assignment()}}
		}
		if params = append(params, n); !p.accept(",") && !p.peek().is(")") || p.at == start {
			params = append(params, p.unknown())
		}
	}
	p.expect(")")
	return params
}

// arrow reads an arrow function, or returns nil.
func (p *definitions) arrow() *Node {
	start, t := p.at, p.peek()
	if t.word("async") && !p.ahead(1).newline && (p.ahead(1).kind == tokName || p.ahead(1).is("(") || p.ahead(1).is("<")) {
		p.at++
	}
	t = p.peek()
	n := p.node(FunctionLiteral)
	fn := &Function{Line: t.line}
	switch {
	case t.kind == tokName && p.ahead(1).is("=>"):
		fn.Params = []*Node{p.primary()}
	case t.is("(") && p.isArrow(p.at), t.is("<") && p.isGenericArrow():
		p.skipTypeParameters()
		fn.Params = p.parameters()
		if p.accept(":") {
			p.skipType()
		}
	default:
		p.at = start
		return nil
	}
	p.expect("=>")
	if p.peek().is("{") {
		fn.Body = p.body()
	} else {
		fn.Body = p.assignment()
	}
	n.Function = fn
	return n
}

// literal reads a function or a class as an expression.
func (p *definitions) literal() *Node {
	if p.peek().word("class") {
		n := p.classStatement()
		n.Kind = ClassLiteral
		return n
	}
	p.acceptWord("async")
	n := p.functionStatement()
	n.Kind = FunctionLiteral
	return n
}

// function reads one from its type parameters on. The body is nil where it is only
// declared.
func (p *definitions) function(name string) *Function {
	fn := &Function{Name: name, Line: p.peek().line}
	p.skipTypeParameters()
	fn.Params = p.parameters()
	if p.accept(":") {
		p.skipType()
	}
	if p.peek().is("{") {
		fn.Body = p.body()
	}
	return fn
}

// body reads the block of a function.
func (p *definitions) body() *Node {
	return p.inside(p.blocks.block)
}

func (p *definitions) functionStatement() *Node {
	n := p.node(FunctionDeclaration)
	p.at++
	p.accept("*")
	name := ""
	if p.peek().kind == tokName {
		name = p.advance().text
	}
	if n.Function = p.function(name); n.Function.Body == nil {
		p.end()
		n.Kind = Empty // an overload
	}
	return n
}

// classStatement skips a class, with or without a name. Its node has a function that mentions the
// names in it.
func (p *definitions) classStatement() *Node {
	n := p.node(ClassDeclaration)
	p.at++
	if t := p.peek(); t.kind == tokName && !t.word("extends") && !t.word("implements") {
		n.Name = p.advance().text
	}
	from := p.at
	for t := p.peek(); !t.is("{") && t.kind != tokEnd; t = p.peek() {
		end := int(t.pair) + 1
		if t.is("<") {
			end = p.angles(p.at)
		}
		p.at = max(p.at+1, end)
	}
	p.skipPair()
	n.Function = &Function{Line: n.Line, Body: &Node{Kind: Mentions, Line: n.Line, Kids: p.namesSince(from)}}
	return n
}

func isModifier(t token) bool {
	switch t.text {
	case "public", "private", "protected", "readonly", "override", "static", "abstract", "declare", "accessor":
		return t.kind == tokName
	}
	return false
}

func (p *definitions) importStatement() *Node {
	n := p.node(Import)
	p.at++
	onlyTypes := p.peek().word("type") && !p.ahead(1).word("from") && !p.ahead(1).is(",") && p.ahead(1).kind != tokString
	if onlyTypes {
		p.at++
	}
	if p.peek().kind == tokString {
		n.Name = p.advance().text
	} else {
		n.Imports = p.bindings("default")
		if p.accept("=") { // import x = require("y")
			call := p.assignment()
			if len(n.Imports) == 1 && call.Kind == Call && len(call.Kids) == 2 && call.Kids[1].Kind == String {
				n.Imports[0].Name, n.Name = "*", call.Kids[1].Name
			}
			p.end()
			return n
		}
		if !p.acceptWord("from") || p.peek().kind != tokString {
			p.fail()
		} else {
			n.Name = p.advance().text
		}
	}
	if p.peek().word("with") || p.peek().word("assert") && !p.peek().newline {
		p.at++
		p.primary()
	}
	p.end()
	if onlyTypes {
		n.Kind = Empty
	}
	return n
}

// bindings reads the names of an import or export.
func (p *definitions) bindings(alone string) (all []Binding) {
	for {
		switch t := p.peek(); {
		case p.accept("*"):
			b := Binding{Name: "*"}
			if p.acceptWord("as") {
				b.Local = p.advance().text
			}
			all = append(all, b)
		case t.is("{"):
			p.at++
			for !p.peek().is("}") && p.peek().kind != tokEnd {
				all = append(all, p.binding()...)
			}
			p.expect("}")
		case t.kind == tokName:
			all = append(all, Binding{alone, p.advance().text})
		default:
			p.fail()
			return all
		}
		if !p.accept(",") {
			return all
		}
	}
}

// binding reads one name between braces, and the comma. A type gives none.
func (p *definitions) binding() []Binding {
	next := p.ahead(1)
	onlyType := p.peek().word("type") && next.kind == tokName && !next.word("as")
	if onlyType {
		p.at++
	}
	b := Binding{Name: p.advance().text}
	b.Local = b.Name
	if p.acceptWord("as") {
		b.Local = p.advance().text
	}
	if !p.accept(",") && !p.peek().is("}") {
		p.unknown()
	}
	if onlyType {
		return nil
	}
	return []Binding{b}
}
