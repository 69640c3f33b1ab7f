package python

import (
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

type none struct{}

// ellipsis is Python's ..., which typer and pydantic take for required.
type ellipsis struct{}

// An unknown is a value that only a run could tell.
type unknown struct {
	prefix    string // the start of a text, where that is known
	parameter bool   // it is the parameter of a function without a call here
	path      string // the text of a pathlib.Path; "" for anything else
}

// An alias is a type with parameters: Annotated[str, typer.Option()].
type alias struct {
	node  *node
	scope *scope
}

// A sequence is a list, a tuple, a set or a range.
type sequence struct {
	items []value
	open  byte // '[', '(', '{'
}

// A mapping is a dict, in the order of its keys.
type mapping struct {
	keys, values []value
	index        map[value]int
}

// A reference is a name that the file does not define, with its module:
// argparse.ArgumentParser, builtins.int.
type reference string

// A method is a method of a value that is known, before its call.
type method struct {
	receiver value
	name     string
}

// A libraryCall is a call of click, typer or pydantic that declares a parameter.
type libraryCall struct {
	name reference
	*arguments
}

// An argvector is sys.argv from an index on.
type argvector int

// arguments are the arguments of one call.
type arguments struct {
	line       int
	positional []value
	keywords   []keyword
	spread     bool       // some are not known
	rest       *argvector // the script's arguments, spread
}

type keyword struct {
	name  string
	value value
}

// get returns the argument at a position, or of a name.
func (a *arguments) get(at int, name string) (value, bool) {
	if at >= 0 && at < len(a.positional) {
		return a.positional[at], true
	}
	for _, k := range a.keywords {
		if k.name == name {
			return k.value, true
		}
	}
	return nil, false
}

// named returns the keyword argument of a name, or the default.
func (a *arguments) named(name string, otherwise value) value {
	if v, ok := a.get(-1, name); ok {
		return v
	}
	return otherwise
}

// first returns the first positional argument.
func (a *arguments) first() value {
	if len(a.positional) == 0 {
		return unknown{}
	}
	return a.positional[0]
}

func (r reference) last() string { return string(r[strings.LastIndexByte(string(r), '.')+1:]) }

func isUnknown(v value) bool {
	_, is := v.(unknown)
	return is
}

func isNone(v value) bool { return v == none{} }

// truth returns whether Python takes a value for true, and whether that is known.
func truth(v value) (is, known bool) {
	switch v := v.(type) {
	case none:
		return false, true
	case bool:
		return v, true
	case int64:
		return v != 0, true
	case float64:
		return v != 0, true
	case string:
		return v != "", true
	case *sequence:
		return len(v.items) > 0, true
	case *mapping:
		return len(v.keys) > 0, true
	}
	return false, false
}

// equal compares two constants as == does. It reports false for other values.
func equal(a, b value) (is, known bool) {
	rank := func(v value) int {
		switch v.(type) {
		case none:
			return 1
		case string:
			return 2
		case bool, int64, float64:
			return 3
		}
		return 0
	}
	x, y := rank(a), rank(b)
	switch {
	case x == 0 || y == 0:
		return false, false
	case x != y || a == b:
		return a == b, true
	}
	return false, reflect.TypeOf(a) == reflect.TypeOf(b)
}

// iterable returns the items that a loop over v goes through, in order.
func iterable(v value) ([]value, bool) {
	switch v := v.(type) {
	case *sequence:
		return v.items, v.open != '{'
	case *mapping:
		return v.keys, true
	}
	return nil, false
}

// itemsOf returns the items of a collection in any order.
func itemsOf(v value) ([]value, bool) {
	if seq, is := v.(*sequence); is {
		return seq.items, true
	}
	return iterable(v)
}

func (m *mapping) get(key value) (value, bool) {
	if at, ok := m.index[key]; ok {
		return m.values[at], true
	}
	return nil, false
}

func (m *mapping) set(key, v value) {
	if at, ok := m.index[key]; ok {
		m.values[at] = v
		return
	}
	if m.index == nil {
		m.index = map[value]int{}
	}
	m.index[key] = len(m.keys)
	m.keys, m.values = append(m.keys, key), append(m.values, v)
}

// pyStr renders a value as Python's str does. It reports false for a value that
// is not known.
func pyStr(v value) (string, bool) {
	if s, ok := v.(string); ok {
		return s, true
	}
	return pyRepr(v)
}

// pyRepr renders a value as Python's repr does.
func pyRepr(v value) (string, bool) {
	switch v := v.(type) {
	case none:
		return "None", true
	case bool:
		if v {
			return "True", true
		}
		return "False", true
	case int64:
		return strconv.FormatInt(v, 10), true
	case float64:
		return pyFloat(v), true
	case string:
		return pyQuote(v), true
	case *sequence:
		return v.repr()
	}
	return "", false
}

// repr renders a list or a tuple of constants. The order of a set is not known.
func (s *sequence) repr() (string, bool) {
	parts := make([]string, len(s.items))
	for i, item := range s.items {
		part, ok := pyRepr(item)
		if _, nested := item.(*sequence); nested || !ok {
			return "", false
		}
		parts[i] = part
	}
	inner := strings.Join(parts, ", ")
	switch {
	case s.open == '[':
		return "[" + inner + "]", true
	case s.open == '(' && len(parts) == 1:
		return "(" + inner + ",)", true
	}
	return "(" + inner + ")", s.open == '('
}

// pyFloat renders a number as repr does: the shortest text that reads back, with
// an exponent below 1e-4 and from 1e16 on.
func pyFloat(f float64) string {
	if abs := math.Abs(f); abs != 0 && (abs < 1e-4 || abs >= 1e16) {
		return strconv.FormatFloat(f, 'e', -1, 64)
	}
	s := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

// pyQuote renders a text as repr does.
func pyQuote(s string) string {
	quote := "'"
	if strings.Contains(s, "'") && !strings.Contains(s, `"`) {
		quote = `"`
	}
	return quote + strings.NewReplacer(`\`, `\\`, quote, `\`+quote, "\n", `\n`, "\r", `\r`, "\t", `\t`).Replace(s) + quote
}

func toFloat(v value) (float64, bool) {
	switch v := v.(type) {
	case int64:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}

// member returns the value that a class, or one of the file that it comes from,
// gives a name.
func (c *class) member(name string) (value, bool) {
	for _, own := range c.chain() {
		if v, ok := own.members[name]; ok {
			return v, true
		}
	}
	return nil, false
}

// relevant reports whether a method of the class can reach argparse.
func (c *class) relevant() bool {
	for _, own := range c.chain() {
		for _, member := range own.members {
			if fn, ok := member.(*function); ok && fn.relevant {
				return true
			}
		}
	}
	return false
}

// chain returns a class and the classes of the file that it comes from.
func (c *class) chain() []*class {
	var chain []*class
	for c != nil && len(chain) < maxCalls {
		chain = append(chain, c)
		at := slices.IndexFunc(c.parents, func(v value) bool { _, own := v.(*class); return own })
		if at < 0 {
			break
		}
		c = c.parents[at].(*class)
	}
	return chain
}

// comesFrom reports whether a class, or one of the file that it comes from, has a
// parent of this name of one of the packages.
func (c *class) comesFrom(name string, packages ...string) bool {
	for _, own := range c.chain() {
		for _, parent := range own.parents {
			ref, _ := parent.(reference)
			if ref.last() == name && slices.ContainsFunc(packages, func(p string) bool { return strings.HasPrefix(string(ref), p) }) {
				return true
			}
		}
	}
	return false
}

// textSequence returns a list of texts.
func textSequence(texts []string) *sequence {
	seq := &sequence{items: make([]value, len(texts)), open: '['}
	for i, text := range texts {
		seq.items[i] = text
	}
	return seq
}

func (s *scope) lookup(name string) value {
	for ; s != nil; s = s.outer {
		if v, ok := s.vars[name]; ok {
			return v
		}
	}
	return reference("builtins." + name)
}

func newScope(outer *scope) *scope { return &scope{vars: map[string]value{}, outer: outer} }

// Bounds of an evaluation. Anything beyond is unknown.
const (
	baseSteps    = 20_000 // and some for each byte of the source
	stepsPerByte = 4
	maxCalls     = 24      // depth of calls of the file's own functions
	maxText      = 1 << 16 // bytes of one text that is put together
	maxItems     = 4096    // of one list
	maxUnroll    = 256     // rounds of a loop
)

// isGeneric reports whether a type takes parameters.
func isGeneric(base reference) bool {
	switch base.last() {
	case "Annotated", "Optional", "Union", "Literal", "list", "List", "set", "Set", "tuple", "Tuple", "Sequence", "Iterable", "dict", "Dict", "Mapping":
		return true
	}
	return false
}

// valueJSON returns a constant in JSON.
func valueJSON(v value) (any, bool) {
	switch v := v.(type) {
	case bool, string:
		return v, true
	case int64:
		return json.Number(reprOf(v)), true
	case float64:
		return floatJSON(v), true
	case *sequence:
		list := []any{}
		for _, item := range v.items {
			one, ok := valueJSON(item)
			if _, nested := item.(*sequence); !ok || nested {
				return nil, false
			}
			list = append(list, one)
		}
		return list, v.open != '{'
	case *mapping:
		return map[string]any{}, len(v.keys) == 0
	}
	return nil, false
}

func floatJSON(f float64) json.Number {
	if f == math.Trunc(f) && math.Abs(f) < 1<<53 {
		return json.Number(strconv.FormatFloat(f, 'f', -1, 64))
	}
	return json.Number(strconv.FormatFloat(f, 'g', -1, 64))
}

func valueList(v value) ([]any, bool) {
	list, ok := valueJSON(v)
	all, is := list.([]any)
	return all, ok && is
}

func reprOf(v value) string {
	text, _ := pyRepr(v)
	return text
}
