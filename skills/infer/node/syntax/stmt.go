package syntax

// A Tree is a program that was parsed.
type Tree struct {
	Body     []*Node
	Comments []Comment
	Broken   int32 // the first line that cannot be read; 0 where there is none
}

// statements read the statements of a source.
type statements struct {
	in *cursor
	x  *expressions
}

// Parse reads a program. Parts that cannot be read become unknown nodes.
func Parse(source string) *Tree {
	tokens, comments := tokenize(source)
	in := &cursor{tokens: tokens}
	p := &statements{in, &expressions{in: in}}
	p.x.block = p.block
	t := &Tree{Comments: comments}
	for in.peek().kind != tokEnd {
		t.Body = append(t.Body, p.statement())
	}
	t.Broken = in.broken
	return t
}

// statement reads one statement. It skips one token at least.
func (p *statements) statement() *Node {
	return p.in.nested(func() *Node {
		start := p.in.at
		if n := p.oneStatement(); p.in.at > start {
			return n
		}
		return p.in.unknown()
	})
}

func (p *statements) oneStatement() *Node {
	t := p.in.peek()
	switch {
	case t.is("{"):
		return p.block()
	case p.in.accept(";"):
		return p.in.node(Empty)
	case p.in.accept("@"):
		p.x.leftHandSide()
		return p.statement()
	case t.kind == tokName:
		if n := p.keyword(t, p.in.ahead(1)); n != nil {
			return n
		}
		if p.in.ahead(1).is(":") { // a label
			p.in.at += 2
			return p.statement()
		}
	}
	n := p.in.node(Expression)
	n.Kids = []*Node{p.x.expression()}
	p.in.end()
	return n
}

// keyword reads a statement that begins with a word, or returns nil.
func (p *statements) keyword(t, next token) *Node {
	switch t.text {
	case "const", "let", "var":
		if next.word("enum") {
			p.in.at++
			return p.skipNamed()
		}
		if next.kind == tokName && !next.word("in") && !next.word("instanceof") || next.is("[") || next.is("{") {
			n := p.variables()
			p.in.end()
			return n
		}
		return nil
	case "function":
		return p.x.named()
	case "async":
		if !next.word("function") || next.newline {
			return nil
		}
		p.in.at++
		return p.x.named()
	case "class":
		return p.in.class()
	case "if", "while", "do":
		return p.conditional(t)
	case "for":
		return p.loop()
	case "return", "throw", "break", "continue":
		return p.jump(t)
	case "switch":
		return p.choice()
	case "try":
		return p.try()
	case "import":
		if next.is("(") || next.is(".") {
			return nil
		}
		return p.imports(next)
	case "export":
		p.in.at++
		return p.exports(next)
	}
	return p.typeStatement(t, next)
}

// variables reads const, let or var with its variables.
func (p *statements) variables() *Node {
	n := p.in.node(Variable)
	n.Name = p.in.advance().text
	for n.Kids = append(n.Kids, p.x.variable()); p.in.accept(","); {
		n.Kids = append(n.Kids, p.x.variable())
	}
	return n
}

// conditional reads if, while and do.
func (p *statements) conditional(t token) *Node {
	n := p.in.node(If)
	p.in.at++
	switch t.text {
	case "if":
		n.Kids = []*Node{p.parenthesized(), p.statement(), nil}
		if p.in.acceptWord("else") {
			n.Kids[2] = p.statement()
		}
	case "while":
		n.Kind, n.Kids = While, []*Node{p.parenthesized(), p.statement()}
	default:
		n.Kind, n.Kids = Do, []*Node{nil, p.statement()}
		if !p.in.acceptWord("while") {
			p.in.fail()
			return n
		}
		n.Kids[0] = p.parenthesized()
		p.in.accept(";")
	}
	return n
}

// jump reads return, throw, break and continue.
func (p *statements) jump(t token) *Node {
	n := p.in.node(map[string]Kind{"return": Return, "throw": Throw, "break": Break, "continue": Continue}[t.text], nil)
	p.in.at++
	if e := p.in.peek(); !e.newline && !e.is(";") && !e.is("}") && e.kind != tokEnd {
		n.Kids[0] = p.x.expression() // or a label
	}
	p.in.end()
	return n
}

func (p *statements) block() *Node {
	n := p.in.node(Block)
	p.in.expect("{")
	p.in.until("}", func() { n.Kids = append(n.Kids, p.statement()) })
	return n
}

func (p *statements) parenthesized() *Node {
	p.in.expect("(")
	n := p.x.expression()
	p.in.expect(")")
	return n
}

func (p *statements) loop() *Node {
	n := p.in.node(For)
	p.in.at++
	p.in.acceptWord("await")
	p.in.expect("(")
	var first *Node
	p.in.noIn = true
	switch t := p.in.peek(); {
	case t.is(";"):
	case t.word("const"), t.word("let"), t.word("var"):
		first = p.variables()
	default:
		first = p.x.expression()
	}
	p.in.noIn = false
	switch {
	case p.in.acceptWord("of"):
		n.Kind, n.Kids = ForOf, []*Node{first, p.x.assignment()}
	case p.in.acceptWord("in"):
		n.Kind, n.Kids = ForIn, []*Node{first, p.x.expression()}
	default:
		n.Kids = []*Node{first, nil, nil}
		for i, end := range []string{";", ")"} {
			p.in.expect(";")
			if !p.in.peek().is(end) {
				n.Kids[i+1] = p.x.expression()
			}
		}
	}
	p.in.expect(")")
	n.Kids = append(n.Kids, p.statement())
	return n
}

func (p *statements) choice() *Node {
	n := p.in.node(Switch)
	p.in.at++
	n.Kids = []*Node{p.parenthesized()}
	p.in.expect("{")
	p.in.until("}", func() {
		c := p.in.node(Case, nil)
		if p.in.acceptWord("case") {
			c.Kids[0] = p.x.expression()
		} else if !p.in.acceptWord("default") {
			p.in.unknown()
		}
		p.in.expect(":")
		for t := p.in.peek(); !t.is("}") && !t.word("case") && !(t.word("default") && p.in.ahead(1).is(":")) && t.kind != tokEnd; t = p.in.peek() {
			c.Kids = append(c.Kids, p.statement())
		}
		n.Kids = append(n.Kids, c)
	})
	return n
}

func (p *statements) try() *Node {
	n := p.in.node(Try)
	p.in.at++
	n.Kids = []*Node{p.block(), nil, nil}
	if p.in.acceptWord("catch") {
		if p.in.accept("(") {
			p.x.variable()
			p.in.expect(")")
		}
		n.Kids[1] = p.block()
	}
	if p.in.acceptWord("finally") {
		n.Kids[2] = p.block()
	}
	return n
}

// typeStatement skips a statement that only TypeScript has, or returns nil.
func (p *statements) typeStatement(t, next token) *Node {
	if next.newline || next.kind != tokName && next.kind != tokString {
		return nil
	}
	n := p.in.node(Empty)
	switch t.text {
	case "interface", "enum", "namespace", "module":
		return p.skipNamed()
	case "type":
		p.in.at += 2
		p.in.skipTypes()
		p.in.expect("=")
		p.in.skipType()
		p.in.end()
	case "abstract":
		p.in.at++
		return p.statement()
	case "declare":
		p.in.at++
		if next.word("global") {
			return p.skipNamed()
		}
		p.statement()
	default:
		return nil
	}
	return n
}

// skipNamed skips an interface, an enum or a namespace, as a class.
func (p *statements) skipNamed() *Node {
	n := p.in.class()
	n.Kind = Empty
	return n
}

// exports reads an export behind its keyword.
func (p *statements) exports(next token) *Node {
	n := p.in.node(Export)
	if next.word("type") && (p.in.ahead(1).is("{") || p.in.ahead(1).is("*")) {
		next = p.in.ahead(1)
		p.in.at++
	}
	switch {
	case next.is("{"), next.is("*"):
		p.bindings("")
		if p.in.acceptWord("from") {
			n.Name = p.in.advance().text
		}
	case p.in.acceptWord("default"):
		if t := p.in.peek(); t.word("function") || t.word("class") || t.word("abstract") || t.word("async") && p.in.ahead(1).word("function") || t.word("interface") {
			return p.statement()
		}
		n.Kids = []*Node{p.x.assignment()}
	default:
		return p.statement()
	}
	p.in.end()
	return n
}

// imports reads an import. One of types alone is empty.
func (p *statements) imports(next token) *Node {
	n := p.in.node(Import)
	p.in.at++
	if next.word("type") && !p.in.ahead(1).word("from") && !p.in.ahead(1).is(",") && p.in.ahead(1).kind != tokString {
		n.Kind = Empty
		p.in.at++
	}
	if p.in.peek().kind != tokString {
		n.Imports = p.bindings("default")
		if !p.in.acceptWord("from") || p.in.peek().kind != tokString {
			p.in.fail()
		}
	}
	n.Name = p.in.advance().text
	if p.in.acceptWord("with") || p.in.acceptWord("assert") {
		p.x.primary()
	}
	p.in.end()
	return n
}

// bindings reads the names of an import or export.
func (p *statements) bindings(alone string) (all []Binding) {
	for more := true; more; more = p.in.accept(",") {
		switch t := p.in.peek(); {
		case p.in.accept("*"):
			b := Binding{Name: "*"}
			if p.in.acceptWord("as") {
				b.Local = p.in.advance().text
			}
			all = append(all, b)
		case p.in.accept("{"):
			p.in.until("}", func() { all = append(all, p.binding()...) })
		case t.kind == tokName:
			all = append(all, Binding{alone, p.in.advance().text})
		default:
			p.in.fail()
			return all
		}
	}
	return all
}

// binding reads one name between braces, and the comma. A type gives none.
func (p *statements) binding() []Binding {
	next := p.in.ahead(1)
	onlyType := p.in.peek().word("type") && next.kind == tokName && !next.word("as")
	if onlyType {
		p.in.at++
	}
	b := Binding{Name: p.in.advance().text}
	b.Local = b.Name
	if p.in.acceptWord("as") {
		b.Local = p.in.advance().text
	}
	p.in.comma("}")
	if onlyType {
		return nil
	}
	return []Binding{b}
}
