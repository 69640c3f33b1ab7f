package python

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// A value is one of Python's as far as it is known without running anything:
// none, bool, int64, float64, string, *sequence, *mapping, reference,
// *function, *class, *instance, method, argvector, *alias, *parser, *group,
// *subparsers, *action, and unknown.
type value any

type none struct{}

// unknown is a value that only running could tell.
type unknown struct {
	prefix    string // what the text starts with, where that is known
	parameter bool   // it is the parameter of a function that nobody calls here
	path      string // the text of a pathlib.Path; "" where it is none, or not known
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
	index        map[string]int // of the keys that are text
}

// A reference is what an import, or a name that nothing here defines, stands
// for: argparse.ArgumentParser, builtins.int.
type reference string

// An instance is an object of a class of the file.
type instance struct {
	class *class
	attrs map[string]value
}

// A method is one that was looked up and not called yet.
type method struct {
	receiver value
	name     string
	function *function // of a class of the file
}

// An argvector is sys.argv[from:].
type argvector struct{ from int }

// isUnknown reports whether nothing certain can be said.
func isUnknown(v value) bool {
	_, is := v.(unknown)
	return is
}

func isNone(v value) bool {
	_, is := v.(none)
	return is
}

// truth returns whether Python takes a value for true, and whether that is
// known.
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
	case *function, *class, *parser, *group, *subparsers, *action:
		return true, true
	}
	return false, false
}

// equal compares two values of which both are known, as == does.
func equal(a, b value) (is, known bool) {
	switch x := a.(type) {
	case bool:
		return equal(asInt(x), b)
	case int64:
		switch y := b.(type) {
		case float64:
			return float64(x) == y, true
		case bool:
			return x == asInt(y), true
		}
	case float64:
		switch y := b.(type) {
		case int64:
			return x == float64(y), true
		case bool:
			return x == float64(asInt(y)), true
		}
	case none, string:
	default:
		return false, false
	}
	switch b.(type) {
	case none, bool, int64, float64, string:
		return a == b, true
	}
	return false, false
}

func asInt(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

func (m *mapping) get(key value) (value, bool) {
	if name, ok := key.(string); ok {
		i, ok := m.index[name]
		if !ok {
			return nil, false
		}
		return m.values[i], true
	}
	if len(m.keys) > maxUnroll {
		return nil, false
	}
	i := slices.IndexFunc(m.keys, func(k value) bool { is, _ := equal(k, key); return is })
	if i < 0 {
		return nil, false
	}
	return m.values[i], true
}

func (m *mapping) set(key, v value) {
	if name, ok := key.(string); ok {
		if i, ok := m.index[name]; ok {
			m.values[i] = v
			return
		}
		if m.index == nil {
			m.index = map[string]int{}
		}
		m.index[name] = len(m.keys)
	}
	m.keys, m.values = append(m.keys, key), append(m.values, v)
}

// pyStr renders a value as Python's str does. It reports false for one that is
// not known.
func pyStr(v value) (string, bool) {
	if s, ok := v.(string); ok {
		return s, true
	}
	return pyRepr(v)
}

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

func (s *sequence) repr() (string, bool) {
	parts := make([]string, len(s.items))
	for i, item := range s.items {
		if _, nested := item.(*sequence); nested {
			return "", false
		}
		part, ok := pyRepr(item)
		if !ok {
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
	case s.open == '(':
		return "(" + inner + ")", true
	}
	return "", false // a set's order is not known
}

// pyFloat renders a number as repr does: the shortest that reads back, with an
// exponent below 1e-4 and from 1e16 on.
func pyFloat(f float64) string {
	if math.IsInf(f, 0) {
		return strings.TrimPrefix(strings.ToLower(strconv.FormatFloat(f, 'f', -1, 64)), "+")
	}
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
	quote := byte('\'')
	if strings.Contains(s, "'") && !strings.Contains(s, `"`) {
		quote = '"'
	}
	var b strings.Builder
	b.WriteByte(quote)
	for _, r := range s {
		switch {
		case r == rune(quote) || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case !unicode.IsPrint(r):
			quoted := strconv.QuoteRuneToASCII(r)
			b.WriteString(quoted[1 : len(quoted)-1])
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte(quote)
	return b.String()
}
