package python

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/invopop/jsonschema"

	"github.com/skillsmcp/skills-mcp/skills/infer/cli"
	"github.com/skillsmcp/skills-mcp/skills/lazyregexp"
)

// shape gives an argument the values of an action.
func (a *action) shape(to *cli.Argument, flagged bool) {
	switch a.kind {
	case "count":
		to.Kind = cli.Count
		return
	case "store_true", "store_const", "append_const", "boolean", "store_false":
		to.Kind, to.Inverse = cli.Switch, a.kind == "store_false" && !flagged
		to.On = a.kind == "store_true" && a.fallback == true
		return
	}
	to.Item, to.Rest = a.item(), a.nargs == "..."
	n := a.span()
	switch {
	case a.kind == "append":
		to.List = true
	case a.nargs != "" && a.nargs != "?":
		to.List, to.Together, to.Least = true, !a.positional(), n.least
		if n.least == n.most {
			to.Most = n.most
		}
	}
}

// item describes one value.
func (a *action) item() *jsonschema.Schema {
	types := map[valueType]string{typeInteger: "integer", typeNumber: "number", typeBool: "boolean"}
	return &jsonschema.Schema{Type: cmp.Or(types[a.typ], "string"), Enum: a.enum()}
}

// enum returns the choices, or nil where they are not known, or are none that a
// text of the command line could become.
func (a *action) enum() []any {
	items, _ := itemsOf(a.choices)
	if slices.ContainsFunc(items, isUnknown) {
		return nil
	}
	var enum []any
	for _, item := range items {
		if v, ok := a.itemJSON(item); ok && !slices.Contains(enum, v) {
			enum = append(enum, v)
		}
	}
	return enum
}

// itemJSON returns the value of JSON that the argument's type makes v of.
func (a *action) itemJSON(v value) (any, bool) {
	ok := false
	switch v.(type) {
	case string:
		ok = a.typ == typeString || a.typ == typeFunction
	case int64:
		ok = a.typ == typeInteger || a.typ == typeNumber
	case float64:
		ok = a.typ == typeNumber
	case bool:
		ok = a.typ == typeBool
	}
	item, _ := valueJSON(v)
	return item, ok
}

// defaultJSON returns the default where passing it is the same as passing
// nothing: it is of the argument's type, and the action does not add to it.
func (a *action) defaultJSON() (any, bool) {
	switch a.kind {
	case "store_true", "store_false", "boolean":
		b, ok := a.fallback.(bool)
		return b, ok && (a.kind == "boolean" || b == (a.kind == "store_false"))
	case "store":
	default:
		return nil, false
	}
	if a.fallback == nil || a.fallback == suppress || a.positional() && a.required {
		return nil, false
	}
	if a.nargs == "" || a.nargs == "?" {
		v, ok := a.scalarJSON(a.fallback)
		return v, ok && a.chosen(v)
	}
	return a.listJSON()
}

// scalarJSON returns a default in JSON. argparse gives a default that is text to
// the argument's type.
func (a *action) scalarJSON(v value) (any, bool) {
	if text, ok := v.(string); ok {
		return text, a.typ == typeString || a.typ == typePath || a.typ == typeFunction
	}
	return a.itemJSON(v)
}

func (a *action) listJSON() (any, bool) {
	seq, ok := a.fallback.(*sequence)
	if !ok || seq.open != '[' || a.typ == typeFunction || a.nargs == "..." {
		return nil, false
	}
	list := []any{}
	for _, item := range seq.items {
		v, ok := a.itemJSON(item)
		if !ok || !a.chosen(v) {
			return nil, false
		}
		list = append(list, v)
	}
	n, err := strconv.Atoi(a.nargs)
	if err == nil && n != len(list) || a.nargs == "+" && len(list) == 0 || a.positional() && len(list) == 0 {
		return nil, false
	}
	return list, true
}

func (a *action) chosen(v any) bool {
	enum := a.enum()
	return enum == nil || slices.Contains(enum, v)
}

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
