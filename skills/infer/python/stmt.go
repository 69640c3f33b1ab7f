package python

import (
	"slices"
	"strings"
)

// A reader parses a source, statement by statement. A statement with an error becomes
// one that is opaque.
type reader struct {
	exprReader
	functions []*funcDef // all that are defined, without those in bodies that are parsed later
	broken    int        // the line of the first statement that is not Python's; 0 without one
	whole     bool       // no body is parsed later
}

func newReader(tokens []token) *reader {
	return &reader{exprReader: exprReader{newTokenReader(tokens)}}
}

// statements parses up to a token of this kind, or the end.
func (r *reader) statements(until tokenKind) []*stmt {
	var body []*stmt
	for r.tok.kind != until && r.tok.kind != tokEnd {
		switch r.tok.kind {
		case tokIndent: // that no statement expects
			r.advance()
			body = append(body, r.statements(tokDedent)...)
			r.acceptKind(tokDedent)
		case tokDedent, tokNewline:
			r.advance()
		default:
			body = append(body, r.statement()...)
		}
	}
	return body
}

// block parses the body after a header: an indented block, or statements on the
// same line.
func (r *reader) block() []*stmt {
	r.expect(":")
	if r.err == nil && r.tok.kind != tokNewline {
		return r.simpleLine()
	}
	r.indent()
	if r.err != nil {
		return nil
	}
	body := r.statements(tokDedent)
	r.acceptKind(tokDedent)
	return body
}

// laterBlock is block, but leaves an indented one to be parsed later.
func (r *reader) laterBlock() (body []*stmt, unparsed []token) {
	r.expect(":")
	if r.err == nil && r.tok.kind != tokNewline {
		return r.simpleLine(), nil
	}
	r.indent()
	if r.err != nil {
		return nil, nil
	}
	unparsed = r.tokens[r.at:]
	for open := 1; open > 0 && r.tok.kind != tokEnd; r.advance() {
		switch r.tok.kind {
		case tokIndent:
			open++
		case tokDedent:
			open--
		}
	}
	return nil, unparsed
}

// indent reads the end of a line and the indentation of the next.
func (r *reader) indent() {
	r.expectKind(tokNewline)
	r.expectKind(tokIndent)
}

// statement parses a compound statement, or a line of simple ones. It always
// reads at least one token.
func (r *reader) statement() []*stmt {
	from := r.at
	s := r.compound()
	if s == nil {
		return r.simpleLine()
	}
	if r.err != nil {
		return []*stmt{r.skip(from)}
	}
	s.line = r.tokens[from].line
	return []*stmt{s}
}

// skip skips the rest of a statement with an error, and its block.
func (r *reader) skip(from int) *stmt {
	s := &stmt{kind: sOpaque, line: r.tokens[from].line}
	if r.broken == 0 && r.err == errSyntax {
		r.broken = s.line
	}
	r.err = nil
	for r.tok.kind != tokNewline && r.tok.kind != tokEnd && r.tok.kind != tokIndent && r.tok.kind != tokDedent {
		r.advance()
	}
	r.acceptKind(tokNewline)
	for open := 0; r.tok.kind == tokIndent || open > 0; r.advance() {
		switch r.tok.kind {
		case tokIndent:
			open++
		case tokDedent:
			open--
		}
	}
	if slices.ContainsFunc(r.tokens[from:r.at], func(t token) bool { return t.kind == tokName && declares(t.text) }) {
		s.name = "mentions"
	}
	return s
}

// compound parses a statement with a block, or returns nil.
func (r *reader) compound() *stmt {
	if r.is("@") {
		return r.decorated()
	}
	r.accept("async")
	switch {
	case r.is("def"):
		return r.def()
	case r.is("class"):
		return r.class()
	case r.is("if"), r.is("while"), r.is("for"), r.is("try"), r.is("with"):
		return r.clauses()
	case r.is("match") && r.endsLine(":"): // else it is a name
		return r.matchStatement()
	}
	return nil
}

func (r *reader) decorated() *stmt {
	var decorators []*node
	for r.err == nil && r.accept("@") {
		decorators = append(decorators, r.expression(loosest))
		r.expectKind(tokNewline)
	}
	s := r.compound()
	switch {
	case s == nil || s.function == nil && s.class == nil:
		r.fail(errSyntax)
		return &stmt{}
	case s.function != nil:
		s.function.decorators = decorators
	}
	return s
}

func (r *reader) def() *stmt {
	fn := &funcDef{line: r.tok.line}
	r.functions = append(r.functions, fn)
	r.advance()
	fn.name = r.name()
	from := r.at
	r.typeParameters()
	r.expect("(")
	fn.params = r.parameters(")", true)
	r.expect(")")
	if r.accept("->") {
		r.expressions(ternary)
	}
	if r.whole {
		fn.body = r.block()
	} else {
		fn.body, fn.unparsed = r.laterBlock()
	}
	fn.tokens = r.tokens[from:r.at]
	return &stmt{kind: sDef, function: fn}
}

func (r *reader) class() *stmt {
	c := &classDef{}
	r.advance()
	c.name = r.name()
	r.typeParameters()
	if r.accept("(") {
		c.bases, _ = r.elements(")", nKeyword)
	}
	c.body = r.block()
	return &stmt{kind: sClass, class: c}
}

// clauses parses a compound statement other than match.
func (r *reader) clauses() *stmt {
	s := &stmt{kind: sCompound, name: r.tok.text}
	for first := true; r.err == nil && (first || r.is("elif") || r.is("else") || r.is("except") || r.is("finally")); first = false {
		c := clause{word: r.tok.text}
		r.advance()
		switch c.word {
		case "for":
			s.targets = []*node{r.expressions(bitOr)}
			r.expect("in")
			c.value = r.expressions(loosest)
		case "if", "elif", "while":
			c.value = r.expression(loosest)
		case "with":
			c.value = r.expressions(loosest)
		case "except":
			r.accept("*")
			if !r.is(":") {
				c.value = r.expressions(loosest)
			}
		}
		c.body = r.block()
		s.clauses = append(s.clauses, c)
	}
	return s
}

func (r *reader) matchStatement() *stmt {
	r.advance()
	s := &stmt{kind: sCompound, name: "match", value: r.expressions(loosest)}
	r.expect(":")
	r.indent()
	for r.err == nil && r.accept("case") {
		r.skipTo(":")
		s.clauses = append(s.clauses, clause{word: "case", body: r.block()})
	}
	r.acceptKind(tokDedent)
	return s
}

// simpleLine parses simple statements up to the end of the line.
func (r *reader) simpleLine() []*stmt {
	var all []*stmt
	for {
		from := r.at
		s := r.simple()
		s.line = r.tokens[from].line
		if r.tok.kind != tokNewline && !r.is(";") {
			r.fail(errSyntax)
		}
		if r.err != nil {
			return append(all, r.skip(from))
		}
		all = append(all, s)
		if !r.accept(";") || r.tok.kind == tokNewline {
			r.acceptKind(tokNewline)
			return all
		}
	}
}

func (r *reader) simple() *stmt {
	switch word := r.tok.text; {
	case r.is("import"), r.is("from"):
		return r.importStatement()
	case r.accept("return"):
		return &stmt{kind: sReturn, value: r.optional()}
	case r.accept("raise"):
		s := &stmt{kind: sRaise, value: r.optional()}
		if r.accept("from") {
			r.expression(loosest)
		}
		return s
	case r.accept("global"), r.accept("nonlocal"):
		s := &stmt{kind: sGlobal, name: word}
		for len(s.names) == 0 || r.accept(",") {
			s.names = append(s.names, r.name())
		}
		return s
	case r.accept("pass"), r.accept("break"), r.accept("continue"):
		return &stmt{kind: sJump, name: strings.TrimPrefix(word, "pass")}
	case r.accept("assert"), r.accept("del"):
		return &stmt{kind: sExpr, value: r.expressions(loosest)}
	}
	first := r.expressions(loosest)
	if first.name == "type" && r.tok.kind == tokName { // type X[T] = …
		first = name(first.line, r.name())
		r.typeParameters()
	}
	return r.assignment(first)
}

// optional parses expressions that may be missing.
func (r *reader) optional() *node {
	if r.endsList() {
		return nil
	}
	return r.expressions(loosest)
}

// assignment parses the rest of a statement that starts with an expression.
func (r *reader) assignment(first *node) *stmt {
	s := &stmt{kind: sAssign, targets: []*node{first}}
	switch op := r.tok.text; {
	case r.is("="):
		for r.err == nil && r.accept("=") {
			s.value = r.expressions(loosest)
			if r.is("=") {
				s.targets = append(s.targets, s.value)
			}
		}
	case r.accept(":"):
		s.note = r.expression(ternary)
		if !r.accept("=") {
			s.kind = sJump
			return s
		}
		s.value = r.expressions(loosest)
	case r.tok.kind == tokOp && strings.HasSuffix(op, "=") && levelOf(r.tok) < 0:
		r.advance()
		s.kind, s.name, s.value = sAugment, strings.TrimSuffix(op, "="), r.expressions(loosest)
	default:
		return &stmt{kind: sExpr, value: first}
	}
	return s
}

// importStatement parses "import a.b as c" and "from a import b as c".
func (r *reader) importStatement() *stmt {
	s := &stmt{kind: sImport}
	module := ""
	if r.accept("from") {
		module = r.dotted() + "."
	}
	r.expect("import")
	if module != "" && r.accept("*") {
		s.imports = []imported{{"*", strings.TrimSuffix(module, ".")}}
		return s
	}
	bracket := module != "" && r.accept("(")
	for r.err == nil && !(bracket && r.is(")")) {
		path := r.dotted()
		name, _, _ := strings.Cut(path, ".")
		as := imported{name, module + name}
		if r.accept("as") {
			as = imported{r.name(), module + path}
		}
		s.imports = append(s.imports, as)
		if !r.accept(",") {
			break
		}
	}
	if bracket {
		r.expect(")")
	}
	return s
}

// block returns the function's body. It is parsed at the first use: few functions have
// to do with the command line, and their bodies are most of a script.
func (f *funcDef) block() []*stmt {
	if f.unparsed != nil {
		r := newReader(f.unparsed)
		f.unparsed = nil
		f.body, f.nested = r.statements(tokDedent), r.functions
	}
	return f.body
}

// parseNested parses the function's body, and returns the functions in it that were not
// known.
func (f *funcDef) parseNested() []*funcDef {
	f.block()
	nested := f.nested
	f.nested = nil
	return nested
}

// doc returns the function's docstring.
func (f *funcDef) doc() string { return docstring(f.block()) }

// docstring returns the text that a body starts with, cleaned.
func docstring(body []*stmt) string {
	if len(body) == 0 || body[0].kind != sExpr || body[0].value.kind != nConst {
		return ""
	}
	text, _ := body[0].value.value.(string)
	return cleanDoc(text)
}

// cleanDoc takes the indentation off a docstring, as inspect.cleandoc does.
func cleanDoc(text string) string {
	lines := strings.Split(strings.ReplaceAll(text, "\t", "        "), "\n")
	margin := len(text)
	for _, line := range lines[1:] {
		if trimmed := strings.TrimLeft(line, " "); trimmed != "" {
			margin = min(margin, len(line)-len(trimmed))
		}
	}
	lines[0] = strings.TrimLeft(lines[0], " ")
	for i, line := range lines {
		if i > 0 {
			line = line[min(margin, len(line)):]
		}
		lines[i] = strings.TrimRight(line, " ")
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n")
}
