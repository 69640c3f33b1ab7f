package python

import (
	"maps"
	"strings"
)

// module parses the whole source. The error is the lexer's.
func (r *reader) module() ([]*stmt, error) {
	var body []*stmt
	for r.tok.kind != tokEnd {
		if r.tok.kind == tokIndent || r.tok.kind == tokDedent || r.tok.kind == tokNewline {
			r.advance()
			continue
		}
		body = append(body, r.statement()...)
	}
	return body, r.lex.err
}

// block parses what follows a header: an indented block, or statements on the
// same line.
func (r *reader) block() []*stmt {
	r.expect(":")
	if r.err != nil {
		return nil
	}
	if r.tok.kind != tokNewline {
		return r.simpleLine()
	}
	r.advance()
	if r.tok.kind != tokIndent {
		r.fail(errSyntax)
		return nil
	}
	r.advance()
	var body []*stmt
	for r.tok.kind != tokDedent && r.tok.kind != tokEnd {
		if r.tok.kind == tokIndent || r.tok.kind == tokNewline {
			r.advance()
			continue
		}
		body = append(body, r.statement()...)
	}
	if r.tok.kind == tokDedent {
		r.advance()
	}
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
	for r.tok.kind != tokNewline && r.tok.kind != tokEnd {
		if r.tok.kind == tokIndent || r.tok.kind == tokDedent {
			break
		}
		r.advance()
	}
	if r.tok.kind == tokNewline {
		r.advance()
	}
	s := &stmt{kind: sOpaque, line: line}
	if r.tok.kind == tokIndent {
		for open := 0; r.tok.kind != tokEnd; {
			if r.tok.kind == tokIndent {
				open++
			}
			if r.tok.kind == tokDedent {
				open--
			}
			r.advance()
			if open == 0 {
				break
			}
		}
	}
	if r.mentions {
		s.name = "mentions"
	}
	return s
}

// compound parses a statement with a block, or returns nil.
func (r *reader) compound() *stmt {
	if r.tok.kind == tokOp && r.is("@") {
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
	case "if":
		return r.ifStatement()
	case "while":
		r.advance()
		s := &stmt{kind: sMaybe, value: r.expression()}
		s.handlers = [][]*stmt{r.block(), r.elseBlock()}
		return s
	case "for":
		return r.forStatement()
	case "try":
		return r.tryStatement()
	case "with":
		return r.withStatement()
	case "match":
		return r.matchStatement()
	}
	return nil
}

func (r *reader) decorated() *stmt {
	var decorators []*node
	for r.err == nil && r.tok.kind == tokOp && r.accept("@") {
		decorators = append(decorators, r.expression())
		if r.tok.kind != tokNewline {
			r.fail(errSyntax)
		}
		r.advance()
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
	fn := &function{line: r.tok.line, decorators: decorators, mentions: map[string]bool{}}
	outer := r.inside
	r.functions, r.inside = append(r.functions, fn), nil
	r.advance()
	fn.name = r.tok.text
	if r.tok.kind != tokName {
		r.fail(errSyntax)
	}
	r.inside = fn
	r.advance()
	r.typeParameters()
	r.expect("(")
	fn.params = r.parameters(")", true)
	r.expect(")")
	if r.accept("->") {
		r.expressions()
	}
	if r.enter() {
		fn.body = r.block()
	}
	r.leave()
	if r.inside = outer; outer != nil {
		maps.Copy(outer.mentions, fn.mentions)
	}
	fn.doc = docstring(fn.body)
	return &stmt{kind: sDef, function: fn}
}

// typeParameters passes those of "def f[T](x: T)".
func (r *reader) typeParameters() {
	if r.tok.kind != tokOp || !r.is("[") {
		return
	}
	for open := 0; r.tok.kind != tokNewline && r.tok.kind != tokEnd; {
		switch {
		case r.tok.kind != tokOp:
		case strings.Contains("([{", r.tok.text):
			open++
		case strings.Contains(")]}", r.tok.text):
			open--
		}
		r.advance()
		if open == 0 {
			return
		}
	}
}

// parameters parses those of a function, or of a lambda, up to its end.
func (r *reader) parameters(end string, annotated bool) []param {
	var params []param
	keyword := false
	for r.err == nil && !r.is(end) {
		p := param{keyword: keyword}
		switch {
		case r.accept("/"):
		case r.accept("**"):
			p.star = "**"
		case r.accept("*"):
			p.star, keyword = "*", true
		}
		if r.tok.kind == tokName {
			p.name = r.tok.text
			r.advance()
			if annotated && r.accept(":") {
				p.annotation = r.starExpression()
			}
			if r.accept("=") {
				p.fallback = r.expression()
			}
			params = append(params, p)
		}
		if !r.accept(",") {
			break
		}
	}
	return params
}

func (r *reader) class() *stmt {
	c := &class{}
	r.advance()
	c.name = r.tok.text
	r.advance()
	r.typeParameters()
	if r.tok.kind == tokOp && r.accept("(") {
		call := r.call(&node{kind: nOpaque}, r.tok.line)
		c.bases = call.kids[min(1, len(call.kids)):]
	}
	if r.enter() {
		c.body = r.block()
	}
	r.leave()
	return &stmt{kind: sClass, class: c}
}

func (r *reader) ifStatement() *stmt {
	defer r.leave()
	line := r.tok.line
	r.advance()
	s := &stmt{kind: sIf, line: line, value: r.expression()}
	if !r.enter() {
		return s
	}
	s.body = r.block()
	if r.err == nil && r.is("elif") {
		s.other = []*stmt{r.ifStatement()}
		return s
	}
	s.other = r.elseBlock()
	return s
}

func (r *reader) elseBlock() []*stmt {
	if r.err != nil || !r.accept("else") {
		return nil
	}
	return r.block()
}

func (r *reader) forStatement() *stmt {
	r.advance()
	s := &stmt{kind: sFor, targets: []*node{r.targetList()}}
	r.expect("in")
	s.value = r.expressions()
	s.body, s.other = r.block(), r.elseBlock()
	return s
}

func (r *reader) tryStatement() *stmt {
	r.advance()
	s := &stmt{kind: sTry, body: r.block()}
	for r.err == nil && r.accept("except") {
		r.accept("*")
		if !r.is(":") {
			r.expressions()
		}
		if r.accept("as") {
			r.advance()
		}
		s.handlers = append(s.handlers, r.block())
	}
	s.other = r.elseBlock()
	if r.err == nil && r.accept("finally") {
		s.final = r.block()
	}
	return s
}

func (r *reader) withStatement() *stmt {
	s := &stmt{kind: sWith}
	r.advance()
	if r.tok.kind == tokOp && r.is("(") && r.parenthesizedItems(s) {
		s.body = r.block()
		return s
	}
	for r.err == nil {
		r.withItem(s, r.expression())
		if !r.accept(",") {
			break
		}
	}
	s.body = r.block()
	return s
}

func (r *reader) withItem(s *stmt, item *node) {
	var target *node
	if r.accept("as") {
		target = r.unary()
	}
	s.items, s.targets = append(s.items, item), append(s.targets, target)
}

// parenthesizedItems parses "(a as b, c as d)". It reports false where the
// bracket was one of an expression, which is then the first item.
func (r *reader) parenthesizedItems(s *stmt) bool {
	r.advance()
	for r.err == nil && !r.is(")") {
		r.withItem(s, r.expression())
		if !r.accept(",") {
			break
		}
	}
	r.expect(")")
	if r.is(":") || r.err != nil {
		return true
	}
	// It was "(a).b() as c".
	n := r.opaque()
	if len(s.items) == 1 && s.targets[0] == nil {
		n = s.items[0]
	}
	n = r.trailers(n)
	s.items, s.targets = nil, nil
	r.withItem(s, n)
	for r.err == nil && r.accept(",") {
		r.withItem(s, r.expression())
	}
	return true
}

// matchStatement parses one, or a simple statement that starts with the name
// match.
func (r *reader) matchStatement() *stmt {
	line := r.tok.line
	r.advance()
	if r.tok.kind == tokNewline || r.tok.kind == tokOp && !strings.Contains("([{-*", r.tok.text) {
		first := r.trailers(&node{kind: nName, line: line, name: "match"})
		if r.tok.kind == tokOp && r.accept(",") { // match, rest = …
			first = &node{kind: nTuple, line: line, kids: []*node{first, r.targetList()}}
		}
		return r.finishSimple(first, line)
	}
	value := r.expressions()
	if !r.is(":") {
		return r.finishSimple(&node{kind: nOpaque, line: line, kids: []*node{value}}, line)
	}
	s := &stmt{kind: sMaybe, value: value}
	r.advance()
	if r.tok.kind != tokNewline {
		r.fail(errSyntax)
		return s
	}
	r.advance()
	if r.tok.kind != tokIndent {
		r.fail(errSyntax)
		return s
	}
	r.advance()
	for r.err == nil && r.accept("case") {
		r.casePattern()
		s.handlers = append(s.handlers, r.block())
	}
	if r.tok.kind == tokDedent {
		r.advance()
	}
	return s
}

// casePattern passes a pattern, up to the colon that ends it.
func (r *reader) casePattern() {
	for open := 0; r.err == nil; r.advance() {
		switch {
		case r.tok.kind == tokNewline || r.tok.kind == tokEnd:
			r.fail(errSyntax)
			return
		case r.tok.kind != tokOp:
		case strings.Contains("([{", r.tok.text):
			open++
		case strings.Contains(")]}", r.tok.text):
			open--
		case r.tok.text == ":" && open == 0:
			return
		}
	}
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
	if r.tok.kind == tokNewline {
		r.advance()
	}
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
	if first != nil && first.kind == nName && first.name == "type" && r.tok.kind == tokName && !isKeyword(r.tok.text) { // type X[T] = …
		first = r.node(nName, line, r.tok.text)
		r.advance()
		r.typeParameters()
	}
	return r.finishSimple(first, line)
}

// finishSimple parses what follows the first expression of a statement.
func (r *reader) finishSimple(first *node, line int) *stmt {
	if r.tok.kind != tokOp {
		return &stmt{kind: sExpr, line: line, value: first}
	}
	switch op := r.tok.text; {
	case op == ":":
		r.advance()
		note := r.expression()
		if !r.accept("=") {
			return &stmt{kind: sJump, line: line, targets: []*node{first}, note: note}
		}
		return &stmt{kind: sAssign, line: line, targets: []*node{first}, note: note, value: r.expressions()}
	case op == "=":
		return r.assignment(first, line)
	case len(op) >= 2 && strings.HasSuffix(op, "=") && precedence(r.tok) < 0 && op != ":=":
		r.advance()
		return &stmt{kind: sAugment, line: line, name: strings.TrimSuffix(op, "="), targets: []*node{first}, value: r.expressions()}
	case op == ",":
		return r.assertMessage(first, line)
	}
	return &stmt{kind: sExpr, line: line, value: first}
}

func (r *reader) assertMessage(first *node, line int) *stmt {
	r.advance()
	r.expressions()
	return &stmt{kind: sExpr, line: line, value: first}
}

func (r *reader) assignment(first *node, line int) *stmt {
	s := &stmt{kind: sAssign, line: line, targets: []*node{first}}
	for r.err == nil && r.accept("=") {
		s.value = r.expressions()
		if r.is("=") {
			s.targets = append(s.targets, s.value)
		}
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
		s.names = append(s.names, r.tok.text)
		r.advance()
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
			as = imported{r.tok.text, path}
			r.advance()
		}
		s.imports = append(s.imports, as)
		if !r.accept(",") {
			break
		}
	}
	return s
}

func (r *reader) dotted() string {
	var path strings.Builder
	for r.tok.kind == tokName && !isKeyword(r.tok.text) || r.tok.kind == tokOp && (r.is(".") || r.is("...")) {
		path.WriteString(r.tok.text)
		r.advance()
	}
	if path.Len() == 0 {
		r.fail(errSyntax)
	}
	return path.String()
}

func (r *reader) fromStatement() *stmt {
	s := &stmt{kind: sImport}
	r.advance()
	module := r.dotted()
	r.expect("import")
	if r.tok.kind == tokOp && r.accept("*") {
		s.imports = []imported{{"*", module}}
		return s
	}
	bracket := r.tok.kind == tokOp && r.accept("(")
	for r.err == nil && r.tok.kind == tokName {
		as := imported{r.tok.text, module + "." + r.tok.text}
		r.advance()
		if r.accept("as") {
			as.name = r.tok.text
			r.advance()
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
	margin := -1
	for _, line := range lines[1:] {
		if trimmed := strings.TrimLeft(line, " "); trimmed != "" && (margin < 0 || len(line)-len(trimmed) < margin) {
			margin = len(line) - len(trimmed)
		}
	}
	lines[0] = strings.TrimLeft(lines[0], " ")
	for i := range lines[1:] {
		lines[i+1] = lines[i+1][min(max(margin, 0), len(lines[i+1])):]
	}
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n")
}
