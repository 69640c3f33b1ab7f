package syntax

// maxAngles bounds the tokens between < and > that are searched for the end of types.
const maxAngles = 200

// angles returns the index behind the > of the < at an index, and 0 where the tokens
// between are no types.
func (p *cursor) angles(at int) int {
	open := 0
	for end := min(at+maxAngles, len(p.tokens)); at < end; at++ {
		t := p.tokens[at]
		switch {
		case t.is("<"):
			open++
		case t.is(">"), t.is(">>"), t.is(">>>"):
			if open -= len(t.text); open <= 0 {
				return at + 1
			}
		case t.is("("), t.is("["), t.is("{"):
			if int(t.pair) <= at {
				return 0
			}
			at = int(t.pair)
		case t.kind == tokOperator && !isTypeOperator(t.text), t.kind == tokEnd, t.kind == tokRegexp:
			return 0
		}
	}
	return 0
}

func isTypeOperator(text string) bool {
	switch text {
	case ",", ".", "|", "&", "=", "=>", "?", ":", "...", "-", "?.":
		return true
	}
	return false
}

// isArrow reports whether an arrow function begins with the parenthesis at an index.
func (p *cursor) isArrow(at int) bool {
	pair := int(p.tokens[at].pair)
	if pair <= at {
		return false
	}
	next := p.tokens[pair+1]
	if !next.is(":") || p.ternary > 0 {
		return next.is("=>")
	}
	look := &cursor{tokens: p.tokens, at: pair + 2}
	look.skipType()
	return look.broken == 0 && look.peek().is("=>")
}

// isGenericArrow reports whether an arrow function with types of its own begins here.
func (p *cursor) isGenericArrow() bool {
	end := p.angles(p.at)
	return end > 0 && p.tokens[end].is("(") && p.isArrow(end)
}

// skipTypes skips types between < and >, if there are some.
func (p *cursor) skipTypes() {
	if p.peek().is("<") {
		if end := p.angles(p.at); end > 0 {
			p.at = end
			return
		}
		p.unknown()
	}
}

// typed skips a type behind a colon, if there is one.
func (p *cursor) typed() {
	if p.accept(":") {
		p.skipType()
	}
}

// skipType skips a type: operands with operators between them.
func (p *cursor) skipType() {
	for conditional := false; ; p.at++ {
		for isTypePrefix(p.peek(), p.ahead(1)) {
			p.at++
		}
		p.skipOperand()
		switch t := p.peek(); {
		case t.is("|"), t.is("&"), t.is("=>") && p.tokens[p.at-1].is(")"), t.word("is") && !t.newline:
		case t.word("extends") && !t.newline:
			conditional = true
		case conditional && (t.is("?") || t.is(":")):
		default:
			return
		}
	}
}

// skipOperand skips a type without operators.
func (p *cursor) skipOperand() {
	p.skipTypes()
	switch t := p.peek(); {
	case t.is("("), t.is("["), t.is("{"):
		p.skipPair()
	case t.kind == tokString, t.kind == tokNumber:
		p.at++
	case t.kind == tokName:
		p.at++
		if t.word("import") && p.peek().is("(") {
			p.skipPair()
		}
		for p.accept(".") {
			p.advance()
		}
	default:
		p.unknown()
	}
	for t := p.peek(); (t.is("[") || t.is("<")) && !t.newline; t = p.peek() {
		if p.skipTypes(); t.is("[") {
			p.skipPair()
		}
	}
}

func isTypePrefix(t, next token) bool {
	switch t.text {
	case "|", "&", "-":
		return t.kind == tokOperator
	case "keyof", "typeof", "readonly", "infer", "unique", "asserts", "abstract", "new":
		return t.kind == tokName && !next.newline && (next.kind != tokOperator || next.is("(") || next.is("{") || next.is("[") && t.text != "typeof" || next.is("<"))
	}
	return false
}

// class skips a class, with or without a name. Its node has a function that mentions the
// names in it.
func (p *cursor) class() *Node {
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
