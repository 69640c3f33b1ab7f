package python

import (
	"errors"
	"slices"
	"strings"
)

var errSyntax = errors.New("it is not Python's syntax")

// A tokenReader reads tokens. Of each statement it keeps the first error.
type tokenReader struct {
	tokens []token
	at     int // the index of tok
	tok    *token
	depth  int
	err    error // of the statement
}

func newTokenReader(tokens []token) tokenReader { return tokenReader{tokens: tokens, tok: &tokens[0]} }

func (r *tokenReader) advance() {
	if r.at < len(r.tokens)-1 {
		r.at++
		r.tok = &r.tokens[r.at]
	}
}

// is reports whether the next token is this operator or word.
func (r *tokenReader) is(text string) bool {
	return r.tok.text == text && (r.tok.kind == tokOp || r.tok.kind == tokName)
}

func (r *tokenReader) accept(text string) bool {
	if !r.is(text) {
		return false
	}
	r.advance()
	return true
}

func (r *tokenReader) acceptKind(kind tokenKind) bool {
	if r.tok.kind != kind {
		return false
	}
	r.advance()
	return true
}

func (r *tokenReader) expect(text string) {
	if !r.accept(text) {
		r.fail(errSyntax)
	}
}

func (r *tokenReader) expectKind(kind tokenKind) {
	if !r.acceptKind(kind) {
		r.fail(errSyntax)
	}
}

func (r *tokenReader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

// name reads a name that is defined.
func (r *tokenReader) name() string {
	name := r.tok.text
	r.expectKind(tokName)
	return name
}

// dotted reads a path of an import: a.b, or ..a.
func (r *tokenReader) dotted() string {
	var path strings.Builder
	for r.tok.kind == tokName || r.is(".") || r.is("...") {
		path.WriteString(r.tok.text)
		r.advance()
	}
	if path.Len() == 0 {
		r.fail(errSyntax)
	}
	return path.String()
}

// skipTo skips to a token of this text outside of brackets. One on a later line is an
// error.
func (r *tokenReader) skipTo(text string) {
	for open := 0; r.err == nil && !(open == 0 && r.is(text)); r.advance() {
		switch {
		case r.tok.kind == tokNewline || r.tok.kind == tokEnd:
			r.fail(errSyntax)
		case r.tok.kind != tokOp:
		case strings.Contains("([{", r.tok.text):
			open++
		case strings.Contains(")]}", r.tok.text):
			open--
		}
	}
}

// typeParameters skips those of "def f[T](x: T)".
func (r *tokenReader) typeParameters() {
	if r.accept("[") {
		r.skipTo("]")
		r.accept("]")
	}
}

// endsLine reports whether the last token of the logical line is this operator.
func (r *tokenReader) endsLine(text string) bool {
	rest := r.tokens[r.at:]
	end := slices.IndexFunc(rest, func(t token) bool { return t.kind == tokNewline })
	return end > 0 && rest[end-1].kind == tokOp && rest[end-1].text == text
}
