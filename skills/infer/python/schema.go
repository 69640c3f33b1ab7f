package python

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/invopop/jsonschema"

	"github.com/skillsmcp/skills-mcp/skills/lazyregexp"
)

// maxCount is the maximum number of times for a flag that is counted.
const maxCount = 100

// schema describes the value of an argument. Defaults of sub-commands are told
// only in words: a client that fills in defaults would give them to other
// commands.
func (a *argument) schema(prog string, top bool) *jsonschema.Schema {
	s := a.shape()
	s.Description = a.expandedHelp(prog)
	standard, ok := a.defaultJSON()
	switch {
	case ok && top:
		s.Default = standard
	case ok && a.takesValue() && !mentionsDefault(a.help):
		data, err := json.Marshal(standard)
		if err == nil && len(data) < 100 {
			s.Description = sentences(s.Description, "Default: "+string(data)+".")
		}
	case a.typ == typeFunction && a.kind == "store" && !mentionsDefault(a.help):
		switch a.fallback.(type) {
		case bool, int64, float64:
			text, _ := pyRepr(a.fallback)
			s.Description = sentences(s.Description, "Default: "+text+".")
		}
	}
	return s
}

func mentionsDefault(help string) bool { return strings.Contains(strings.ToLower(help), "default") }

func (a *argument) shape() *jsonschema.Schema {
	switch a.kind {
	case "store_true", "store_false", "store_const", "append_const", "boolean":
		return &jsonschema.Schema{Type: "boolean"}
	case "count":
		return &jsonschema.Schema{Type: "integer", Minimum: "0", Maximum: json.Number(strconv.Itoa(maxCount))}
	}
	s := a.values()
	if a.kind == "append" {
		s = &jsonschema.Schema{Type: "array", Items: s}
	}
	return s
}

// values describes the values of one flag.
func (a *argument) values() *jsonschema.Schema {
	item := a.item()
	switch {
	case a.alone():
		return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{item, {Const: true, Description: "The option without a value."}}}
	case a.nargs == "?" || a.nargs == "" && a.kind != "extend":
		return item
	}
	s := &jsonschema.Schema{Type: "array", Items: item}
	if n := a.span(); a.nargs != "" { // else each text is a list of its characters
		if n.least > 0 {
			s.MinItems = new(uint64(n.least))
		}
		if n.least == n.most {
			s.MaxItems = new(uint64(n.most))
		}
	}
	return s
}

// alone reports whether an option means something without its value. argparse
// gives a constant that is text to the argument's type.
func (a *argument) alone() bool {
	if a.nargs != "?" || a.positional() || a.kind == "append" || a.typ == typeJSON || a.typ == typeBool || a.typ == typeTruth || a.constant == nil || isNone(a.constant) {
		return false
	}
	text, is := a.constant.(string)
	return !is || (a.typ == typeString || a.typ == typePath || a.typ == typeFunction) && a.chosen(text)
}

// item describes one value.
func (a *argument) item() *jsonschema.Schema {
	types := map[valueType]string{typeInteger: "integer", typeNumber: "number", typeBool: "boolean", typeTruth: "boolean"}
	s := &jsonschema.Schema{Type: cmp.Or(types[a.typ], "string"), Enum: a.enum()}
	if a.typ == typeJSON {
		s.Type, s.Description = "", "Any value."
	}
	return s
}

// enum returns the choices, or nil where they are not known, or are none that a
// text of the command line could become.
func (a *argument) enum() []any {
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
func (a *argument) itemJSON(v value) (any, bool) {
	ok := false
	switch v.(type) {
	case string:
		ok = a.typ == typeString || a.typ == typeFunction
	case int64:
		ok = a.typ == typeInteger || a.typ == typeNumber
	case float64:
		ok = a.typ == typeNumber
	case bool:
		ok = a.typ == typeBool || a.typ == typeTruth
	}
	item, _ := valueJSON(v)
	return item, ok
}

// defaultJSON returns the default where passing it is the same as passing
// nothing: it is of the argument's type, and the action does not add to it.
func (a *argument) defaultJSON() (any, bool) {
	switch a.kind {
	case "store_true", "store_false", "boolean":
		b, ok := a.fallback.(bool)
		if a.flagged && a.kind == "store_false" {
			return false, false
		}
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
func (a *argument) scalarJSON(v value) (any, bool) {
	if text, ok := v.(string); ok {
		return text, a.typ == typeString || a.typ == typePath || a.typ == typeFunction
	}
	return a.itemJSON(v)
}

func (a *argument) listJSON() (any, bool) {
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

func (a *argument) chosen(v any) bool {
	enum := a.enum()
	return enum == nil || slices.Contains(enum, v)
}

// An argument is one of a level.
type argument struct {
	*action
	property *property
	// flagged reports whether the property says that the flag is given, and not what
	// the value becomes. They differ for store_false.
	flagged bool
}

// A property is one of the schema. Sub-commands share it where they mean the
// same by it.
type property struct {
	name     string
	schema   *jsonschema.Schema
	required bool
	commands []string // where it belongs; nil for the top
	needs    []string // the commands that cannot do without it
	same     string   // a fingerprint, to compare
}

// finish says in the description which sub-commands a property belongs to, and
// which need it: the schema has no other place for either.
func (p *property) finish() {
	belongs, needed := listed(p.commands), listed(p.needs)
	if len(belongs) > 0 && belongs != needed {
		p.schema.Description = sentences(p.schema.Description, "For the command "+belongs+".")
	}
	if len(needed) > 0 {
		p.schema.Description = sentences(p.schema.Description, "Required for "+needed+".")
	}
	if p.schema.Type == "" && p.schema.Description == "" {
		p.schema.Description = "Any value."
	}
}

// listed names some of the commands.
func listed(commands []string) string {
	const most = 8
	slices.Sort(commands)
	named := slices.Compact(commands)
	if len(named) > most {
		return strings.Join(named[:most], ", ") + ", …"
	}
	return strings.Join(named, ", ")
}

// sentences puts texts together as sentences.
func sentences(texts ...string) string {
	var all []string
	for _, text := range texts {
		if text != "" {
			all = append(all, sentence(text))
		}
	}
	return strings.Join(all, " ")
}

func sentence(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if text == "" || strings.ContainsAny(text[len(text)-1:], ".!?:;") {
		return text
	}
	return text + "."
}

// propertyName makes a name of a dest that every client takes: letters, digits,
// _ and -.
func propertyName(dest string) string {
	name := foreign.ReplaceAllString(dest, "_")
	name = name[:min(len(name), maxName)]
	if strings.Trim(name, "_-") == "" {
		return "argument"
	}
	return name
}

var foreign = lazyregexp.New(`[^\w-]`)

// maxName is the maximum length of a property's name in the models' interfaces.
const maxName = 60
