package syntax

import (
	"strings"
)

// A reader parses a source, statement by statement. A statement with an error becomes
// one that is opaque.
type reader struct {
	*tokenReader
	exprs     exprReader  // at the same token
	functions []*Function // all that are defined, without those in bodies that are parsed later
	broken    int         // the line of the first statement that is not Python's; 0 without one
	whole     bool        // no body is parsed later
}

func newReader(tokens []Token) *reader {
	t := newTokenReader(tokens)
	return &reader{tokenReader: t, exprs: exprReader{t}}
}

// statements parses up to a token of this kind, or the end.
func (r *reader) statements(until TokenKind) []*Stmt {
	var body []*Stmt
	for r.tok.Kind != until && r.tok.Kind != EndToken {
		switch r.tok.Kind {
		case indentToken: // that no statement expects
			r.advance()
			body = append(body, r.statements(dedentToken)...)
			r.acceptKind(dedentToken)
		case dedentToken, newlineToken:
			r.advance()
		default:
			body = append(body, r.statement()...)
		}
	}
	return body
}

// block parses the body after a header: an indented block, or statements on the
// same line.
func (r *reader) block() []*Stmt {
	r.expect(":")
	if r.err == nil && r.tok.Kind != newlineToken {
		return r.simpleLine()
	}
	r.indent()
	if r.err != nil {
		return nil
	}
	body := r.statements(dedentToken)
	r.acceptKind(dedentToken)
	return body
}

// laterBlock is block, but leaves an indented one to be parsed later.
func (r *reader) laterBlock() (body []*Stmt, unparsed []Token) {
	r.expect(":")
	if r.err == nil && r.tok.Kind != newlineToken {
		return r.simpleLine(), nil
	}
	r.indent()
	if r.err != nil {
		return nil, nil
	}
	unparsed = r.tokens[r.at:]
	for open := 1; open > 0 && r.tok.Kind != EndToken; r.advance() {
		switch r.tok.Kind {
		case indentToken:
			open++
		case dedentToken:
			open--
		}
	}
	return nil, unparsed
}

// indent reads the end of a line and the indentation of the next.
func (r *reader) indent() {
	r.expectKind(newlineToken)
	r.expectKind(indentToken)
}

// statement parses a compound statement, or a line of simple ones. It always
// reads at least one token.
func (r *reader) statement() []*Stmt {
	from := r.at
	s := r.compound()
	if s == nil {
		return r.simpleLine()
	}
	if r.err != nil {
		return []*Stmt{r.skip(from)}
	}
	s.Line = r.tokens[from].Line
	return []*Stmt{s}
}

// skip skips the rest of a statement with an error, and its block.
func (r *reader) skip(from int) *Stmt {
	s := &Stmt{Kind: OpaqueStmt, Line: r.tokens[from].Line}
	if r.broken == 0 && r.err == errSyntax {
		r.broken = s.Line
	}
	r.err = nil
	for r.tok.Kind != newlineToken && r.tok.Kind != EndToken && r.tok.Kind != indentToken && r.tok.Kind != dedentToken {
		r.advance()
	}
	r.acceptKind(newlineToken)
	for open := 0; r.tok.Kind == indentToken || open > 0; r.advance() {
		switch r.tok.Kind {
		case indentToken:
			open++
		case dedentToken:
			open--
		}
	}
	s.Tokens = r.tokens[from:r.at]
	return s
}

// compound parses a statement with a block, or returns nil.
func (r *reader) compound() *Stmt {
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

func (r *reader) decorated() *Stmt {
	var decorators []*Node
	for r.err == nil && r.accept("@") {
		decorators = append(decorators, r.exprs.expression(loosest))
		r.expectKind(newlineToken)
	}
	s := r.compound()
	switch {
	case s == nil || s.Function == nil && s.Class == nil:
		r.fail(errSyntax)
		return &Stmt{}
	case s.Function != nil:
		s.Function.Decorators = decorators
	}
	return s
}

func (r *reader) def() *Stmt {
	fn := &Function{Line: r.tok.Line}
	r.functions = append(r.functions, fn)
	r.advance()
	fn.Name = r.name()
	from := r.at
	r.typeParameters()
	r.expect("(")
	fn.Params = r.exprs.parameters(")", true)
	r.expect(")")
	if r.accept("->") {
		r.exprs.expressions(ternary)
	}
	if r.whole {
		fn.body = r.block()
	} else {
		fn.body, fn.Unparsed = r.laterBlock()
	}
	fn.Tokens = r.tokens[from:r.at]
	return &Stmt{Kind: DefStmt, Function: fn}
}

func (r *reader) class() *Stmt {
	c := &Class{}
	r.advance()
	c.Name = r.name()
	r.typeParameters()
	if r.accept("(") {
		c.Bases, _ = r.exprs.elements(")", Keyword)
	}
	c.Body = r.block()
	return &Stmt{Kind: ClassStmt, Class: c}
}

// clauses parses a compound statement other than match.
func (r *reader) clauses() *Stmt {
	s := &Stmt{Kind: CompoundStmt, Name: r.tok.Text}
	for first := true; r.err == nil && (first || r.is("elif") || r.is("else") || r.is("except") || r.is("finally")); first = false {
		c := Clause{Word: r.tok.Text}
		r.advance()
		switch c.Word {
		case "for":
			s.Targets = []*Node{r.exprs.expressions(bitOr)}
			r.expect("in")
			c.Value = r.exprs.expressions(loosest)
		case "if", "elif", "while":
			c.Value = r.exprs.expression(loosest)
		case "with":
			c.Value = r.exprs.expressions(loosest)
		case "except":
			r.accept("*")
			if !r.is(":") {
				c.Value = r.exprs.expressions(loosest)
			}
		}
		c.Body = r.block()
		s.Clauses = append(s.Clauses, c)
	}
	return s
}

func (r *reader) matchStatement() *Stmt {
	r.advance()
	s := &Stmt{Kind: CompoundStmt, Name: "match", Value: r.exprs.expressions(loosest)}
	r.expect(":")
	r.indent()
	for r.err == nil && r.accept("case") {
		r.skipTo(":")
		s.Clauses = append(s.Clauses, Clause{Word: "case", Body: r.block()})
	}
	r.acceptKind(dedentToken)
	return s
}

// simpleLine parses simple statements up to the end of the line.
func (r *reader) simpleLine() []*Stmt {
	var all []*Stmt
	for {
		from := r.at
		s := r.simple()
		s.Line = r.tokens[from].Line
		if r.tok.Kind != newlineToken && !r.is(";") {
			r.fail(errSyntax)
		}
		if r.err != nil {
			return append(all, r.skip(from))
		}
		all = append(all, s)
		if !r.accept(";") || r.tok.Kind == newlineToken {
			r.acceptKind(newlineToken)
			return all
		}
	}
}

func (r *reader) simple() *Stmt {
	switch word := r.tok.Text; {
	case r.is("import"), r.is("from"):
		return r.importStatement()
	case r.accept("return"):
		return &Stmt{Kind: ReturnStmt, Value: r.optional()}
	case r.accept("raise"):
		s := &Stmt{Kind: RaiseStmt, Value: r.optional()}
		if r.accept("from") {
			r.exprs.expression(loosest)
		}
		return s
	case r.accept("global"), r.accept("nonlocal"):
		s := &Stmt{Kind: GlobalStmt, Name: word}
		for len(s.Names) == 0 || r.accept(",") {
			s.Names = append(s.Names, r.name())
		}
		return s
	case r.accept("pass"), r.accept("break"), r.accept("continue"):
		return &Stmt{Kind: JumpStmt, Name: strings.TrimPrefix(word, "pass")}
	case r.accept("assert"), r.accept("del"):
		return &Stmt{Kind: ExprStmt, Value: r.exprs.expressions(loosest)}
	}
	first := r.exprs.expressions(loosest)
	if first.Name == "type" && r.tok.Kind == NameToken { // type X[T] = …
		first = name(first.Line, r.name())
		r.typeParameters()
	}
	return r.assignment(first)
}

// optional parses expressions that may be missing.
func (r *reader) optional() *Node {
	if r.endsList() {
		return nil
	}
	return r.exprs.expressions(loosest)
}

// assignment parses the rest of a statement that starts with an expression.
func (r *reader) assignment(first *Node) *Stmt {
	s := &Stmt{Kind: AssignStmt, Targets: []*Node{first}}
	switch op := r.tok.Text; {
	case r.is("="):
		for r.err == nil && r.accept("=") {
			s.Value = r.exprs.expressions(loosest)
			if r.is("=") {
				s.Targets = append(s.Targets, s.Value)
			}
		}
	case r.accept(":"):
		s.Note = r.exprs.expression(ternary)
		if !r.accept("=") {
			s.Kind = JumpStmt
			return s
		}
		s.Value = r.exprs.expressions(loosest)
	case r.tok.Kind == OpToken && strings.HasSuffix(op, "=") && levelOf(r.tok) < 0:
		r.advance()
		s.Kind, s.Name, s.Value = AugmentStmt, strings.TrimSuffix(op, "="), r.exprs.expressions(loosest)
	default:
		return &Stmt{Kind: ExprStmt, Value: first}
	}
	return s
}

// importStatement parses "import a.b as c" and "from a import b as c".
func (r *reader) importStatement() *Stmt {
	s := &Stmt{Kind: ImportStmt}
	module := ""
	if r.accept("from") {
		module = r.dotted() + "."
	}
	r.expect("import")
	if module != "" && r.accept("*") {
		s.Imports = []Imported{{"*", strings.TrimSuffix(module, ".")}}
		return s
	}
	bracket := module != "" && r.accept("(")
	for r.err == nil && !(bracket && r.is(")")) {
		path := r.dotted()
		name, _, _ := strings.Cut(path, ".")
		as := Imported{name, module + name}
		if r.accept("as") {
			as = Imported{r.name(), module + path}
		}
		s.Imports = append(s.Imports, as)
		if !r.accept(",") {
			break
		}
	}
	if bracket {
		r.expect(")")
	}
	return s
}

// Block returns the function's body. It is parsed at the first use: few functions have
// to do with the command line, and their bodies are most of a script.
func (f *Function) Block() []*Stmt {
	if f.Unparsed != nil {
		r := newReader(f.Unparsed)
		f.Unparsed = nil
		f.body = r.statements(dedentToken)
	}
	return f.body
}

// Doc returns the function's docstring.
func (f *Function) Doc() string { return Docstring(f.Block()) }

// Docstring returns the text that a body starts with, cleaned.
func Docstring(body []*Stmt) string {
	if len(body) == 0 || body[0].Kind != ExprStmt || body[0].Value.Kind != Const {
		return ""
	}
	text, _ := body[0].Value.Value.(string)
	return CleanDoc(text)
}

// CleanDoc takes the indentation off a docstring, as inspect.cleandoc does.
func CleanDoc(text string) string {
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
