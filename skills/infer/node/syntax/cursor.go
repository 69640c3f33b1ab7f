package syntax

// A cursor is a place among the tokens of a source. A part that it cannot read becomes an
// unknown node.
type cursor struct {
	tokens  []token
	at      int
	depth   int
	broken  int32 // the first line that cannot be read; 0 where there is none
	noIn    bool  // "in" ends the expression
	ternary int   // between ? and : of this many conditions
}

func (p *cursor) peek() token { return p.tokens[p.at] }

func (p *cursor) ahead(n int) token { return p.tokens[min(p.at+n, len(p.tokens)-1)] }

func (p *cursor) advance() token {
	t := p.tokens[p.at]
	if t.kind != tokEnd {
		p.at++
	}
	return t
}

// accept skips an operator, if it is the next token.
func (p *cursor) accept(operator string) bool {
	if p.peek().is(operator) {
		p.at++
		return true
	}
	return false
}

func (p *cursor) acceptWord(word string) bool {
	if p.peek().word(word) {
		p.at++
		return true
	}
	return false
}

// expect skips an operator, or marks the source as broken.
func (p *cursor) expect(operator string) {
	if !p.accept(operator) {
		p.fail()
	}
}

func (p *cursor) fail() {
	if p.broken == 0 {
		p.broken = max(p.peek().line, 1)
	}
}

// unknown skips the next token, with all up to its matching bracket.
func (p *cursor) unknown() *Node {
	p.fail()
	t := p.advance()
	p.at = max(p.at, int(t.pair)+1)
	return &Node{Line: t.line}
}

// skipPair skips a bracket with all up to its end.
func (p *cursor) skipPair() {
	if pair := int(p.peek().pair); pair > p.at {
		p.at = pair + 1
		return
	}
	p.unknown()
}

// nested reads inside of another part, where these are not too deep.
func (p *cursor) nested(read func() *Node) *Node {
	p.depth++
	defer func() { p.depth-- }()
	if p.depth >= maxDepth {
		return p.unknown()
	}
	return read()
}

// inside reads between brackets, where "in" and ":" mean nothing to the outside.
func (p *cursor) inside(read func() *Node) *Node {
	noIn, ternary := p.noIn, p.ternary
	p.noIn, p.ternary = false, 0
	n := read()
	p.noIn, p.ternary = noIn, ternary
	return n
}

// until reads parts up to a closing bracket, which it skips. It skips a token that no
// part begins with.
func (p *cursor) until(end string, read func()) {
	for !p.peek().is(end) && p.peek().kind != tokEnd {
		start := p.at
		if read(); p.at == start {
			p.unknown()
		}
	}
	p.expect(end)
}

// comma skips a comma between two parts before a closing bracket.
func (p *cursor) comma(end string) {
	if !p.accept(",") && !p.peek().is(end) {
		p.unknown()
	}
}

// end skips the end of a statement.
func (p *cursor) end() {
	if t := p.peek(); !p.accept(";") && !t.newline && !t.is("}") && t.kind != tokEnd {
		p.fail()
	}
}

func (p *cursor) node(kind Kind, kids ...*Node) *Node {
	return &Node{Kind: kind, Line: p.peek().line, Kids: kids}
}

// namesSince returns the names from a token up to the next one, each once.
func (p *cursor) namesSince(from int) (names []*Node) {
	seen := map[string]bool{}
	for _, t := range p.tokens[from:p.at] {
		if t.kind == tokName && !seen[t.text] {
			seen[t.text] = true
			names = append(names, &Node{Kind: Name, Line: t.line, Name: t.text})
		}
	}
	return names
}
