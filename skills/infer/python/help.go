package python

import (
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/infer/python/syntax"
	"github.com/skillsmcp/skills-mcp/skills/lazyregexp"
)

// placeholder matches a conversion of a help text.
var placeholder = lazyregexp.New(`%(?:%|\((\w+)\)([srd]))`)

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
		if m[2] == "r" {
			text, ok = pyRepr(v)
		}
		if !ok {
			return "…"
		}
		return text
	})
	return strings.Join(strings.Fields(text), " ")
}

// parameter returns the value of %(name)s.
func (a *action) parameter(name, prog string) value {
	switch name {
	case "prog":
		return prog
	case "dest":
		return a.dest
	case "default":
		if a.fallback == nil {
			return syntax.None{}
		}
		if a.fallback != suppress {
			return a.fallback
		}
	case "const":
		return a.constant
	case "choices":
		items, ok := iterable(a.choices)
		var texts []string
		for _, item := range items {
			text, known := pyStr(item)
			texts, ok = append(texts, text), ok && known
		}
		if ok {
			return strings.Join(texts, ", ")
		}
	}
	return unknown{}
}
