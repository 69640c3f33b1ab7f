package syntax

import (
	"errors"
	"slices"
	"strings"
)

var errSyntax = errors.New("it is not Python's syntax")

// A tokenReader reads tokens. Of each statement it keeps the first error.
type tokenReader struct {
	tokens []Token
	at     int // the index of tok
	tok    *Token
	depth  int
	err    error // of the statement
}

func newTokenReader(tokens []Token) *tokenReader {
	return &tokenReader{tokens: tokens, tok: &tokens[0]}
}

func (r *tokenReader) advance() {
	if r.at < len(r.tokens)-1 {
		r.at++
		r.tok = &r.tokens[r.at]
	}
}

// is reports whether the next token is this operator or word.
func (r *tokenReader) is(text string) bool {
	return r.tok.Text == text && (r.tok.Kind == OpToken || r.tok.Kind == NameToken)
}

func (r *tokenReader) accept(text string) bool {
	if !r.is(text) {
		return false
	}
	r.advance()
	return true
}

func (r *tokenReader) acceptKind(kind TokenKind) bool {
	if r.tok.Kind != kind {
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

func (r *tokenReader) expectKind(kind TokenKind) {
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
	name := r.tok.Text
	r.expectKind(NameToken)
	return name
}

// dotted reads a path of an import: a.b, or ..a.
func (r *tokenReader) dotted() string {
	var path strings.Builder
	for r.tok.Kind == NameToken || r.is(".") || r.is("...") {
		path.WriteString(r.tok.Text)
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
		case r.tok.Kind == newlineToken || r.tok.Kind == EndToken:
			r.fail(errSyntax)
		case r.tok.Kind != OpToken:
		case strings.Contains("([{", r.tok.Text):
			open++
		case strings.Contains(")]}", r.tok.Text):
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
	end := slices.IndexFunc(rest, func(t Token) bool { return t.Kind == newlineToken })
	return end > 0 && rest[end-1].Kind == OpToken && rest[end-1].Text == text
}

// endsList reports whether no further expression of a list follows.
func (r *tokenReader) endsList() bool {
	switch r.tok.Kind {
	case EndToken, newlineToken:
		return true
	case OpToken:
		return strings.Contains(")]}=:;", r.tok.Text) || r.tok.Text == "in" || r.tok.Text == "from" || strings.HasSuffix(r.tok.Text, "=") && r.tok.Text != "=="
	}
	return false
}
