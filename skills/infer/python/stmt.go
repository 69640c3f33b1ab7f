package python

import "strings"

// A reader parses a source, statement by statement. A statement that it does not
// understand becomes one that is opaque.
type reader struct{ exprReader }

func newReader(src string) *reader {
	r := &reader{exprReader{tokenReader{lex: newLexer(src)}}}
	r.advance()
	return r
}

// module parses the whole source. The error is the lexer's.
func (r *reader) module() ([]*stmt, error) { return r.statements(tokEnd), r.lex.err }

// statements parses up to a token of this kind, or the end.
func (r *reader) statements(until tokenKind) []*stmt {
	var body []*stmt
	for r.tok.kind != until && r.tok.kind != tokEnd {
		switch r.tok.kind {
		case tokIndent, tokDedent, tokNewline:
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
	if r.err != nil {
		return nil
	}
	if r.tok.kind != tokNewline {
		return r.simpleLine()
	}
	if !r.indent() {
		return nil
	}
	body := r.statements(tokDedent)
	r.acceptKind(tokDedent)
	return body
}

// statement parses a compound statement, or a line of simple ones. It always
// takes at least one token.
func (r *reader) statement() []*stmt {
	line := r.tok.line
	r.mentions = r.tok.kind == tokName && declares(r.tok.text)
	s := r.compound()
	if s == nil {
		return r.simpleLine()
	}
	s.line = line
	if r.err != nil {
		return []*stmt{r.skip(line)}
	}
	return []*stmt{s}
}

// skip passes the rest of a statement that is not understood, with its block.
func (r *reader) skip(line int) *stmt {
	if r.broken == 0 && r.err == errSyntax {
		r.broken = line
	}
	r.err = nil
	for r.tok.kind != tokNewline && r.tok.kind != tokEnd && r.tok.kind != tokIndent && r.tok.kind != tokDedent {
		r.advance()
	}
	r.acceptKind(tokNewline)
	for open := 0; r.tok.kind == tokIndent || open > 0 && r.tok.kind != tokEnd; r.advance() {
		if r.tok.kind == tokIndent {
			open++
		} else if r.tok.kind == tokDedent {
			if open--; open == 0 {
				r.advance()
				break
			}
		}
	}
	s := &stmt{kind: sOpaque, line: line}
	if r.mentions {
		s.name = "mentions"
	}
	return s
}

// compound parses a statement with a block, or returns nil.
func (r *reader) compound() *stmt {
	if r.is("@") {
		return r.decorated()
	}
	if r.tok.kind != tokName {
		return nil
	}
	switch r.tok.text {
	case "async":
		r.advance()
		return r.compound()
	case "def":
		return r.def(nil)
	case "class":
		return r.class()
	case "if", "while", "for", "try", "with":
		return r.clauses()
	case "match":
		return r.matchStatement()
	}
	return nil
}

func (r *reader) decorated() *stmt {
	var decorators []*node
	for r.err == nil && r.accept("@") {
		decorators = append(decorators, r.expression())
		if !r.acceptKind(tokNewline) {
			r.fail(errSyntax)
		}
	}
	r.accept("async")
	switch {
	case r.err == nil && r.is("def"):
		return r.def(decorators)
	case r.err == nil && r.is("class"):
		return r.class()
	}
	r.fail(errSyntax)
	return &stmt{kind: sOpaque}
}

func (r *reader) def(decorators []*node) *stmt {
	fn := &function{line: r.tok.line, decorators: decorators}
	outer := r.inside
	r.functions, r.inside = append(r.functions, fn), false
	r.advance()
	fn.name = r.name()
	from := len(r.names)
	r.inside = true
	r.typeParameters()
	r.expect("(")
	fn.params = r.parameters(")", true)
	r.expect(")")
	if r.accept("->") {
		r.expressions()
	}
	fn.body = r.block()
	fn.mentions = r.names[from:len(r.names):len(r.names)]
	r.inside = outer
	fn.doc = docstring(fn.body)
	return &stmt{kind: sDef, function: fn}
}

func (r *reader) class() *stmt {
	c := &class{}
	r.advance()
	c.name = r.name()
	r.typeParameters()
	if r.accept("(") {
		c.bases = r.call(&node{kind: nOpaque}, r.tok.line).kids
		c.bases = c.bases[min(1, len(c.bases)):]
	}
	c.body = r.block()
	return &stmt{kind: sClass, class: c}
}

// clauses parses a compound statement other than match.
func (r *reader) clauses() *stmt {
	s := &stmt{kind: sCompound, name: r.tok.text}
	for word := s.name; r.err == nil && (len(s.clauses) == 0 || r.tok.kind == tokName && follows(s.name, word)); word = r.tok.text {
		r.advance()
		c := clause{word: word}
		switch word {
		case "for":
			s.targets = []*node{r.targetList()}
			r.expect("in")
			c.value = r.expressions()
		case "if", "elif", "while":
			c.value = r.expression()
		case "with":
			c.value = r.expressions()
		case "except":
			r.accept("*")
			if !r.is(":") {
				c.value = r.expressions()
			}
		}
		c.body = r.block()
		s.clauses = append(s.clauses, c)
	}
	return s
}

// follows reports whether a clause may follow in a statement.
func follows(statement, clause string) bool {
	switch clause {
	case "elif":
		return statement == "if"
	case "else":
		return statement != "with"
	case "except", "finally":
		return statement == "try"
	}
	return false
}

// matchStatement parses one. It returns nil where match is a name.
func (r *reader) matchStatement() *stmt {
	back := r.mark()
	r.advance()
	s := &stmt{kind: sCompound, name: "match", value: r.expressions()}
	if !r.accept(":") || r.tok.kind != tokNewline || r.err != nil {
		back()
		return nil
	}
	if !r.indent() {
		return s
	}
	for r.err == nil && r.accept("case") {
		r.pass(":")
		s.clauses = append(s.clauses, clause{word: "case", body: r.block()})
	}
	r.acceptKind(tokDedent)
	return s
}

// simpleLine parses simple statements up to the end of the line.
func (r *reader) simpleLine() []*stmt {
	var all []*stmt
	for {
		line := r.tok.line
		s := r.simple()
		s.line = line
		if r.err == nil && r.tok.kind != tokNewline && r.tok.kind != tokEnd && !r.is(";") {
			r.fail(errSyntax)
		}
		if r.err != nil {
			return append(all, r.skip(line))
		}
		all = append(all, s)
		if !r.accept(";") || r.tok.kind == tokNewline {
			break
		}
	}
	r.acceptKind(tokNewline)
	return all
}

func (r *reader) simple() *stmt {
	line := r.tok.line
	if r.tok.kind == tokName {
		switch word := r.tok.text; word {
		case "import":
			return r.importStatement()
		case "from":
			return r.fromStatement()
		case "return", "raise":
			return r.result(word)
		case "global", "nonlocal":
			return r.globalStatement()
		case "pass":
			r.advance()
			return &stmt{kind: sJump}
		case "break", "continue":
			r.advance()
			return &stmt{kind: sJump, name: word}
		case "assert", "del":
			r.advance()
			return &stmt{kind: sExpr, value: r.expressions()}
		}
	}
	first := r.expressions()
	if first.kind == nName && first.name == "type" && r.tok.kind == tokName && !isKeyword(r.tok.text) { // type X[T] = …
		first = r.node(nName, line, r.name())
		r.typeParameters()
	}
	return r.assignment(first)
}

// assignment parses the rest of a statement that starts with an expression.
func (r *reader) assignment(first *node) *stmt {
	op := r.tok.text
	if !strings.HasSuffix(op, "=") && !r.is(":") { // as most calls
		return &stmt{kind: sExpr, value: first}
	}
	s := &stmt{kind: sAssign, targets: []*node{first}}
	switch {
	case r.accept(":"):
		s.note = r.expression()
		if !r.accept("=") {
			s.kind = sJump
			return s
		}
		s.value = r.expressions()
	case r.is("="):
		for r.err == nil && r.accept("=") {
			s.value = r.expressions()
			if r.is("=") {
				s.targets = append(s.targets, s.value)
			}
		}
	case r.tok.kind == tokOp && len(op) >= 2 && strings.HasSuffix(op, "=") && precedence(r.tok) < 0 && op != ":=":
		r.advance()
		s.kind, s.name, s.value = sAugment, strings.TrimSuffix(op, "="), r.expressions()
	default:
		return &stmt{kind: sExpr, value: first}
	}
	return s
}

func (r *reader) result(word string) *stmt {
	s := &stmt{kind: sReturn}
	if word == "raise" {
		s.kind = sRaise
	}
	r.advance()
	if !r.endsList() {
		s.value = r.expressions()
	}
	if word == "raise" && r.accept("from") {
		r.expressions()
	}
	return s
}

func (r *reader) globalStatement() *stmt {
	s := &stmt{kind: sGlobal, name: r.tok.text}
	r.advance()
	for r.tok.kind == tokName {
		s.names = append(s.names, r.name())
		if !r.accept(",") {
			break
		}
	}
	return s
}

func (r *reader) importStatement() *stmt {
	s := &stmt{kind: sImport}
	r.advance()
	for r.err == nil {
		path := r.dotted()
		first, _, _ := strings.Cut(path, ".")
		as := imported{first, first}
		if r.accept("as") {
			as = imported{r.name(), path}
		}
		s.imports = append(s.imports, as)
		if !r.accept(",") {
			break
		}
	}
	return s
}

func (r *reader) fromStatement() *stmt {
	s := &stmt{kind: sImport}
	r.advance()
	module := r.dotted()
	r.expect("import")
	if r.accept("*") {
		s.imports = []imported{{"*", module}}
		return s
	}
	bracket := r.accept("(")
	for r.err == nil && r.tok.kind == tokName {
		as := imported{r.tok.text, module + "." + r.tok.text}
		r.advance()
		if r.accept("as") {
			as.name = r.name()
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
