package python

import (
	"regexp"
	"strconv"
	"strings"
)

// placeholder matches a conversion of a help text.
var placeholder = regexp.MustCompile(`%(?:%|\((\w+)\)(s|r|d|i|f|\.\df)|)`)

// expandedHelp returns the help of an argument as argparse prints it, in one
// line: with %(default)s and the like filled in, and an ellipsis for a value that
// is not known. Where that fails, argparse does too, and the text stays as it is.
func (a *action) expandedHelp(prog string) string {
	failed := false
	text := placeholder.ReplaceAllStringFunc(a.help, func(found string) string {
		if found == "%%" {
			return "%"
		}
		m := placeholder.FindStringSubmatch(found)
		v, ok := a.parameter(m[1], prog)
		if ok {
			if _, known := pyStr(v); !known {
				return "…"
			}
		}
		text, converted := convert(v, m[2])
		failed = failed || !ok || !converted
		return text
	})
	if failed {
		text = a.help
	}
	return strings.Join(strings.Fields(text), " ")
}

// convert renders one value by a conversion of Python's %.
func convert(v value, conversion string) (string, bool) {
	number, ok := toFloat(v)
	switch conversion {
	case "s":
		return pyStr(v)
	case "r":
		return pyRepr(v)
	case "d", "i":
		return strconv.FormatFloat(number, 'f', 0, 64), ok && number == float64(int64(number))
	case "f":
		return strconv.FormatFloat(number, 'f', 6, 64), ok
	}
	if conversion == "" {
		return "", false
	}
	return strconv.FormatFloat(number, 'f', int(conversion[1]-'0'), 64), ok
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
		return textSequence(a.flags), true
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

func (a *action) choicesText() (value, bool) {
	if a.choices == nil {
		return none{}, true
	}
	items, ok := iterable(a.choices)
	texts := make([]string, len(items))
	for i, item := range items {
		text, known := pyStr(item)
		texts[i], ok = text, ok && known
	}
	return strings.Join(texts, ", "), ok
}
