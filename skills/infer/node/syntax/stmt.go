package syntax

// A Tree is a program that was parsed.
type Tree struct {
	Body     []*Node
	Comments []Comment
	Broken   int32 // the first line that cannot be read; 0 where there is none
}

// statements read the statements of a source.
type statements struct{ *definitions }

// Parse reads a program. What cannot be read becomes an unknown node.
func Parse(source string) *Tree {
	tokens, comments := tokenize(source)
	p := &statements{&definitions{expressions: &expressions{typeSkipper: typeSkipper{&cursor{tokens: tokens}}}}}
	p.blocks, p.functions = p, p.definitions
	t := &Tree{Comments: comments}
	for p.peek().kind != tokEnd {
		t.Body = append(t.Body, p.statement())
	}
	t.Broken = p.broken
	return t
}

// statement reads one statement. It skips one token at least.
func (p *statements) statement() *Node {
	defer func() { p.depth-- }()
	if !p.nest() {
		return p.unknown()
	}
	start := p.at
	n := p.oneStatement()
	if p.at == start {
		return p.unknown()
	}
	return n
}

func (p *statements) oneStatement() *Node {
	t := p.peek()
	switch {
	case t.is("{"):
		return p.block()
	case t.is(";"):
		p.at++
		return p.node(Empty)
	case t.is("@"):
		p.at++
		p.leftHandSide()
		return p.oneStatement()
	case t.kind == tokName:
		if n := p.keyword(t); n != nil {
			return n
		}
		if p.ahead(1).is(":") {
			p.at += 2
			return p.statement()
		}
	}
	n := p.node(Expression)
	n.Kids = []*Node{p.expression()}
	p.end()
	return n
}

// keyword reads a statement that begins with a word, or returns nil.
func (p *statements) keyword(t token) *Node {
	next := p.ahead(1)
	switch t.text {
	case "const", "let", "var":
		return p.variableStatement(t, next)
	case "function":
		return p.functionStatement()
	case "async":
		if next.word("function") && !next.newline {
			p.at++
			return p.functionStatement()
		}
		return nil
	case "class":
		return p.classStatement()
	case "if", "while", "do":
		return p.conditional(t)
	case "for":
		return p.loop()
	case "return", "throw", "break", "continue":
		return p.jump(t)
	case "switch":
		return p.switchStatement()
	case "try":
		return p.try()
	case "import":
		if next.is("(") || next.is(".") {
			return nil
		}
		return p.importStatement()
	case "export":
		return p.export()
	case "debugger":
		n := p.node(Empty)
		p.at++
		p.end()
		return n
	}
	return p.typeStatement(t, next)
}

func (p *statements) variableStatement(t, next token) *Node {
	if t.text == "const" && next.word("enum") {
		p.at++
		return p.skipNamed()
	}
	if !(next.kind == tokName && !next.word("in") && !next.word("instanceof") || next.is("[") || next.is("{")) {
		return nil
	}
	n := p.variables()
	p.end()
	return n
}

// conditional reads if, while and do.
func (p *statements) conditional(t token) *Node {
	n := p.node(If)
	p.at++
	switch t.text {
	case "if":
		n.Kids = []*Node{p.parenthesized(), p.statement(), nil}
		if p.acceptWord("else") {
			n.Kids[2] = p.statement()
		}
	case "while":
		n.Kind, n.Kids = While, []*Node{p.parenthesized(), p.statement()}
	default:
		n.Kind, n.Kids = Do, []*Node{nil, p.statement()}
		if p.acceptWord("while") {
			n.Kids[0] = p.parenthesized()
		} else {
			p.fail()
		}
		p.accept(";")
	}
	return n
}

// jump reads return, throw, break and continue.
func (p *statements) jump(t token) *Node {
	n := p.node(Break)
	p.at++
	switch e := p.peek(); t.text {
	case "return", "throw":
		n.Kids = []*Node{nil}
		if n.Kind = Return; t.text == "throw" {
			n.Kind = Throw
		}
		if !e.newline && !e.is(";") && !e.is("}") && e.kind != tokEnd {
			n.Kids[0] = p.expression()
		}
	default:
		if t.text == "continue" {
			n.Kind = Continue
		}
		if e.kind == tokName && !e.newline {
			n.Name = p.advance().text
		}
	}
	p.end()
	return n
}

func (p *statements) block() *Node {
	n := p.node(Block)
	p.expect("{")
	for !p.peek().is("}") && p.peek().kind != tokEnd {
		n.Kids = append(n.Kids, p.statement())
	}
	p.expect("}")
	return n
}

func (p *statements) parenthesized() *Node {
	p.expect("(")
	n := p.expression()
	p.expect(")")
	return n
}

func (p *statements) loop() *Node {
	n := p.node(For)
	p.at++
	p.acceptWord("await")
	p.expect("(")
	var first *Node
	if t := p.peek(); !t.is(";") {
		p.noIn = true
		if t.word("const") || t.word("let") || t.word("var") {
			first = p.variables()
		} else {
			first = p.expression()
		}
		p.noIn = false
	}
	switch {
	case p.acceptWord("of"):
		n.Kind, n.Kids = ForOf, []*Node{first, p.assignment()}
	case p.acceptWord("in"):
		n.Kind, n.Kids = ForIn, []*Node{first, p.expression()}
	default:
		n.Kids = []*Node{first, nil, nil}
		for i, end := range []string{";", ")"} {
			p.expect(";")
			if !p.peek().is(end) {
				n.Kids[i+1] = p.expression()
			}
		}
	}
	p.expect(")")
	n.Kids = append(n.Kids, p.statement())
	return n
}

func (p *statements) switchStatement() *Node {
	n := p.node(Switch)
	p.at++
	n.Kids = []*Node{p.parenthesized()}
	p.expect("{")
	for !p.peek().is("}") && p.peek().kind != tokEnd {
		c := p.node(Case, nil)
		switch {
		case p.acceptWord("default"):
		case p.acceptWord("case"):
			c.Kids[0] = p.expression()
		default:
			p.unknown()
		}
		p.expect(":")
		for t := p.peek(); !t.is("}") && !t.word("case") && !(t.word("default") && p.ahead(1).is(":")) && t.kind != tokEnd; t = p.peek() {
			c.Kids = append(c.Kids, p.statement())
		}
		n.Kids = append(n.Kids, c)
	}
	p.expect("}")
	return n
}

func (p *statements) try() *Node {
	n := p.node(Try)
	p.at++
	n.Kids = []*Node{p.block(), nil, nil}
	if p.acceptWord("catch") {
		if p.accept("(") {
			p.variable()
			p.expect(")")
		}
		n.Kids[1] = p.block()
	}
	if p.acceptWord("finally") {
		n.Kids[2] = p.block()
	}
	return n
}

func (p *statements) export() *Node {
	n := p.node(Export)
	p.at++
	next := p.peek()
	switch {
	case next.word("type") && (p.ahead(1).is("{") || p.ahead(1).is("*")):
		p.at++
		return p.exportNames(n)
	case next.is("{"), next.is("*"):
		return p.exportNames(n)
	case next.is("="):
		p.at++
		n.Kids = []*Node{p.expression()}
		p.end()
		return n
	case p.acceptWord("default"):
		if t := p.peek(); t.word("function") || t.word("class") || t.word("abstract") || t.word("async") && p.ahead(1).word("function") || t.word("interface") {
			return p.statement()
		}
		n.Kids = []*Node{p.assignment()}
		p.end()
		return n
	}
	return p.statement()
}

// exportNames reads the names of an export.
func (p *statements) exportNames(n *Node) *Node {
	p.bindings("")
	if p.acceptWord("from") {
		n.Name = p.advance().text
	}
	p.end()
	return n
}

// typeStatement skips a statement that only TypeScript has, or returns nil.
func (p *statements) typeStatement(t, next token) *Node {
	if next.newline || next.kind != tokName && !(next.kind == tokString && (t.text == "module" || t.text == "declare")) && !(t.text == "declare" || t.text == "abstract") {
		return nil
	}
	n := p.node(Empty)
	switch t.text {
	case "interface", "enum":
		return p.skipNamed()
	case "type":
		p.at += 2
		p.skipTypeParameters()
		p.expect("=")
		p.skipType()
		p.end()
	case "abstract":
		if !next.word("class") {
			return nil
		}
		p.at++
		return p.statement()
	case "declare":
		if next.kind != tokName {
			return nil
		}
		p.at++
		if next.word("global") && p.ahead(1).is("{") {
			p.at++
			p.skipPair()
			return n
		}
		p.statement()
	case "namespace", "module":
		if !p.ahead(2).is("{") && !p.ahead(2).is(".") {
			return nil
		}
		return p.skipNamed()
	default:
		return nil
	}
	return n
}

// skipNamed skips an interface, an enum or a namespace, as a class.
func (p *statements) skipNamed() *Node {
	n := p.classStatement()
	n.Kind = Empty
	return n
}
