package python

import (
	"errors"
	"strings"
)

// A tokenReader reads the tokens of a source. Of each statement it keeps the first
// error.
type tokenReader struct {
	lex   *lexer
	tok   token
	depth int
	// mentions reports whether the statement has a word that matters to argparse.
	mentions  bool
	functions []*function // all that are defined
	inside    bool        // within a function
	// names are those within functions, in the order of the source: the names in
	// a function are a part of it, without a copy.
	names  []string
	err    error // of the statement
	broken int   // the line of the first statement that is not Python's; 0 without one
}

func (r *tokenReader) advance() {
	r.tok = r.lex.next()
	if r.tok.kind != tokName {
		return
	}
	r.mentions = r.mentions || declares(r.tok.text)
	if r.inside {
		r.names = append(r.names, r.tok.text)
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

func (r *tokenReader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

// enter counts the depth of the recursion; the caller leaves again.
func (r *tokenReader) enter() bool {
	r.depth++
	if r.depth > maxNesting {
		r.fail(errTooDeep)
	}
	return r.err == nil
}

func (r *tokenReader) leave() { r.depth-- }

// name takes a name that is defined.
func (r *tokenReader) name() string {
	name := r.tok.text
	if !r.acceptKind(tokName) {
		r.fail(errSyntax)
	}
	return name
}

// mark returns a function that takes the reader back to where it is now.
func (r *tokenReader) mark() (back func()) {
	saved, lex := *r, *r.lex
	return func() { *r, *saved.lex = saved, lex }
}

// pass skips to a token of this text outside of brackets, or to the end of the
// line.
func (r *tokenReader) pass(until string) {
	for open := 0; r.err == nil && !(open == 0 && r.is(until)); r.advance() {
		switch {
		case r.tok.kind == tokNewline || r.tok.kind == tokEnd:
			r.fail(errSyntax)
			return
		case r.tok.kind != tokOp:
		case strings.Contains("([{", r.tok.text):
			open++
		case strings.Contains(")]}", r.tok.text):
			open--
		}
	}
}

var errSyntax = errors.New("it is not Python's syntax")

func (r *tokenReader) dotted() string {
	var path strings.Builder
	for r.tok.kind == tokName && !isKeyword(r.tok.text) || r.is(".") || r.is("...") {
		path.WriteString(r.tok.text)
		r.advance()
	}
	if path.Len() == 0 {
		r.fail(errSyntax)
	}
	return path.String()
}

// indent passes the end of a line and the indentation of the next.
func (r *tokenReader) indent() bool {
	if !r.acceptKind(tokNewline) || !r.acceptKind(tokIndent) {
		r.fail(errSyntax)
	}
	return r.err == nil
}

// typeParameters passes those of "def f[T](x: T)".
func (r *tokenReader) typeParameters() {
	if r.accept("[") {
		r.pass("]")
		r.accept("]")
	}
}

func isKeyword(name string) bool {
	switch name {
	case "and", "as", "assert", "async", "break", "class", "continue", "def", "del", "elif", "else", "except", "finally", "for", "from", "global", "if", "import", "in", "is", "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "try", "while", "with", "yield", "await":
		return true
	}
	return false
}

// operator takes an operator, of which some are two words.
func (r *tokenReader) operator() string {
	op := r.tok.text
	r.advance()
	switch {
	case op == "is" && r.accept("not"):
		return "is not"
	case op == "not":
		r.expect("in")
		return "not in"
	}
	return op
}
