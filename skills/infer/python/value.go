package python

import (
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/infer/python/syntax"
)

// A function is one that the file defines.
type function struct {
	*syntax.Function
	scope    *scope // where it was defined
	relevant bool   // it can reach argparse
	called   bool
}

// A class is one that the file defines, after its execution.
type class struct {
	*syntax.Class
	members   map[string]value // and the inherited ones
	ancestors []reference      // that the file does not define; "" where one is not known
	fields    []*syntax.Stmt   // annotated, the inherited ones first
}

// An unknown is a value that only a run could tell.
type unknown struct {
	prefix    string // the start of a text, where that is known
	parameter bool   // it is the parameter of a function without a call here
	path      string // the text of a pathlib.Path; "" for anything else
}

// An alias is a type with parameters: Optional[Mode].
type alias struct {
	node  *syntax.Node
	scope *scope
}

// parameters returns the parameters of the type, of which there is one at least.
func (a *alias) parameters() []*syntax.Node {
	if p := a.node.Kids[1]; p.Kind == syntax.Tuple && len(p.Kids) > 0 {
		return p.Kids
	}
	return a.node.Kids[1:2]
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

// A method is a method of a value that is known, before its call.
type method struct {
	receiver value
	name     string
}

// A declarer is a parser, or a part of one that adds to its arguments.
type declarer interface {
	// lose says that code that is not known may have added arguments, on this line.
	lose(line int)
}

func isDeclarer(v value) bool {
	_, is := v.(declarer)
	return is
}

// A libraryCall is a call of a library that declares a type or a field.
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
	spread     bool // some are not known
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

func isNone(v value) bool { return v == syntax.None{} }

// equal compares two constants as == does. It reports false for other values.
func equal(a, b value) (is, known bool) {
	rank := func(v value) int {
		switch v.(type) {
		case syntax.None:
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

// itemsOf returns the items of a collection; those of a set are in no order.
func itemsOf(v value) ([]value, bool) {
	switch v := v.(type) {
	case *sequence:
		return v.items, true
	case *mapping:
		return v.keys, true
	}
	return nil, false
}

// iterable returns the items of a loop over v, in order.
func iterable(v value) ([]value, bool) {
	if seq, is := v.(*sequence); is && seq.open == '{' {
		return nil, false
	}
	return itemsOf(v)
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

// add sets all items of another dict.
func (m *mapping) add(other *mapping) {
	for at, key := range other.keys {
		m.set(key, other.values[at])
	}
}

// pyStr renders a constant as Python's str does. It reports false for any other value.
func pyStr(v value) (string, bool) {
	switch v := v.(type) {
	case syntax.None:
		return "None", true
	case bool:
		return map[bool]string{true: "True", false: "False"}[v], true
	case int64:
		return strconv.FormatInt(v, 10), true
	case float64:
		return pyFloat(v), true
	case string:
		return v, true
	}
	return "", false
}

// pyFloat renders a number as str does: the shortest text that reads back, with
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

// relevant reports whether a method of the class can reach argparse.
func (c *class) relevant() bool {
	for _, member := range c.members {
		if fn, ok := member.(*function); ok && fn.relevant {
			return true
		}
	}
	return false
}

// comesFrom reports whether a class has an ancestor of this name in one of the
// packages.
func (c *class) comesFrom(name string, packages ...string) bool {
	return slices.ContainsFunc(c.ancestors, func(r reference) bool {
		return r.last() == name && slices.ContainsFunc(packages, func(p string) bool { return strings.HasPrefix(string(r), p) })
	})
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
		return json.Number(strconv.FormatInt(v, 10)), true
	case float64:
		return floatJSON(v), true
	case *sequence:
		list, ok := v.json()
		return list, ok
	case *mapping:
		return map[string]any{}, len(v.keys) == 0
	}
	return nil, false
}

// json returns a list or a tuple of constants in JSON.
func (s *sequence) json() ([]any, bool) {
	list := []any{}
	for _, item := range s.items {
		one, ok := valueJSON(item)
		if _, nested := item.(*sequence); !ok || nested {
			return nil, false
		}
		list = append(list, one)
	}
	return list, s.open != '{'
}

func floatJSON(f float64) json.Number {
	if f == math.Trunc(f) && math.Abs(f) < 1<<53 {
		return json.Number(strconv.FormatFloat(f, 'f', -1, 64))
	}
	return json.Number(strconv.FormatFloat(f, 'g', -1, 64))
}

// declares reports whether a method of this name adds to a command line.
func declares(name string) bool {
	switch name {
	case "add_argument", "add_parser", "add_subparsers", "add_argument_group", "add_mutually_exclusive_group", "parse_args", "parse_known_args", "ArgumentParser":
		return true
	}
	return false
}

// A value is a Python value as far as the source tells it: none, bool, int64,
// float64, string, ellipsis, *sequence, *mapping, reference, *function, *class,
// *libraryCall, *alias, method, argvector, *parser, *group, *subparsers, *action,
// or unknown.
type value any

// A reference is a name that the file does not define, with its module:
// argparse.ArgumentParser, builtins.int.
type reference string

// A scope holds the variables of a module, a class or a call.
type scope struct {
	vars    map[string]value
	outer   *scope
	globals map[string]bool // names declared global
}
