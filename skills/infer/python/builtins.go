package python

import (
	"math"
	"path"
	"slices"
	"strings"
)

// plainFunction evaluates a call of a function of values.
func (r *reading) plainFunction(name reference, a *arguments) value {
	text, isText := a.first().(string)
	switch name {
	case "builtins.list", "builtins.tuple", "builtins.sorted", "builtins.set", "builtins.frozenset":
		return r.collection(name.last(), a)
	case "builtins.range":
		return r.rangeOf(a)
	case "builtins.dict":
		if !a.spread && len(a.positional) == 0 {
			return spareKeywords(&function{}, a)
		}
		return unknown{}
	case "builtins.str":
		if named, ok := a.first().(unknown); ok && named.path != "" {
			return named
		}
		if text, ok := pyStr(a.first()); ok {
			return text
		}
	case "builtins.isinstance":
		if kind, ok := (&arguments{positional: a.positional[min(1, len(a.positional)):]}).first().(reference); ok && isText {
			return kind == "builtins.str"
		}
	case "pathlib.Path", "pathlib.PurePath":
		return unknown{path: text}
	case "pathlib.Path.cwd", "os.getcwd":
		return unknown{path: "."}
	case "os.path.basename":
		if isText {
			return path.Base(text)
		}
	case "textwrap.dedent", "inspect.cleandoc":
		if isText {
			return cleanDoc(text)
		}
	case "argcomplete.autocomplete", "builtins.print", "builtins.repr", "builtins.type", "builtins.id", "builtins.len", "builtins.vars", "builtins.hasattr", "builtins.callable":
		return unknown{} // they add nothing to a parser
	}
	giveAway(a)
	return unknown{}
}

func (r *reading) collection(kind string, a *arguments) value {
	items, ok := itemsOf(a.first())
	if len(a.positional) == 0 {
		return &sequence{open: '['}
	}
	if v, is := a.first().(argvector); is && kind == "list" {
		return v
	}
	if !ok || !r.charge(len(items)) {
		return unknown{}
	}
	switch items = slices.Clone(items); kind {
	case "tuple":
		return &sequence{items, '('}
	case "list":
		return &sequence{items, '['}
	case "sorted":
		return sorted(items, a)
	}
	return &sequence{items, '{'}
}

// sorted sorts texts.
func sorted(items []value, a *arguments) value {
	if len(a.keywords) > 0 || slices.ContainsFunc(items, func(v value) bool { _, ok := v.(string); return !ok }) {
		return unknown{}
	}
	slices.SortFunc(items, func(a, b value) int { return strings.Compare(a.(string), b.(string)) })
	return &sequence{items, '['}
}

// rangeOf evaluates range(to) and range(from, to).
func (r *reading) rangeOf(a *arguments) value {
	bounds := [2]int64{}
	for at, v := range a.positional {
		n, ok := v.(int64)
		if !ok || at > 1 {
			return unknown{}
		}
		bounds[at] = n
	}
	if len(a.positional) == 1 {
		bounds = [2]int64{0, bounds[0]}
	}
	if bounds[0] < -1<<40 || bounds[1] > 1<<40 || bounds[1]-bounds[0] > maxItems || !r.charge(int(max(bounds[1]-bounds[0], 0))) {
		return unknown{}
	}
	seq := &sequence{open: '['}
	for n := bounds[0]; n < bounds[1]; n++ {
		seq.items = append(seq.items, n)
	}
	return seq
}

// textMethod evaluates a method of a string.
func (r *reading) textMethod(s, name string, a *arguments) value {
	if !r.charge(len(s) / 16) {
		return unknown{}
	}
	if len(a.positional) == 0 && len(a.keywords) == 0 {
		switch name {
		case "strip":
			return strings.TrimSpace(s)
		case "lower":
			return strings.ToLower(s)
		case "upper":
			return strings.ToUpper(s)
		case "split":
			if words := strings.Fields(s); len(words) <= maxItems {
				return textSequence(words)
			}
		}
	}
	switch name {
	case "join":
		return r.join(s, a.first())
	case "replace":
		return replace(s, a)
	case "format":
		before, _, _ := strings.Cut(s, "{")
		return unknown{prefix: before}
	}
	return unknown{}
}

func (r *reading) join(separator string, v value) value {
	items, ok := iterable(v)
	if !ok {
		return unknown{}
	}
	texts, size := make([]string, len(items)), 0
	for at, item := range items {
		if texts[at], ok = item.(string); !ok {
			return unknown{}
		}
		size += len(texts[at]) + len(separator)
	}
	if size > maxText || !r.charge(size/16) {
		return unknown{}
	}
	return strings.Join(texts, separator)
}

func replace(s string, a *arguments) value {
	if len(a.positional) != 2 {
		return unknown{}
	}
	from, okFrom := a.positional[0].(string)
	to, okTo := a.positional[1].(string)
	if !okFrom || !okTo || from == "" || strings.Count(s, from)*len(to)+len(s) > maxText {
		return unknown{}
	}
	return strings.ReplaceAll(s, from, to)
}

// sequenceMethod applies a method to a list. After a method that is not
// known, the list has one unknown item.
func (r *reading) sequenceMethod(s *sequence, name string, a *arguments) {
	switch name {
	case "index", "count", "copy":
		return
	case "append", "add":
		if r.unsure == 0 && len(s.items) < maxItems {
			s.items = append(s.items, a.first())
			return
		}
	}
	s.items = []value{unknown{}}
}

// mappingMethod evaluates a method of a dict.
func (r *reading) mappingMethod(m *mapping, name string, a *arguments) value {
	switch name {
	case "keys":
		return &sequence{slices.Clip(m.keys), '['}
	case "values":
		return &sequence{slices.Clip(m.values), '['}
	case "items":
		seq := &sequence{open: '['}
		if !r.charge(len(m.keys)) {
			return unknown{}
		}
		for at := range m.keys {
			seq.items = append(seq.items, &sequence{[]value{m.keys[at], m.values[at]}, '('})
		}
		return seq
	case "get":
		if v, ok := m.get(a.first()); ok {
			return v
		}
		return unknown{}
	case "copy":
		return unknown{}
	}
	*m = mapping{keys: []value{unknown{}}, values: []value{unknown{}}}
	return unknown{}
}

// operate evaluates a binary operator or a comparison.
func (r *reading) operate(op string, a, b value) value {
	switch op {
	case "==", "!=", "is", "is not":
		if is, known := equal(a, b); known {
			return is == (op == "==" || op == "is")
		}
		return unknown{}
	case "in", "not in":
		return contains(op == "in", a, b)
	case "+":
		return r.add(a, b)
	case "%":
		format, _ := a.(string)
		before, _, _ := strings.Cut(format, "%")
		return unknown{prefix: before}
	case "/":
		folder, ok := a.(unknown)
		if name, is := b.(string); is && ok && folder.path != "" && !path.IsAbs(name) {
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

func (r *reading) add(a, b value) value {
	switch x := a.(type) {
	case string:
		y, ok := b.(string)
		if ok && len(x)+len(y) <= maxText && r.charge((len(x)+len(y))/16) {
			return x + y
		}
		return unknown{prefix: x}
	case unknown:
		return unknown{prefix: x.prefix}
	case *sequence:
		y, ok := b.(*sequence)
		if ok && x.open == y.open && len(x.items)+len(y.items) <= maxItems && r.charge(len(x.items)+len(y.items)) {
			return &sequence{append(append([]value{}, x.items...), y.items...), x.open}
		}
	}
	return arithmetic("+", a, b)
}

// arithmetic computes numbers that certainly do not overflow.
func arithmetic(op string, a, b value) value {
	x, okX := toFloat(a)
	y, okY := toFloat(b)
	_, whole := a.(int64)
	_, wholeToo := b.(int64)
	var f float64
	switch {
	case !okX || !okY || y == 0 && (op == "/" || op == "//"):
		return unknown{}
	case op == "+":
		f = x + y
	case op == "-":
		f = x - y
	case op == "*":
		f = x * y
	case op == "/":
		f, whole = x/y, false
	case op == "//" && whole && wholeToo:
		f = math.Floor(x / y)
	case op == "**" && y >= 0:
		f = math.Pow(x, y)
	case op == "<<" && whole && wholeToo && y >= 0:
		f = x * math.Pow(2, y)
	default:
		return unknown{}
	}
	switch {
	case math.IsInf(f, 0) || math.IsNaN(f):
		return unknown{}
	case !whole || !wholeToo:
		return f
	case math.Abs(f) < 1<<53 && math.Abs(x) < 1<<53 && math.Abs(y) < 1<<53:
		return int64(f)
	}
	return unknown{}
}

func negate(op string, v value) value {
	is, known := truth(v)
	if op == "not" && known {
		return !is
	}
	switch v := v.(type) {
	case int64:
		if op == "-" && v != math.MinInt64 {
			return -v
		}
	case float64:
		if op == "-" {
			return -v
		}
	}
	return unknown{}
}

// wellKnown returns the value of a dotted path. Scripts run on Linux.
func wellKnown(path string) value {
	switch path {
	case "os.name":
		return "posix"
	case "sys.platform":
		return "linux"
	case "sys.argv":
		return argvector(0)
	case "argparse.REMAINDER":
		return "..."
	case "argparse.SUPPRESS":
		return suppress
	case "argparse.OPTIONAL":
		return "?"
	case "argparse.ZERO_OR_MORE":
		return "*"
	case "argparse.ONE_OR_MORE":
		return "+"
	}
	return reference(path)
}

// spareKeywords returns the value of **kwargs.
func spareKeywords(fn *function, a *arguments) value {
	if a.spread {
		return unknown{}
	}
	m := &mapping{}
	for _, k := range a.keywords {
		if !slices.ContainsFunc(fn.params, func(p param) bool { return p.name == k.name && p.star == "" }) {
			m.set(k.name, k.value)
		}
	}
	return m
}
