package python

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/infer/cli"
	"github.com/skillsmcp/skills-mcp/skills/infer/python/syntax"
	"github.com/skillsmcp/skills-mcp/skills/infer/usagetext"
)

// wordsOf reads the command line of a script that uses no library for it: the words of
// sys.argv by their places, and the options that it looks for with "in". A script that
// has nothing to do with its arguments has a command line without any. It returns nil,
// and tells why, where the source does not determine them.
func (m *Module) wordsOf(name string, told *cli.Notes) *cli.Command {
	top := newWordParser(name)
	top.description = syntax.Docstring(m.body)
	why := m.library()
	if why == nil && m.broken > 0 {
		why = noteOn(m.broken, "a statement could not be read")
	}
	command := &cli.Command{Description: top.description}
	if why == nil && m.mentions("argv") {
		m.findRelevant(func(name string) bool { return name == "argv" })
		command, why = m.declareWords(top)
	}
	if why != nil {
		told.Add(why.Line, "%s", why.Text)
		return nil
	}
	return command
}

func newWordParser(name string) *parser {
	return &parser{words: true, prog: name, defaults: map[string]value{}, flags: map[string]*action{}}
}

// follow executes the module. First is the text of the first argument; "" is any.
func (m *Module) follow(first string) *wordReader {
	e := newEvaluator("", m, new(cli.Notes))
	w := newWordReader(first)
	e.words = w
	e.runModule(m.body)
	w.path = w.path.join(w.ends)
	for _, def := range m.defined {
		if fn := m.functions.get(def); !fn.called && code(fn.Tokens).hasName(m.functions.declares) && m.calls(fn.Name) {
			w.fail(fn.Line, "the function "+fn.Name+" reads the arguments, and is not followed")
		}
	}
	if e.steps <= 0 {
		w.fail(0, "the script is too long to follow")
	}
	return w
}

// calls reports whether the name of a function occurs outside of its definition.
func (m *Module) calls(function string) bool {
	for at, tok := range m.tokens {
		if tok.Kind == syntax.NameToken && tok.Text == function && m.tokens.text(at-1) != "def" {
			return true
		}
	}
	return false
}

// declareWords returns the arguments that the script reads, which may depend on the
// first one: a command.
func (m *Module) declareWords(top *parser) (*cli.Command, *note) {
	w := m.follow("")
	usage, used := usagetext.Parse(m.usage()...), m.fileUses(false)
	if len(w.places) == 0 && len(w.options) == 0 && w.counted > 0 {
		return nil, noteOn(w.counted, "it counts its arguments")
	}
	why := w.declare(top, usage)
	d := &cli.Dispatch{First: &cli.Argument{}, Texts: w.compared, Usage: usage.Usage()}
	if why == nil {
		d.Whole = top.command(used, new(cli.Notes))
	}
	if first := w.places[1]; first != nil {
		d.First = top.argument(w.positional(1, usage, map[string]bool{}), false)
		d.First.Description = usage.Help(d.First.Name)
	}
	d.Read = func(text string) (*cli.Command, bool) {
		one, child := m.follow(text), newWordParser(top.prog)
		one.withoutFirst()
		if one.path.ended || one.declare(child, usage.Command(text)) != nil {
			return nil, one.path.ended
		}
		behind := child.command(used, new(cli.Notes))
		behind.Description = usage.Help(text)
		return behind, false
	}
	command := d.Command()
	if command == nil {
		return nil, why
	}
	command.Description = top.description
	return command, nil
}

// withoutFirst removes the command from the arguments behind it.
func (w *wordReader) withoutFirst() {
	places, texts := map[word]*wordPlace{}, map[word][]string{}
	for at, place := range w.places {
		if at > 1 {
			places[at-1] = place
		}
	}
	for at, known := range w.path.texts {
		if at > 1 {
			texts[at-1] = known
		}
	}
	w.places, w.path.texts = places, texts
	w.path.least--
}

// declare declares the arguments that a script was seen to take. The note says why they
// are not known.
func (w *wordReader) declare(to *parser, usage usagetext.Text) *note {
	if w.path.ended {
		w.fail(0, "no number of arguments is right")
	}
	loose := len(w.options) > 0
	last := word(0)
	for at := range w.places {
		last = max(last, at)
	}
	for at, place := range w.places {
		if _, closed := w.path.texts[at]; !closed && len(place.flags) > 0 {
			w.fail(place.line, "the option "+place.flags[0]+" has the place of an argument")
		}
		if place.list && at < last {
			w.fail(place.line, "it reads arguments by their places, and all of them")
		}
		if place.list && loose {
			w.fail(place.line, "it does not tell its options from its arguments")
		}
	}
	if loose && w.path.most < unlimited {
		w.fail(w.options[0].line, "it counts its options among its arguments")
	}
	if w.problem != nil {
		return w.problem
	}
	names := map[string]bool{}
	for at := word(1); at <= last; at++ {
		a := w.positional(at, usage, names)
		to.add(a, a.line)
	}
	for _, o := range w.options {
		if !slices.Contains(o.flags, "--help") {
			to.add(w.option(o, usage, names), o.line)
		}
	}
	return to.broken
}

// positional returns the argument at a place.
func (w *wordReader) positional(at word, usage usagetext.Text, names map[string]bool) *action {
	place := cmp.Or(w.places[at], &wordPlace{})
	a := &action{line: place.line, kind: "store", typ: place.typ, file: place.file, required: w.path.least >= int(at)}
	texts := w.path.texts[at]
	closed := ""
	if len(texts) > 1 {
		closed = "command"
	}
	index := int(at) - 1
	a.dest = unique(cmp.Or(w.vectorName(at), place.names.variable, usage.Name(index), place.names.weak, closed, fmt.Sprintf("arg%d", at)), names)
	if len(texts) > 0 && len(texts) <= maxArguments && place.typ == typeString {
		a.choices = textSequence(texts)
	}
	switch {
	case place.list && !place.joined:
		a.nargs = map[bool]string{true: "+", false: "*"}[a.required]
	case !a.required:
		a.nargs = "?"
	}
	if !place.several && !place.list {
		a.fallback = place.fallback
	}
	if _, isText := place.fallback.(string); place.fallback != nil && !isText { // which it has for any other text
		a.typ = max(a.typ, place.tried)
	}
	a.help = strings.ReplaceAll(usage.Describe(index, a.dest, "", place.list), "%", "%%")
	if place.depends(w.path) { // by another command it may be anything
		a.typ, a.choices, a.fallback, a.file = typeString, nil, nil, noFile
	}
	return a
}

// vectorName returns the name of a variable with all words from a list's place on.
func (w *wordReader) vectorName(at word) string {
	if place := w.places[at]; place != nil && place.list {
		return w.vectors[argvector(at)].variable
	}
	return ""
}

func textSequence(texts []string) *sequence {
	seq := &sequence{open: '['}
	for _, text := range texts {
		seq.items = append(seq.items, text)
	}
	return seq
}

// option returns the argument of an option.
func (w *wordReader) option(o *wordOption, usage usagetext.Text, names map[string]bool) *action {
	a := &action{line: o.line, flags: o.flags, kind: "store_true", fallback: false}
	name := strings.TrimLeft(a.longest(), "-")
	if len(name) == 1 {
		name = cmp.Or(o.names.variable, o.names.weak, name)
	}
	a.dest = unique(strings.ReplaceAll(name, "-", "_"), names)
	for _, flag := range o.flags {
		a.help = cmp.Or(a.help, usage.Help(flag))
	}
	a.help = strings.ReplaceAll(a.help, "%", "%%")
	return a
}

// unique returns a name that no other argument has.
func unique(name string, names map[string]bool) string {
	free := name
	for n := 2; names[free]; n++ {
		free = fmt.Sprintf("%s_%d", name, n)
	}
	names[free] = true
	return free
}
