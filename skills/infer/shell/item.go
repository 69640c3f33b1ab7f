package shell

import (
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// labels are the patterns of one item of a case.
type labels struct {
	kind  labelKind
	flags []string // such as "--name" and "-n"; of "--name=*" without "=*"
	any   bool     // it matches whatever is left
}

type labelKind int

const (
	isFlag       labelKind = iota
	isJoined               // "--name=*"
	isTerminator           // "--"
	isPattern              // "*", "-*" and the like
)

// optionText is what an option looks like.
var optionText = regexp.MustCompile(`^--?[A-Za-z0-9][A-Za-z0-9_-]*$`)

// labelsOf reads the patterns of an item, which are all of one kind.
func labelsOf(item *syntax.CaseItem) (labels, bool) {
	if item.Op != syntax.Break {
		return labels{}, false
	}
	var l labels
	for i, word := range item.Patterns {
		text, glob, ok := literal(word)
		if !ok {
			return labels{}, false
		}
		kind, name := isFlag, text
		before, joined := strings.CutSuffix(text, "=*")
		switch {
		case !glob && text == "--":
			kind = isTerminator
		case glob && joined && optionText.MatchString(before):
			kind, name = isJoined, before
		case glob && slices.Contains([]string{"*", "-*", "--*", "-?*", "--?*", "-?", "--*=*", "--*=", "-*=*"}, text):
			kind = isPattern
			l.any = l.any || text == "*"
		case text == "-?" && !glob:
		case glob || !optionText.MatchString(text):
			return labels{}, false
		}
		if i > 0 && kind != l.kind {
			return labels{}, false
		}
		l.kind = kind
		l.flags = append(l.flags, name)
	}
	return l, true
}

// pattern reads an item for what is none of the options before it.
func (r *reader) pattern(l labels, e *effect) bool {
	set := slices.IndexFunc(e.sets, func(s setting) bool { return s.from == here })
	switch {
	case e.touched > 0:
		return false
	case !l.any: // it refuses or ignores what it does not know
		return set < 0 && (e.exits || e.mayExit || !e.breaks && e.shifts == 1)
	case e.breaks:
		return e.shifts == 0 && len(e.sets) == 0
	case set < 0:
		return e.exits || e.mayExit || e.shifts == 1
	case e.exits || e.shifts != 1 || len(e.sets) != 1:
		return false
	}
	s := e.sets[set]
	if s.stripped || !s.plain {
		return false
	}
	p := positional{name: strings.ToLower(s.variable), rest: s.appended, index: 1}
	if !p.rest {
		p.fallback = r.variables[s.variable]
		r.fromPlace[s.variable] = p.index
	}
	r.line.positionals = append(r.line.positionals, p)
	return true
}

// option reads an item of options of one meaning.
func (r *reader) option(l labels, e *effect) bool {
	o := option{flag: longest(l.flags), name: nameOf(longest(l.flags))}
	value := slices.IndexFunc(e.sets, func(s setting) bool { return s.from == behind })
	joins := slices.IndexFunc(e.sets, func(s setting) bool { return s.from == here })
	switch {
	case l.kind == isJoined:
		if joins < 0 || e.touched > 0 || e.shifts != 1 || e.exits || e.breaks || !e.sets[joins].stripped {
			return false
		}
		o.kind, value = joined, joins
	case e.touched == 0 && r.helps(l.flags, e):
		return true
	case e.touched > 0:
		if e.shifts != 2 || e.exits || e.breaks {
			return false
		}
		o.kind = next
	case e.breaks || e.shifts != 1 && !e.exits:
		return false
	}
	if len(e.sets) > 0 && o.kind == flag {
		o.variable = e.sets[0].variable
	}
	if value >= 0 {
		o.variable, o.repeated = e.sets[value].variable, e.sets[value].appended
	}
	return r.addOption(o, l.flags)
}

// helps reports whether an option only tells a person something.
func (r *reader) helps(flags []string, e *effect) bool {
	return slices.ContainsFunc(flags, func(name string) bool {
		return isHelp(name) || (name == "-h" || name == "-V") && (e.exits || e.mayExit)
	})
}

func longest(flags []string) string {
	best := flags[0]
	for _, name := range flags {
		if len(name) > len(best) {
			best = name
		}
	}
	return best
}

// nameOf is the name of an option's property: "dry_run" of "--dry-run".
func nameOf(name string) string {
	return strings.ReplaceAll(strings.TrimLeft(name, "-"), "-", "_")
}

// addOption adds an option; the forms "--name VALUE" and "--name=VALUE" of one
// are one. Of an item that is there twice, the script sees the first only.
func (r *reader) addOption(o option, flags []string) bool {
	if len(o.name) == 1 && len(o.variable) > 1 {
		o.name = strings.ToLower(o.variable)
	}
	i := slices.IndexFunc(r.line.options, func(known option) bool { return known.flag == o.flag })
	switch {
	case i < 0:
		r.line.options = append(r.line.options, o)
		return len(r.line.options) <= maxOptions
	case r.line.options[i].kind == o.kind || r.line.options[i].kind == flag || o.kind == flag:
		return false
	case o.kind == next:
		r.line.options[i] = o
	}
	return true
}
