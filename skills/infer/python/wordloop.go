package python

import (
	"slices"
	"strings"
)

// An optionLoop reads a loop over the words that compares them with options.
type optionLoop struct {
	record   *wordRecord
	refuses  func(body []*stmt) bool
	path     *wordPath
	variable string // that has the word
	list     string // the variable of the list, or "sys.argv"
	index    string // the variable of the index
	vector   vector
	types    []valueType // of others
	strict   bool        // any other word is refused
	others   []*node     // variables that the other words go to, in their order
	several  string      // a list of all of them
	named    bool
}

// comparesOptions reports whether statements compare a variable with options.
func comparesOptions(body []*stmt, variable string) bool {
	return slices.ContainsFunc(body, func(s *stmt) bool {
		return s.kind == sCompound && slices.ContainsFunc(s.clauses, func(c clause) bool {
			return len(labelsIn(c.value, func(n *node) bool { return dotted(n) == variable })) > 0
		})
	})
}

// A label is a text that a word is compared with, or its beginning.
type label struct {
	text   string
	prefix bool
}

// labelsIn returns the texts that begin with a dash and are compared with the word.
func labelsIn(n *node, isWord func(*node) bool) []label {
	var all []label
	n.any(func(n *node) bool {
		switch {
		case n.kind == nBinary && (n.name == "==" || n.name == "in") && isWord(n.kids[0]):
			for _, kid := range append([]*node{n.kids[1]}, n.kids[1].kids...) {
				if text, _ := kid.value.(string); kid.kind == nConst && isFlag(text) {
					all = append(all, label{text, false})
				}
			}
		case isCall(n) && len(n.kids) == 2 && n.kids[0].kind == nAttribute && n.kids[0].name == "startswith" && isWord(n.kids[0].kids[0]):
			for _, kid := range append([]*node{n.kids[1]}, n.kids[1].kids...) {
				if text, _ := kid.value.(string); kid.kind == nConst && isFlag(text) {
					all = append(all, label{text, true})
				}
			}
		}
		return false
	})
	return all
}

// counts reports whether a condition goes through the words: i < len(argv), or argv.
func (o *optionLoop) counts(n *node, e *wordEval) bool {
	if n.kind == nBool && n.name == "and" {
		return false
	}
	switch {
	case n.kind == nBinary && n.name == "<" && n.kids[0].kind == nName && isCall(n.kids[1]) && len(n.kids[1].kids) == 2 && dotted(n.kids[1].kids[0]) == "len":
		list := n.kids[1].kids[1]
		v, ok := e.eval(list, o.path).(vector)
		start, known := e.eval(n.kids[0], o.path).(int64)
		if !ok || !known || start < 0 || start > maxPlaces {
			return false
		}
		v.from += int(start)
		o.vector, o.list, o.index = v, dotted(list), n.kids[0].name
		return v.from > 0
	case n.kind == nName, isCall(n) && dotted(n.kids[0]) == "len" && len(n.kids) == 2:
		list := n
		if isCall(n) {
			list = n.kids[1]
		}
		v, ok := e.eval(list, o.path).(vector)
		o.vector, o.list = v, dotted(list)
		return ok && v.from > 0 && list.kind == nName
	}
	return false
}

// read reads the body: an assignment of the word, and one if with a clause for each
// option.
func (o *optionLoop) read(body []*stmt) {
	line := body[0].line
	for _, s := range body {
		switch {
		case s.kind == sAssign && len(s.targets) == 1 && s.targets[0].kind == nName && o.isWord(s.value):
			o.variable = s.targets[0].name
		case s.kind == sCompound && s.name == "if":
			o.clauses(s.clauses)
		case o.step(s) != 0, s.kind == sExpr && s.value.kind == nConst, s.kind == sJump:
		default:
			o.other([]*stmt{s})
		}
	}
	if !o.named && o.several == "" && len(o.others) == 0 {
		o.record.fail(line, "it loops over its arguments in a way that is not known")
	}
	o.finish(line)
}

// isWord reports whether an expression is the word of this round.
func (o *optionLoop) isWord(n *node) bool {
	switch {
	case n == nil:
		return false
	case n.kind == nName:
		return n.name == o.variable && o.variable != ""
	case n.kind == nSubscript && o.list != "" && dotted(n.kids[0]) == o.list:
		if o.index == "" {
			return n.kids[1].kind == nConst && n.kids[1].value == value(int64(0))
		}
		return dotted(n.kids[1]) == o.index
	case isCall(n) && o.index == "" && o.list != "" && dotted(n.kids[0]) == o.list+".pop" && len(n.kids) == 2:
		return o.variable == "" // the first one
	}
	return false
}

// isNext reports whether an expression is the word behind that of this round.
func (o *optionLoop) isNext(n *node) bool {
	switch {
	case n.kind == nSubscript && o.list != "" && dotted(n.kids[0]) == o.list:
		index := n.kids[1]
		if o.index == "" {
			return index.kind == nConst && (index.value == value(int64(1)) || o.variable != "" && index.value == value(int64(0)))
		}
		return index.kind == nBinary && index.name == "+" && dotted(index.kids[0]) == o.index && index.kids[1].value == value(int64(1))
	case isCall(n) && o.index == "" && o.list != "" && dotted(n.kids[0]) == o.list+".pop":
		return true
	}
	return false
}

func (o *optionLoop) clauses(clauses []clause) {
	for _, c := range clauses {
		labels := labelsIn(c.value, o.isWord)
		switch {
		case c.value == nil:
			o.other(c.body)
		case len(labels) > 0 && c.value.kind == nUnary && c.value.name == "not":
			o.other(c.body)
		case len(labels) == 0 || c.value.any(func(n *node) bool { return n.name == "not" || n.name == "!=" || n.name == "or" && len(labels) < 2 }):
			if !c.value.any(o.isWord) {
				o.other(c.body)
				continue
			}
			o.record.fail(c.value.line, "it compares its arguments in a way that is not known")
		default:
			o.option(labels, c)
		}
	}
}

// option reads the clause of one option.
func (o *optionLoop) option(labels []label, c clause) {
	o.named = true
	if o.refuses(c.body) {
		o.record.drop(textsOf(labels))
		return
	}
	var flags []string
	joined := false
	for _, l := range labels {
		switch {
		case l.text == "--" || l.text == "-":
			o.record.skipped = true
			if !l.prefix {
				o.record.fail(c.value.line, "it reads -- by itself")
			} else if slices.ContainsFunc(c.body, func(s *stmt) bool { return s.kind != sJump && o.step(s) == 0 }) {
				o.record.fail(c.value.line, "it reads options that have no names")
			}
			return // unknown options
		case l.prefix:
			text, is := strings.CutSuffix(l.text, "=")
			if joined = true; !is {
				o.record.fail(c.value.line, "it compares the beginning of an option")
			}
			flags = append(flags, text)
		default:
			flags = append(flags, l.text)
		}
	}
	if slices.Contains(flags, "--help") || isHelpFlags(flags) && slices.ContainsFunc(c.body, func(s *stmt) bool {
		return s.kind == sReturn || s.kind == sExpr && isCall(s.value) && strings.Contains(dotted(s.value.kids[0]), "exit")
	}) {
		o.record.drop(flags)
		return
	}
	option := o.record.option(c.value.line, flags...)
	option.stripped = true
	o.body(option, c, joined)
}

func textsOf(labels []label) (texts []string) {
	for _, l := range labels {
		texts = append(texts, l.text)
	}
	return texts
}

func isHelpFlags(flags []string) bool {
	return slices.Contains(flags, "-h") || slices.Contains(flags, "--help")
}

// body reads what a clause makes of an option.
func (o *optionLoop) body(option *wordOption, c clause, joined bool) {
	for _, s := range flatten(c.body) {
		var target *node
		n := s.value
		switch {
		case s.kind == sAssign && len(s.targets) == 1:
			target = s.targets[0]
		case s.kind == sExpr && isCall(n) && n.kids[0].kind == nAttribute && n.kids[0].name == "append" && len(n.kids) == 2:
			target = n.kids[0].kids[0]
		}
		if o.step(s) != 0 {
			continue
		}
		next := n != nil && (n.any(o.isNext) || n.any(isNextCall))
		value := next || n != nil && joined && n.any(o.isWord) || o.advanced(c.body) && n != nil && s.kind == sAssign && n.any(o.isWord) && !joined
		if target == nil || n == nil {
			continue
		}
		if value {
			o.value(option, target, n, joined && !next, s.kind == sExpr)
		} else if name := lastName(target); name != "" && name != o.index {
			option.names.add(name)
			if n.kind == nName && n.name != strings.ToUpper(n.name) {
				o.record.fail(s.line, "what it makes of "+option.flags[0]+" is not known")
			}
		}
	}
	if !joined && option.kind == flagOnly && o.advances(c.body) > 1 {
		o.record.fail(c.value.line, "what it makes of "+option.flags[0]+" is not known")
	}
}

// value notes that an option has a value, which a variable gets.
func (o *optionLoop) value(option *wordOption, target, n *node, joined, list bool) {
	kind := valueNext
	if joined {
		kind = valueJoined
	}
	if option.kind != valueNext {
		option.kind = kind
	}
	option.list = option.list || list
	option.names.add(lastName(target))
	option.typ = max(option.typ, numberIn(n))
	if target.kind == nName && !list {
		o.path.vars[target.name] = o.record.merged(optionValue{option}, o.path.lookup(target.name))
	}
}

// isNextCall reports whether an expression is next(it).
func isNextCall(n *node) bool { return isCall(n) && dotted(n.kids[0]) == "next" && len(n.kids) >= 2 }

// lastName returns the name of a variable, an attribute, or a key of a dict.
func lastName(target *node) string {
	if target.kind == nSubscript {
		text, _ := target.kids[1].value.(string)
		return text
	}
	return target.name
}

// step returns the number that a statement adds to the index: i += 1, or i = i + 1.
func (o *optionLoop) step(s *stmt) int {
	if len(s.targets) != 1 || s.targets[0].name != o.index || o.index == "" {
		return 0
	}
	n := s.value
	if s.kind == sAssign && n.kind == nBinary && n.name == "+" && n.kids[0].name == o.index {
		n = n.kids[1]
	}
	by, _ := n.value.(int64)
	return int(by)
}

// advances returns the number that a clause adds to the index.
func (o *optionLoop) advances(body []*stmt) (total int) {
	for _, s := range body {
		total += o.step(s)
	}
	return total
}

// advanced reports whether a clause adds to the index before it reads the word:
// i += 1; out = argv[i].
func (o *optionLoop) advanced(body []*stmt) bool {
	for _, s := range body {
		if o.step(s) != 0 {
			return true
		}
		if s.kind == sAssign && s.value.any(o.isWord) {
			return false
		}
	}
	return false
}

// flatten returns statements with those of the ifs among them.
func flatten(body []*stmt) []*stmt {
	var all []*stmt
	for _, s := range body {
		if s.kind == sCompound {
			for _, c := range s.clauses {
				all = append(all, flatten(c.body)...)
			}
			continue
		}
		all = append(all, s)
	}
	return all
}

// other reads the clause of all words that are no option.
func (o *optionLoop) other(body []*stmt) {
	if o.refuses(body) {
		o.strict = true
		return
	}
	for _, s := range flatten(body) {
		switch {
		case s.value != nil && s.value.any(o.isNext):
			o.record.fail(s.line, "it loops over its arguments in a way that is not known")
		case s.kind == sExpr && isCall(s.value) && len(s.value.kids) == 2 && s.value.any(o.isWord) && s.value.kids[0].kind == nAttribute && (s.value.kids[0].name == "append" || s.value.kids[0].name == "add"):
			o.several = lastName(s.value.kids[0].kids[0])
		case s.kind == sAssign && s.value.any(o.isWord) && len(s.targets) == 1:
			if !slices.ContainsFunc(o.others, func(n *node) bool { return lastName(n) == lastName(s.targets[0]) }) {
				target := *s.targets[0]
				target.value = nil
				o.others = append(o.others, &target)
				o.types = append(o.types, numberIn(s.value))
			}
		case s.value != nil && s.value.any(o.isWord) && !(s.kind == sExpr && isCall(s.value) && strings.HasSuffix(dotted(s.value.kids[0]), "print")) && s.kind != sRaise && !strings.HasSuffix(dotted(s.value.kids0()), "exit"):
			o.several = "args"
		}
	}
}

// kids0 returns what is called.
func (n *node) kids0() *node {
	if isCall(n) {
		return n.kids[0]
	}
	return &node{}
}

// numberIn returns the type that an expression makes of a word.
func numberIn(n *node) (typ valueType) {
	n.any(func(n *node) bool {
		if isCall(n) {
			typ = max(typ, numberType(dotted(n.kids[0])))
		}
		return false
	})
	return typ
}

// finish makes arguments of the variables that the other words go to.
func (o *optionLoop) finish(line int) {
	o.record.dashed = true
	reads := len(o.others) > 0 || o.several != "" || o.strict
	if o.record.skipped = o.record.skipped || reads; !reads {
		for _, option := range o.record.options {
			option.stripped = false
		}
	}
	first := vector{space: restWords, from: 1}
	if o.vector.space == restWords || o.vector.from > 1 {
		first = o.vector
	}
	if o.path.least[first.space] < first.from-1 {
		o.record.fail(line, "it reads options behind arguments that may be absent")
	}
	for i, target := range o.others {
		word := element{first.space, first.from + i}
		at := o.record.place(word, target.line)
		at.data = true
		if typ := o.types[i]; typ != typeString {
			at.typ = typ
		}
		o.record.used(word, lastName(target))
		if target.kind == nName {
			o.path.vars[target.name] = o.record.merged(word, o.path.lookup(target.name))
		}
	}
	if o.several == "" {
		return
	}
	first.from += len(o.others)
	at := o.record.place(element{first.space, first.from}, line)
	at.list, at.data = true, true
	o.record.used(first, o.several)
	o.path.vars[o.several] = first
}
