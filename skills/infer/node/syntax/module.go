package syntax

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
	case p.in.accept("="):
		n.Kids = []*Node{p.x.expression()}
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
		if p.in.accept("=") {
			return p.required(n)
		}
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

// required reads the rest of import x = require("y").
func (p *statements) required(n *Node) *Node {
	call := p.x.assignment()
	if len(n.Imports) == 1 && call.Kind == Call && len(call.Kids) == 2 && call.Kids[1].Kind == String {
		n.Imports[0].Name, n.Name = "*", call.Kids[1].Name
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
