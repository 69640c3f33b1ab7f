package python

import (
	"regexp"
	"strconv"
	"strings"
)

// placeholder matches a conversion of a help text.
var placeholder = regexp.MustCompile(`%(?:%|\((\w+)\)(?:(s|r)|(d|i|f|\.\df)))`)

// expandedHelp returns the help of an argument as argparse prints it, in one
// line: with %(default)s and the like filled in, and an ellipsis for a value that
// is not known.
func (a *action) expandedHelp(prog string) string {
	text := placeholder.ReplaceAllStringFunc(a.help, func(found string) string {
		m := placeholder.FindStringSubmatch(found)
		if m[1] == "" {
			return "%"
		}
		v := a.parameter(m[1], prog)
		text, ok := pyStr(v)
		switch {
		case m[2] == "r":
			text, ok = pyRepr(v)
		case m[3] != "":
			text, ok = numberText(v, m[3])
		}
		if !ok {
			return "…"
		}
		return text
	})
	return strings.Join(strings.Fields(text), " ")
}

// numberText renders a number by %d, %f or %.2f.
func numberText(v value, conversion string) (string, bool) {
	f, ok := toFloat(v)
	digits := 6
	switch conversion[0] {
	case '.':
		digits = int(conversion[1] - '0')
	case 'd', 'i':
		digits = 0
	}
	return strconv.FormatFloat(f, 'f', digits, 64), ok
}

// parameter returns the value of %(name)s.
func (a *action) parameter(name, prog string) value {
	switch name {
	case "prog":
		return prog
	case "dest":
		return a.dest
	case "default":
		switch a.fallback {
		case nil:
			return none{}
		case suppress:
			return unknown{}
		}
		return a.fallback
	case "const":
		return a.constant
	case "choices":
		items, ok := iterable(a.choices)
		texts := make([]string, len(items))
		for i, item := range items {
			text, known := pyStr(item)
			texts[i], ok = text, ok && known
		}
		if ok {
			return strings.Join(texts, ", ")
		}
	}
	return unknown{}
}
