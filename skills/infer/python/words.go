package python

import (
	"fmt"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/infer/usagetext"
)

// wordsOf reads the command line of a script that uses no library for it: the words of
// sys.argv by their places and the options that it looks for with "in". A script that has nothing
// to do with its arguments has a command line without any. It returns nil, and tells
// why, where the source does not determine them.
func (m *Module) wordsOf(name string, told *notes) *CommandLine {
	reads := m.readers()
	top := newWordParser(name)
	if note := m.library(); note != nil {
		told.add(note.Line, "%s", note.Text)
		return nil
	}
	if top.description = docstring(m.body); m.broken > 0 {
		told.add(m.broken, "a statement could not be read")
		return nil
	}
	if m.mentions("argv") {
		l := m.follow(reads, nil)
		usage := usagetext.Parse(m.usage()...)
		note := m.commands(top, l, reads, usage)
		if note != nil {
			told.add(note.Line, "%s", note.Text)
			return nil
		}
	}
	line := newCommandLine(top, told)
	if line != nil {
		line.stdin = m.readsInput()
	}
	return line
}

func newWordParser(name string) *parser {
	return &parser{dialect: wordsDialect, prog: name, defaults: map[string]value{}, flags: map[string]*action{}, words: &wordLayout{}}
}

// commands fills a parser with the arguments, which may depend on the first one.
func (m *Module) commands(top *parser, l *wordLine, reads map[*function]bool, usage usagetext.Text) *Note {
	first := element{allWords, 1}
	texts := l.final.domains[first]
	if len(l.record.places) == 0 && len(l.record.options) == 0 && l.record.counted > 0 {
		return &Note{l.record.counted, "it counts its arguments"}
	}
	several := len(l.record.places) > 1 || len(l.record.options) > 0 || l.record.dispatches
	if l.final.ended || len(texts) < 2 || len(texts) > maxCommands/4 || !several || slices.ContainsFunc(texts, isFlag) {
		if l.record.dispatches && l.record.problem == nil {
			return &Note{0, "which function it calls is computed"}
		}
		return l.parser(top, usage, m.comment)
	}
	place := l.record.places[first]
	if place == nil {
		return l.parser(top, usage, m.comment)
	}
	top.subs = &subparsers{parser: top, required: l.final.least[allWords] > 0, dest: nameOr(place.names, usage.Name(0), "command")}
	same := ""
	for _, text := range texts {
		child := newWordParser(top.prog)
		one := m.follow(reads, map[element]string{first: text})
		if note := one.withoutFirst(); note != nil {
			return note
		}
		if note := one.parser(child, usagetext.Text{}, m.comment); note != nil {
			return note
		}
		top.subs.commands = append(top.subs.commands, &command{name: text, parser: child})
		if shape := shapeOf(child); same == "" || same == shape {
			same = shape
		} else {
			same = "-"
		}
	}
	if same == "-" {
		return top.broken
	}
	top.subs = nil
	l.record.problem, l.same = nil, true
	return l.parser(top, usage, m.comment)
}

// nameOr returns the best of some names.
func nameOr(names wordNames, others ...string) string {
	for _, name := range append([]string{names.variable}, others...) {
		if name != "" {
			return name
		}
	}
	return names.weak
}

// shapeOf returns a text that two parsers share if they have the same arguments.
func shapeOf(p *parser) string {
	var b strings.Builder
	for _, a := range p.actions {
		b.WriteString(strings.Join([]string{a.dest, a.kind, a.nargs, strings.Join(a.flags, ",")}, " "))
		fmt.Fprintln(&b, a.typ, a.required, a.file, a.fallback, choiceTexts(a))
	}
	return b.String()
}

// choiceTexts returns the texts that an argument may be; nil is any.
func choiceTexts(a *action) []string {
	items, _ := itemsOf(a.choices)
	return stringsOf(items)
}

// withoutFirst removes the command from the arguments behind it.
func (l *wordLine) withoutFirst() *Note {
	if l.record.problem != nil {
		return l.record.problem
	}
	places := map[element]*wordPlace{}
	for e, place := range l.record.places {
		if e.space != allWords {
			return &Note{place.line, "it reads options behind a command"}
		}
		if e.at > 1 {
			places[element{e.space, e.at - 1}] = place
		}
	}
	domains := map[element]domain{}
	for e, texts := range l.final.domains {
		if e.at > 1 {
			domains[element{e.space, e.at - 1}] = texts
		}
	}
	l.record.places, l.final.domains = places, domains
	l.final.least[allWords]--
	return nil
}

// follow executes the module's statements. Assumed are the texts of words.
func (m *Module) follow(reads map[*function]bool, assumed map[element]string) *wordLine {
	w := newWordWalk(len(m.source))
	w.reads, w.teller.reads, w.assumed = reads, reads, assumed
	p := newWordPath()
	p.vars["__name__"], p.vars["__file__"], p.vars["__doc__"] = "__main__", unknown{}, unknown{}
	for _, s := range m.body { // that a function before may call
		if s.kind == sDef {
			p.vars[s.function.name] = s.function
		}
	}
	for word := range assumed {
		p.limit(word.space, word.at, unlimited)
		w.place(word, 0)
	}
	w.run(m.body, p, &wordFrame{})
	for _, end := range w.ends {
		end.depth, end.vars = 0, end.globals
		p = p.join(end, w.merged)
	}
	for fn := range reads {
		if fn.direct && !w.visited[fn] && m.called(fn) {
			w.fail(fn.line, "the function "+fn.name+" reads the arguments, and is not followed")
		}
	}
	return &wordLine{record: w.wordRecord, final: p}
}

// called reports whether the name of a function occurs outside of its definition.
func (m *Module) called(fn *function) bool {
	uses := 0
	for at, tok := range m.tokens {
		if tok.kind == tokName && tok.text == fn.name && m.tokens.text(at-1) != "def" {
			uses++
		}
	}
	return uses > 0
}
