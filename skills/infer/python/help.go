package python

import "strings"

// expandedHelp returns the help of an argument as argparse prints it, in one
// line: with %(default)s and the like filled in. Where that fails, argparse does
// too, and the text stays as it is.
func (a *action) expandedHelp(prog string) string {
	text := a.help
	if expanded, ok := interpolate(text, func(name string) (value, bool) { return a.shown(name, prog) }, func() (value, bool) { return nil, false }); ok {
		text = expanded
	}
	return strings.Join(strings.Fields(text), " ")
}

// shown returns what %(name)s stands for, and an ellipsis for what is not known.
func (a *action) shown(name, prog string) (value, bool) {
	v, ok := a.parameter(name, prog)
	if _, known := pyStr(v); ok && !known {
		return "…", true
	}
	return v, ok
}

// parameter returns what %(name)s stands for, as HelpFormatter._expand_help
// does.
func (a *action) parameter(name, prog string) (value, bool) {
	switch name {
	case "prog":
		return prog, true
	case "dest":
		return a.dest, true
	case "default":
		return orNone(a.fallback), a.fallback != suppress
	case "const":
		if a.kind == "store_true" || a.kind == "store_false" {
			return a.kind == "store_true", true
		}
		return orNone(a.constant), true
	case "required":
		return a.required, true
	case "metavar":
		return orNone(a.metavar), true
	case "nargs":
		switch {
		case !a.takesValue():
			return int64(0), true
		case a.nargs == "":
			return none{}, true
		}
		return a.nargs, true
	case "type":
		return a.typeName()
	case "choices":
		return a.choicesText()
	case "option_strings":
		return textValues(a.flags), true
	}
	return nil, false
}

// typeName returns the __name__ of the type, or None.
func (a *action) typeName() (value, bool) {
	switch v := a.given.(type) {
	case nil, none:
		return none{}, true
	case reference:
		return string(v[strings.LastIndexByte(string(v), '.')+1:]), true
	case *function:
		return v.name, true
	case *class:
		return v.name, true
	}
	return nil, false
}

func orNone(v value) value {
	if v == nil {
		return none{}
	}
	return v
}

func textValues(texts []string) value {
	seq := &sequence{open: '['}
	for _, text := range texts {
		seq.items = append(seq.items, text)
	}
	return seq
}

func (a *action) choicesText() (value, bool) {
	if a.choices == nil {
		return none{}, true
	}
	items, ok := iterable(a.choices)
	if !ok {
		return nil, false
	}
	texts := make([]string, len(items))
	for i, item := range items {
		if texts[i], ok = pyStr(item); !ok {
			return nil, false
		}
	}
	return strings.Join(texts, ", "), true
}
