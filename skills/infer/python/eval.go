package python

import (
	"math"
	"path"
	"strings"
)

// An interp reads a script's constants, and the calls that declare its command
// line, in the order in which Python would execute them. Of a condition that is
// not known it reads each branch, and takes what happens there for uncertain.
type interp struct {
	prog    string
	globals *scope
	notes   *notes
	steps   int // left
	calls   int // depth of calls
	unsure  int // conditions around the statement that are not known
	parses  []parse
	stray   *Note // a declaration whose parser is not known
	unread  *Note // an object that may declare arguments
}

// A parse is a call of parse_args.
type parse struct {
	parser *parser
	line   int
}

// Bounds of what is evaluated. Anything beyond is unknown.
const (
	baseSteps    = 20_000 // and some for each byte of the source
	stepsPerByte = 4
	maxCalls     = 24      // depth of calls of the file's own functions
	maxText      = 1 << 16 // bytes of one text that is put together
	maxItems     = 4096    // of one list
	maxUnroll    = 256     // rounds of a loop
)

// A scope holds the variables of a module, a class or a call.
type scope struct {
	vars    map[string]value
	outer   *scope
	globals map[string]bool // names declared global
}

func newScope(outer *scope) *scope { return &scope{vars: map[string]value{}, outer: outer} }

func (s *scope) lookup(name string) value {
	for ; s != nil; s = s.outer {
		if v, ok := s.vars[name]; ok {
			return v
		}
	}
	return reference("builtins." + name)
}

func (i *interp) charge(n int) bool {
	i.steps -= n
	return i.steps > 0
}

func (i *interp) assign(s *scope, name string, v value) {
	if s.globals[name] {
		s = i.globals
	}
	if before, ok := s.vars[name]; ok && i.unsure > 0 {
		v = eitherOf(before, v)
	}
	s.vars[name] = v
}

// eitherOf returns the value of a variable that has one of two. The script's
// arguments with a caller's instead are the script's arguments.
func eitherOf(a, b value) value {
	for _, pair := range [][2]value{{a, b}, {b, a}} {
		v, _ := pair[0].(unknown)
		if _, is := pair[1].(argvector); is && (isNone(pair[0]) || v.parameter) {
			return pair[1]
		}
	}
	if a == b {
		return a
	}
	return unknown{}
}

// eval returns the value of an expression, and does what its calls do to parsers.
func (i *interp) eval(n *node, s *scope) value {
	if n == nil || !i.charge(1) {
		return unknown{}
	}
	switch n.kind {
	case nConst:
		return n.value
	case nName:
		return s.lookup(n.name)
	case nAttribute:
		return i.attribute(i.eval(n.kids[0], s), n.name)
	case nSubscript:
		return i.subscript(n, s)
	case nCall:
		return i.call(n, s)
	case nTuple, nList, nSet:
		return i.sequence(n, s)
	case nDict:
		return i.dict(n, s)
	case nUnary:
		return negate(n.name, i.eval(n.kids[0], s))
	case nBinary:
		return i.operate(n.name, i.eval(n.kids[0], s), i.eval(n.kids[1], s))
	case nBool:
		return i.boolean(n, s)
	case nTernary:
		return i.ternary(n, s)
	case nFString:
		return i.format(n, s)
	case nLambda:
		fn := *n.value.(*function)
		fn.scope = s
		return &fn
	case nWalrus:
		v := i.eval(n.kids[0], s)
		i.assign(s, n.name, v)
		return v
	case nComprehension:
		i.unsure++
		defer func() { i.unsure-- }()
		s = newScope(s)
		for at := 1; at < len(n.kids); at += 2 {
			i.bind(n.kids[at], unknown{}, s)
		}
	}
	for _, kid := range n.kids {
		i.eval(kid, s)
	}
	return unknown{}
}

func (i *interp) attribute(object value, name string) value {
	switch o := object.(type) {
	case reference:
		return wellKnown(string(o) + "." + name)
	case *class:
		if v, ok := o.member(name); ok {
			return v
		}
	case string, *sequence, *mapping, *parser, *group, *subparsers:
		return method{receiver: o, name: name}
	case unknown, method:
		return method{receiver: unknown{}, name: name}
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

func (i *interp) subscript(n *node, s *scope) value {
	object, index := i.eval(n.kids[0], s), n.kids[1]
	if index.kind == nSlice {
		from, ok := i.eval(index.kids[0], s).(int64)
		if v, is := object.(argvector); is && ok && index.kids[1] == nil && index.kids[2] == nil && from >= 0 {
			return v + argvector(min(from, 1000))
		}
		return unknown{}
	}
	key := i.eval(index, s)
	switch o := object.(type) {
	case reference:
		if isGeneric(o) {
			return &alias{n, s}
		}
	case *sequence:
		at, ok := key.(int64)
		if at < 0 {
			at += int64(len(o.items))
		}
		if ok && o.open != '{' && at >= 0 && at < int64(len(o.items)) {
			return o.items[at]
		}
	case *mapping:
		if v, ok := o.get(key); ok {
			return v
		}
	}
	return unknown{}
}

func (i *interp) sequence(n *node, s *scope) value {
	seq := &sequence{open: map[nodeKind]byte{nTuple: '(', nList: '[', nSet: '{'}[n.kind]}
	certain := true
	for _, kid := range n.kids {
		if kid != nil && kid.kind == nStar {
			items, ok := iterable(i.eval(kid.kids[0], s))
			certain = certain && ok && i.charge(len(items))
			seq.items = append(seq.items, items...)
		} else {
			seq.items = append(seq.items, i.eval(kid, s))
		}
		if len(seq.items) > maxItems {
			certain, seq.items = false, nil
		}
	}
	if !certain {
		return unknown{}
	}
	return seq
}

func (i *interp) dict(n *node, s *scope) value {
	m := &mapping{}
	certain := true
	for at := 0; at+1 < len(n.kids); at += 2 {
		v := i.eval(n.kids[at+1], s)
		if n.kids[at] != nil {
			key := i.eval(n.kids[at], s)
			m.set(key, v)
			certain = certain && !isUnknown(key)
		} else if other, ok := v.(*mapping); ok && i.charge(len(other.keys)) {
			for k, key := range other.keys {
				m.set(key, other.values[k])
			}
		} else {
			certain = false
		}
		certain = certain && len(m.keys) <= maxItems
	}
	if !certain {
		return unknown{}
	}
	return m
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

// boolean evaluates "and" and "or".
func (i *interp) boolean(n *node, s *scope) value {
	left := i.eval(n.kids[0], s)
	is, known := truth(left)
	if known && is == (n.name == "or") {
		return left
	}
	if known {
		return i.eval(n.kids[1], s)
	}
	i.unsure++
	defer func() { i.unsure-- }()
	right := i.eval(n.kids[1], s)
	if _, is := left.(argvector); is && n.name == "or" {
		return left // a default for a script without arguments
	}
	return eitherOf(left, right)
}

func (i *interp) ternary(n *node, s *scope) value {
	is, known := truth(i.eval(n.kids[0], s))
	switch {
	case known && is:
		return i.eval(n.kids[1], s)
	case known:
		return i.eval(n.kids[2], s)
	}
	i.unsure++
	defer func() { i.unsure-- }()
	return eitherOf(i.eval(n.kids[1], s), i.eval(n.kids[2], s))
}

// format evaluates an f-string.
func (i *interp) format(n *node, s *scope) value {
	var b strings.Builder
	for _, part := range n.kids {
		v := i.eval(part, s)
		text, ok := pyStr(v)
		if !ok {
			u, _ := v.(unknown)
			return unknown{prefix: b.String() + u.prefix}
		}
		if b.Len()+len(text) > maxText || !i.charge(len(text)/16) {
			return unknown{}
		}
		b.WriteString(text)
	}
	return b.String()
}

// operate evaluates a binary operator or a comparison.
func (i *interp) operate(op string, a, b value) value {
	switch op {
	case "==", "!=", "is", "is not":
		if is, known := equal(a, b); known {
			return is == (op == "==" || op == "is")
		}
		return unknown{}
	case "in", "not in":
		return contains(op == "in", a, b)
	case "+":
		return i.add(a, b)
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

func (i *interp) add(a, b value) value {
	switch x := a.(type) {
	case string:
		y, ok := b.(string)
		if ok && len(x)+len(y) <= maxText && i.charge((len(x)+len(y))/16) {
			return x + y
		}
		return unknown{prefix: x}
	case unknown:
		return unknown{prefix: x.prefix}
	case *sequence:
		y, ok := b.(*sequence)
		if ok && x.open == y.open && len(x.items)+len(y.items) <= maxItems && i.charge(len(x.items)+len(y.items)) {
			return &sequence{append(append([]value{}, x.items...), y.items...), x.open}
		}
	}
	return arithmetic("+", a, b)
}

// arithmetic computes what certainly does not overflow.
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
