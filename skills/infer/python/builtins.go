package python

import (
	"path"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/infer/python/syntax"
)

// builtins evaluates functions, methods and operators of Python's own types.
type builtins struct{ *reading }

// call evaluates a call of a function of values.
func (t builtins) call(name reference, a *arguments) value {
	if v, ok := t.ofWords(name, a); ok {
		return v
	}
	text, isText := a.first().(string)
	switch name {
	case "builtins.list", "builtins.tuple", "builtins.sorted", "builtins.set", "builtins.frozenset":
		return t.collection(name.last(), a)
	case "builtins.range":
		return t.rangeOf(a)
	case "builtins.dict":
		if !a.spread && len(a.positional) == 0 {
			return spareKeywords(nil, a)
		}
		return unknown{}
	case "builtins.str":
		if text, ok := pyStr(a.first()); ok {
			return text
		}
		if named, ok := a.first().(unknown); ok {
			return unknown{path: named.path}
		}
	case "pathlib.Path", "pathlib.PurePath":
		return unknown{path: text}
	case "pathlib.Path.cwd", "os.getcwd":
		return unknown{path: "."}
	case "textwrap.dedent", "inspect.cleandoc":
		if isText {
			return syntax.CleanDoc(text)
		}
	case "argcomplete.autocomplete", "builtins.print", "builtins.repr", "builtins.type", "builtins.id", "builtins.len", "builtins.vars", "builtins.hasattr", "builtins.callable":
		return unknown{} // they add nothing to a parser
	}
	t.giveAway(a)
	return unknown{}
}

// collection evaluates list(…), sorted(…) and the like. Texts can be sorted.
func (t builtins) collection(kind string, a *arguments) value {
	if len(a.positional) == 0 {
		return &sequence{open: '['}
	}
	items, ok := itemsOf(a.first())
	if !ok || !t.charge(len(items)) {
		return unknown{}
	}
	items = slices.Clone(items)
	switch kind {
	case "tuple":
		return &sequence{items, '('}
	case "list":
		return &sequence{items, '['}
	case "sorted":
		if len(a.keywords) > 0 || slices.ContainsFunc(items, func(v value) bool { _, ok := v.(string); return !ok }) {
			return unknown{}
		}
		slices.SortFunc(items, func(a, b value) int { return strings.Compare(a.(string), b.(string)) })
		return &sequence{items, '['}
	}
	return &sequence{items, '{'}
}

// rangeOf evaluates range(to) and range(from, to).
func (t builtins) rangeOf(a *arguments) value {
	bounds := []int64{0}
	for _, v := range a.positional {
		n, ok := v.(int64)
		if !ok || n < -1<<40 || n > 1<<40 {
			return unknown{}
		}
		bounds = append(bounds, n)
	}
	if len(bounds) == 3 {
		bounds = bounds[1:]
	}
	if len(bounds) != 2 || bounds[1]-bounds[0] > maxItems || !t.charge(int(max(bounds[1]-bounds[0], 0))) {
		return unknown{}
	}
	seq := &sequence{open: '['}
	for n := bounds[0]; n < bounds[1]; n++ {
		seq.items = append(seq.items, n)
	}
	return seq
}

// textMethod evaluates a method of a string.
func (t builtins) textMethod(s, name string, a *arguments) value {
	if !t.charge(len(s) / 16) {
		return unknown{}
	}
	switch {
	case name == "join":
		return t.join(s, a.first(), a.line)
	case name == "format":
		before, _, _ := strings.Cut(s, "{")
		return unknown{prefix: before}
	}
	return unknown{}
}

func (t builtins) join(separator string, v value, line int) value {
	if argv, is := v.(argvector); is {
		return t.words.list(argv, separator == " ", line)
	}
	items, ok := iterable(v)
	if !ok {
		return unknown{}
	}
	var texts []string
	size := 0
	for _, item := range items {
		text, ok := item.(string)
		if size += len(text) + len(separator); !ok || size > maxText {
			return unknown{}
		}
		texts = append(texts, text)
	}
	if !t.charge(size / 16) {
		return unknown{}
	}
	return strings.Join(texts, separator)
}

// mappingMethod evaluates a method of a dict. After one that is not known, the dict
// has one unknown item.
func (t builtins) mappingMethod(m *mapping, name string, a *arguments) value {
	switch name {
	case "keys":
		return &sequence{slices.Clip(m.keys), '['}
	case "values":
		return &sequence{slices.Clip(m.values), '['}
	case "items":
		seq := &sequence{open: '['}
		for at := range m.keys {
			if !t.charge(1) {
				return unknown{}
			}
			seq.items = append(seq.items, &sequence{[]value{m.keys[at], m.values[at]}, '('})
		}
		return seq
	case "get":
		if v, ok := m.get(a.first()); ok {
			return v
		}
	case "copy":
	default:
		*m = mapping{keys: []value{unknown{}}, values: []value{unknown{}}}
	}
	return unknown{}
}

// operate evaluates a binary operator or a comparison.
func (t builtins) operate(op string, a, b value) value {
	switch op {
	case "==", "!=", "is", "is not":
		if is, known := equal(a, b); known {
			return is == (op == "==" || op == "is")
		}
		return unknown{}
	case "in", "not in":
		return contains(op == "in", a, b)
	case "+":
		return t.add(a, b)
	case "%":
		format, _ := a.(string)
		before, _, _ := strings.Cut(format, "%")
		return unknown{prefix: before}
	case "/":
		folder, _ := a.(unknown)
		if name, is := b.(string); is && folder.path != "" && !path.IsAbs(name) {
			return unknown{path: path.Join(folder.path, name)}
		}
	}
	return arithmetic(op, a, b)
}

func contains(wanted bool, a, b value) value {
	items, ok := itemsOf(b)
	if !ok || len(items) > maxUnroll {
		return unknown{}
	}
	for _, item := range items {
		if is, known := equal(a, item); !known {
			return unknown{}
		} else if is {
			return wanted
		}
	}
	return !wanted
}

func (t builtins) add(a, b value) value {
	switch x := a.(type) {
	case string:
		y, ok := b.(string)
		if ok && len(x)+len(y) <= maxText && t.charge((len(x)+len(y))/16) {
			return x + y
		}
		return unknown{prefix: x}
	case unknown:
		return unknown{prefix: x.prefix}
	case *sequence:
		y, ok := b.(*sequence)
		if ok && x.open == y.open && len(x.items)+len(y.items) <= maxItems && t.charge(len(x.items)+len(y.items)) {
			return &sequence{slices.Concat(x.items, y.items), x.open}
		}
	}
	return arithmetic("+", a, b)
}

// arithmetic computes with small integers; any other result is unknown.
func arithmetic(op string, a, b value) value {
	x, okX := a.(int64)
	y, okY := b.(int64)
	const exact = 1 << 31
	if !okX || !okY || max(x, -x, y, -y) >= exact {
		return unknown{}
	}
	switch op {
	case "+":
		return x + y
	case "-":
		return x - y
	case "*":
		return x * y
	}
	return unknown{}
}

func negate(op string, v value) value {
	if op == "not" {
		if is, known := truth(v); known {
			return !is
		}
		return unknown{}
	}
	if f, is := v.(float64); is && op == "-" {
		return -f
	}
	if op == "-" {
		return arithmetic("*", v, int64(-1))
	}
	return unknown{}
}

// wellKnown returns the value of a dotted path. Scripts run on Linux.
func wellKnown(path string) value {
	if text, ok := constants[path]; ok {
		return text
	}
	if path == "sys.argv" {
		return argvector(0)
	}
	return reference(path)
}

var constants = map[string]string{
	"os.name": "posix", "sys.platform": "linux",
	"argparse.SUPPRESS": suppress, "argparse.REMAINDER": "...", "argparse.OPTIONAL": "?", "argparse.ZERO_OR_MORE": "*", "argparse.ONE_OR_MORE": "+",
}

// truth returns whether Python takes a value for true, and whether that is known.
func truth(v value) (is, known bool) {
	switch v := v.(type) {
	case syntax.None:
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
	case declarer:
		return true, true
	}
	return false, false
}

// ofWords evaluates a call of a function that takes the script's words, or ends the
// script.
func (t builtins) ofWords(name reference, a *arguments) (value, bool) {
	w := t.words
	if leaves(name) {
		t.giveAway(a)
		w.exit(a)
		return unknown{}, true
	}
	if v, is := a.first().(argvector); is {
		switch name {
		case "builtins.len":
			return count(v), true
		case "builtins.list", "builtins.tuple":
			return v, true
		}
	}
	if v, ok := w.convert(name, a); ok {
		return v, true
	}
	if parsesCommandLines(string(name)) {
		w.fail(a.line, string(name)+" may read the arguments")
	}
	for _, v := range a.positional {
		if argv, is := v.(argvector); is && name == "builtins.print" && argv > 0 {
			w.list(argv, false, a.line)
		} else if !is || name != "builtins.print" {
			w.spend(a.line, v)
		}
	}
	return nil, false
}

// spareKeywords returns the value of **kwargs: the keyword arguments of a call that
// are no parameter's.
func spareKeywords(params []syntax.Param, a *arguments) value {
	if a.spread {
		return unknown{}
	}
	m := &mapping{}
	for _, k := range a.keywords {
		if !slices.ContainsFunc(params, func(p syntax.Param) bool { return p.Name == k.name && p.Star == "" }) {
			m.set(k.name, k.value)
		}
	}
	return m
}
