package python

import (
	"strconv"
	"strings"
)

func (r *reader) atom() *node {
	line, text := r.tok.line, r.tok.text
	switch r.tok.kind {
	case tokString:
		return r.strings()
	case tokNumber:
		r.advance()
		return &node{kind: nConst, line: line, value: number(text)}
	case tokName:
		return r.nameOrConstant()
	case tokOp:
		switch text {
		case "(":
			return r.parenthesis()
		case "[":
			return r.list()
		case "{":
			return r.dictOrSet()
		case "...":
			r.advance()
			return &node{kind: nConst, line: line, value: ellipsis{}}
		}
	}
	r.fail(errSyntax)
	return r.opaque()
}

func (r *reader) nameOrConstant() *node {
	line, text := r.tok.line, r.tok.text
	if isKeyword(text) {
		r.fail(errSyntax)
		return r.opaque()
	}
	r.advance()
	switch text {
	case "None":
		return &node{kind: nConst, line: line, value: none{}}
	case "True", "False":
		return &node{kind: nConst, line: line, value: text == "True"}
	}
	return &node{kind: nName, line: line, name: text}
}

func isKeyword(name string) bool {
	switch name {
	case "and", "as", "assert", "async", "break", "class", "continue", "def", "del", "elif", "else", "except", "finally", "for", "from", "global", "if", "import", "in", "is", "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "try", "while", "with", "yield", "await":
		return true
	}
	return false
}

// number returns the value of a literal, unknown where it has none of int64 or
// float64.
func number(text string) value {
	if strings.HasPrefix(text, "0") && len(text) > 1 && isDigit(text[1]) && strings.Trim(text, "0_") != "" && !strings.ContainsAny(text, ".eEjJ") {
		return unknown{} // 0755 is no number in Python 3
	}
	if n, err := strconv.ParseInt(text, 0, 64); err == nil {
		return n
	}
	if strings.ContainsAny(text, "xXpPjJ_nN") && !strings.Contains(text, "_") {
		return unknown{}
	}
	if f, err := strconv.ParseFloat(strings.ReplaceAll(text, "_", ""), 64); err == nil && strings.ContainsAny(text, ".eE") {
		return f
	}
	return unknown{}
}

// strings parses adjacent string literals, which are one.
func (r *reader) strings() *node {
	line := r.tok.line
	var parts []*node
	var text strings.Builder
	plain := true
	for r.err == nil && r.tok.kind == tokString {
		part := r.literal(r.tok)
		if constant, ok := part.value.(string); ok && part.kind == nConst {
			text.WriteString(constant)
		} else {
			plain = false
		}
		parts = append(parts, part)
		r.advance()
	}
	if plain {
		return &node{kind: nConst, line: line, value: text.String()}
	}
	return r.node(nFString, line, "", parts...)
}

func (r *reader) literal(tok token) *node {
	lit := splitLiteral(tok.text)
	if lit.bytes {
		return &node{kind: nConst, line: tok.line, value: unknown{}}
	}
	if lit.formatted {
		return r.formatted(lit, tok.line)
	}
	return textNode(lit.body, lit.raw, tok.line)
}

func textNode(body string, raw bool, line int) *node {
	text, ok := unescape(body, raw)
	if !ok {
		return &node{kind: nConst, line: line, value: unknown{}}
	}
	return &node{kind: nConst, line: line, value: text}
}

// formatted parses the parts of an f-string.
func (r *reader) formatted(lit literal, line int) *node {
	var parts []*node
	var text strings.Builder
	flush := func() {
		if text.Len() > 0 {
			parts = append(parts, textNode(text.String(), lit.raw, line))
			text.Reset()
		}
	}
	for body := lit.body; body != ""; {
		n := 1
		switch {
		case strings.HasPrefix(body, `\`) && !lit.raw && len(body) > 1:
			n = 2
			text.WriteString(body[:2])
		case strings.HasPrefix(body, "{{"), strings.HasPrefix(body, "}}"):
			n = 2
			text.WriteByte(body[0])
		case body[0] == '{':
			flush()
			if n = fieldLength(body, `"""`, 0); n < 0 {
				r.fail(errSyntax)
				return r.opaque()
			}
			parts = append(parts, r.field(body[1:n-1], line))
		default:
			text.WriteByte(body[0])
		}
		body = body[n:]
	}
	flush()
	if len(parts) == 0 {
		return &node{kind: nConst, line: line, value: ""}
	}
	if len(parts) == 1 && parts[0].kind == nConst {
		return parts[0]
	}
	return r.node(nFString, line, "", parts...)
}

// field parses the expression of a replacement field. One with a conversion or a
// format has no value that is known.
func (r *reader) field(source string, line int) *node {
	inner := &reader{lex: newLexer("(" + source + ")"), depth: r.depth + 1}
	inner.lex.line = line
	inner.lex.fresh = false
	inner.advance()
	inner.advance() // the bracket
	n := inner.expressions()
	if inner.err == nil && inner.tok.kind == tokOp && inner.tok.text == ")" {
		return n
	}
	return &node{kind: nOpaque, line: line}
}

func (r *reader) parenthesis() *node {
	line := r.tok.line
	r.advance()
	if r.accept(")") {
		return r.node(nTuple, line, "")
	}
	n := r.expressions()
	if r.is("for") || r.is("async") {
		n = r.comprehension(line, n)
	}
	r.expect(")")
	return n
}

func (r *reader) list() *node {
	line := r.tok.line
	r.advance()
	var kids []*node
	for r.err == nil && !r.is("]") {
		n := r.starExpression()
		if r.is("for") || r.is("async") {
			n = r.comprehension(line, n)
			r.expect("]")
			return n
		}
		kids = append(kids, n)
		if !r.accept(",") {
			break
		}
	}
	r.expect("]")
	return r.node(nList, line, "", kids...)
}

func (r *reader) dictOrSet() *node {
	line := r.tok.line
	r.advance()
	var kids []*node
	kind := nDict
	for r.err == nil && !r.is("}") {
		if r.accept("**") {
			kids = append(kids, nil, r.binary(bitOr))
		} else {
			key := r.starExpression()
			entry := []*node{key}
			if r.accept(":") {
				entry = append(entry, r.expression())
			} else {
				kind = nSet
			}
			if r.is("for") || r.is("async") {
				n := r.comprehension(line, entry...)
				r.expect("}")
				return &node{kind: nOpaque, line: line, kids: []*node{n}, depth: n.depth}
			}
			kids = append(kids, entry...)
		}
		if !r.accept(",") {
			break
		}
	}
	r.expect("}")
	return r.node(kind, line, "", kids...)
}
