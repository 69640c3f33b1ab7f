package syntax

// A typeSkipper skips the types of TypeScript.
type typeSkipper struct{ *cursor }

// maxAngles bounds the tokens between < and > that are searched for the end of types.
const maxAngles = 200

// angles returns the index behind the > of the < at an index, and 0 where the tokens
// between are no types.
func (p typeSkipper) angles(at int) int {
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

// isGenericCall reports whether types for a call begin here.
func (p typeSkipper) isGenericCall() bool {
	end := p.angles(p.at)
	return end > 0 && (p.tokens[end].is("(") || p.tokens[end].kind == tokTemplate)
}

func (p typeSkipper) skipTypeParameters() {
	if p.peek().is("<") {
		if end := p.angles(p.at); end > 0 {
			p.at = end
			return
		}
		p.unknown()
	}
}

// skipType skips a type.
func (p typeSkipper) skipType() {
	defer func() { p.depth-- }()
	if !p.nest() {
		p.unknown()
		return
	}
	for {
		p.skipOneType()
		if !p.accept("|") && !p.accept("&") {
			break
		}
	}
	if t := p.peek(); t.word("extends") && !t.newline {
		p.at++
		p.skipType()
		if p.accept("?") {
			p.skipType()
			p.expect(":")
			p.skipType()
		}
	}
}

// skipOneType skips a type without | and &, but those before it.
func (p typeSkipper) skipOneType() {
	for isTypePrefix(p.peek(), p.ahead(1)) {
		p.at++
	}
	switch t := p.peek(); {
	case t.is("("):
		p.skipPair()
		if p.accept("=>") {
			p.skipType()
			return
		}
	case t.is("["), t.is("{"):
		p.skipPair()
	case t.is("<"):
		p.skipTypeParameters()
		p.skipPair()
		p.expect("=>")
		p.skipType()
		return
	case t.kind == tokTemplate:
		p.skipTemplate()
	case t.kind == tokString, t.kind == tokNumber:
		p.at++
	case t.kind == tokName:
		p.skipTypeName()
	default:
		p.unknown()
		return
	}
	for p.peek().is("[") && !p.peek().newline {
		p.skipPair()
	}
	if t := p.peek(); t.word("is") && !t.newline {
		p.at++
		p.skipType()
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

func (p typeSkipper) skipTypeName() {
	word := p.advance()
	if word.word("import") && p.peek().is("(") {
		p.skipPair()
	}
	for p.accept(".") {
		p.at++
	}
	p.at = min(p.at, len(p.tokens)-1)
	if t := p.peek(); t.is("<") && !t.newline {
		p.skipTypeParameters()
	}
}
