package python

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/infer/usagetext"
)

// wordLine is the result of following a script.
type wordLine struct {
	record *wordRecord
	final  *wordPath
	space  space
	same   bool // all commands have the same arguments
}

// wordParser makes a parser of the arguments that a script was seen to take, which has
// none where it takes none. The note says why they are not known.
func (l *wordLine) parser(base *parser, usage usagetext.Text, comment func(line int) string) *Note {
	r := l.record
	if r.problem != nil {
		return r.problem
	}
	if l.final.ended {
		return &Note{0, "no number of arguments is right"}
	}
	if note := l.settle(base); note != nil {
		return note
	}
	places, note := l.positions()
	if note != nil {
		return note
	}
	names := map[string]bool{}
	for at, place := range places {
		base.add(l.positional(at, place, usage, comment, names), place.line)
	}
	for _, o := range r.options {
		if slices.Contains(o.flags, "--help") {
			continue
		}
		base.add(l.option(o, usage, comment, names), o.line)
	}
	return base.broken
}

// settle decides where options go, and which words they would be taken for.
func (l *wordLine) settle(base *parser) *Note {
	r := l.record
	rest := slices.ContainsFunc(slices.Collect(maps.Keys(r.places)), func(e element) bool { return e.space == restWords })
	whole := slices.ContainsFunc(slices.Collect(maps.Keys(r.places)), func(e element) bool { return e.space == allWords })
	if rest {
		l.space = restWords
	}
	if rest && whole && (len(r.options) > 0 || r.skipped) {
		return &Note{0, "it counts its options among its arguments, and does not"}
	}
	if note := l.fixedOptions(base); note != nil {
		return note
	}
	loose := slices.ContainsFunc(r.options, func(o *wordOption) bool { return !o.stripped }) && !r.skipped
	if loose && l.final.most[allWords] < unlimited {
		return &Note{r.options[0].line, "it counts its options among its arguments"}
	}
	if loose && slices.ContainsFunc(slices.Collect(maps.Values(r.places)), func(p *wordPlace) bool { return p.list }) {
		return &Note{r.options[0].line, "it does not tell its options from its arguments"}
	}
	base.words = &wordLayout{dashed: r.dashed, filled: loose}
	return nil
}

// fixedOptions makes options of those that the script looks for at one place.
func (l *wordLine) fixedOptions(base *parser) *Note {
	r := l.record
	for e, flags := range r.fixed {
		if _, closed := l.final.domains[e]; closed {
			continue
		}
		place := r.places[e]
		if place == nil {
			continue
		}
		flags := slices.DeleteFunc(strings.Fields(flags), func(flag string) bool {
			return slices.Contains([]string{"-h", "--help", "-help", "-V", "--version", "-?"}, flag)
		})
		last := !slices.ContainsFunc(slices.Collect(maps.Keys(r.places)), func(other element) bool { return other.at > e.at })
		switch {
		case len(flags) == 0:
		case !place.data && !last:
			return &Note{place.line, "the option " + flags[0] + " has the place of an argument"}
		case place.data || place.list || !last || l.final.least[e.space] != e.at-1:
			base.omit(place.line, nil, "the option %s has the place of an argument", flags[0])
		default:
			delete(r.places, e)
			r.option(place.line, flags...).stripped = true
		}
	}
	return nil
}

// positions returns the arguments by their places, without a gap.
func (l *wordLine) positions() ([]*wordPlace, *Note) {
	r := l.record
	var places []*wordPlace
	listed := false
	for _, e := range slices.SortedFunc(maps.Keys(r.places), func(a, b element) int { return a.at - b.at }) {
		place := r.places[e]
		if e.space != l.space {
			if len(r.options) > 0 {
				return nil, &Note{place.line, "it counts its options among its arguments, and does not"}
			}
		}
		if listed && !place.list {
			return nil, &Note{place.line, "it reads arguments by their places, and all of them"}
		}
		for len(places) < e.at-1 {
			places = append(places, &wordPlace{line: place.line})
		}
		if len(places) >= e.at {
			places[e.at-1] = place
		} else {
			places = append(places, place)
		}
		listed = listed || place.list
	}
	return places, nil
}

// positional returns the argument at an index.
func (l *wordLine) positional(at int, place *wordPlace, usage usagetext.Text, comment func(int) string, names map[string]bool) *action {
	e := element{l.space, at + 1}
	a := &action{line: place.line, kind: "store", typ: place.typ, file: place.file}
	a.required = max(l.final.least[l.space], 0) > at
	if place.list && l.final.least[l.space] <= at && l.space == restWords && len(l.record.options) == 0 {
		a.required = l.final.least[allWords] > at
	}
	if place.list {
		place.names.variable = cmp.Or(l.record.lists[e].variable, place.names.variable)
	}
	closed := ""
	if len(l.final.domains[e]) > 1 {
		closed = "command"
	}
	a.dest = unique(cmp.Or(place.names.variable, usage.Name(at), place.names.weak, closed, fmt.Sprintf("arg%d", at+1)), names)
	if texts := l.final.domains[e]; len(texts) > 0 && len(texts) <= maxArguments {
		seq := &sequence{open: '['}
		for _, text := range texts {
			seq.items = append(seq.items, text)
		}
		if a.choices = seq; place.typ != typeString {
			a.choices = nil
		}
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
	switch place.fallback.(type) { // which it has for any other text
	case int64, float64:
		a.typ = max(a.typ, place.tried)
	}
	help := cmp.Or(usage.Help(a.dest), usage.Help(usage.Name(at)), comment(place.line), usagetext.Place(at))
	if place.list && help == usagetext.Place(at) {
		help = usagetext.Rest(at)
	}
	a.help = strings.ReplaceAll(help, "%", "%%")
	if place.depends(l.final) && !l.same { // by another command it may be anything
		a.typ, a.choices, a.fallback, a.file = typeString, nil, nil, 0
	}
	return a
}

// option returns the argument of an option.
func (l *wordLine) option(o *wordOption, usage usagetext.Text, comment func(int) string, names map[string]bool) *action {
	a := &action{line: o.line, flags: o.flags, kind: "store_true", fallback: false}
	name := strings.TrimLeft(a.longest(), "-")
	if shared := func(other *wordOption) bool { return other != o && other.names.variable == o.names.variable }; len(name) == 1 && !slices.ContainsFunc(l.record.options, shared) {
		name = cmp.Or(o.names.variable, usage.Value(a.flags[0]), o.names.weak, name)
	}
	a.dest = unique(strings.ReplaceAll(name, "-", "_"), names)
	for _, flag := range o.flags {
		if a.help = cmp.Or(a.help, usage.Help(flag)); a.help != "" {
			break
		}
	}
	a.help = strings.ReplaceAll(cmp.Or(a.help, comment(o.line)), "%", "%%")
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
