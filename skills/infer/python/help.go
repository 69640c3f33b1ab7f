package python

import (
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/lazyregexp"
)

// placeholder matches a conversion of a help text.
var placeholder = lazyregexp.New(`%(?:%|\((\w+)\)[srd])`)

// expandedHelp returns the help of an argument as argparse prints it, in one line: with
// the default and the name of the script filled in, and an ellipsis for what is not known.
func (a *action) expandedHelp(prog string) string {
	text := placeholder.ReplaceAllStringFunc(a.help, func(found string) string {
		switch found {
		case "%%":
			return "%"
		case "%(prog)s":
			return prog
		case "%(default)s", "%(default)d":
			if a.fallback == nil {
				return "None"
			}
			if text, ok := pyStr(a.fallback); ok && a.fallback != suppress {
				return text
			}
		}
		return "…"
	})
	return strings.Join(strings.Fields(text), " ")
}
