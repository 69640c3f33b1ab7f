package python

import (
	"math"
	"path"
	"strings"
)

// eval returns the value of an expression, and does what its calls do to
// parsers.
func (i *interp) eval(n *node, s *scope) value {
	if n == nil || !i.charge(1) {
		return unknown{}
	}
	switch n.kind {
	case nConst:
		return n.value
	case nName:
		return i.lookup(s, n.name)
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
		return i.either(n, s)
	case nTernary:
		return i.ternary(n, s)
	case nFString:
		return i.concatenate(n, s)
	case nComprehension:
		return i.comprehension(n, s)
	case nLambda:
		fn := *n.value.(*function)
		fn.scope = s
		return &fn
	case nWalrus:
		v := i.eval(n.kids[0], s)
		i.assign(s, n.name, v)
		return v
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
	case *instance:
		if v, ok := o.attrs[name]; ok {
			return v
		}
		return bound(o, o.class, name)
	case *class:
		if v, ok := o.member(name); ok {
			return v
		}
		return unknown{}
	case *action:
		return o.attribute(name)
	case *parser:
		if o.class != nil {
			if m, ok := bound(o, o.class, name).(method); ok && m.function != nil {
				return m
			}
		}
		return method{receiver: o, name: name}
	case string, *sequence, *mapping, *group, *subparsers:
		return method{receiver: o, name: name}
	case unknown, method:
		return method{receiver: unknown{}, name: name}
	}
	return unknown{}
}

// wellKnown returns what a dotted path stands for. Scripts run on Linux.
func wellKnown(path string) value {
	switch path {
	case "os.name":
		return "posix"
	case "sys.platform":
		return "linux"
	case "sys.argv":
		return argvector{}
	case "argparse.REMAINDER":
		return "..."
	case "argparse.SUPPRESS":
		return "==SUPPRESS=="
	case "argparse.OPTIONAL":
		return "?"
	case "argparse.ZERO_OR_MORE":
		return "*"
	case "argparse.ONE_OR_MORE":
		return "+"
	default:
		return reference(path)
	}
}

func bound(receiver value, c *class, name string) value {
	member, ok := c.member(name)
	if !ok {
		return unknown{}
	}
	if fn, ok := member.(*function); ok {
		return method{receiver, name, fn}
	}
	return member
}

// member finds what a class, or one that it comes from, defines.
func (c *class) member(name string) (value, bool) {
	for depth := 0; c != nil && depth < maxCalls; depth++ {
		if v, ok := c.members[name]; ok {
			return v, true
		}
		if len(c.parents) == 0 {
			break
		}
		c, _ = c.parents[0].(*class)
	}
	return nil, false
}

func (i *interp) subscript(n *node, s *scope) value {
	object := i.eval(n.kids[0], s)
	if n.kids[1].kind == nSlice {
		return i.slice(object, n.kids[1], s)
	}
	key := i.eval(n.kids[1], s)
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

func (i *interp) slice(object value, n *node, s *scope) value {
	from, to, step := i.eval(n.kids[0], s), i.eval(n.kids[1], s), n.kids[2]
	start, ok := from.(int64)
	if n.kids[0] == nil {
		start, ok = 0, true
	}
	if v, is := object.(argvector); is && ok && n.kids[1] == nil && step == nil && start >= 0 {
		return argvector{v.from + int(min(start, 1000))}
	}
	seq, is := object.(*sequence)
	if !is || !ok || step != nil || seq.open == '{' {
		return unknown{}
	}
	end, ok := to.(int64)
	if n.kids[1] == nil {
		end, ok = int64(len(seq.items)), true
	}
	start, end = within(start, len(seq.items)), within(end, len(seq.items))
	if !ok || start > end {
		return unknown{}
	}
	return &sequence{seq.items[start:end:end], seq.open}
}

func within(at int64, length int) int64 {
	if at < 0 {
		at += int64(length)
	}
	return min(max(at, 0), int64(length))
}

func (i *interp) sequence(n *node, s *scope) value {
	seq := &sequence{open: map[nodeKind]byte{nTuple: '(', nList: '[', nSet: '{'}[n.kind]}
	certain := true
	for _, kid := range n.kids {
		if kid != nil && kid.kind == nStar {
			items, ok := iterable(i.eval(kid.kids[0], s))
			certain = certain && ok && i.charge(len(items)/4)
			seq.items = append(seq.items, items...)
		} else {
			seq.items = append(seq.items, i.eval(kid, s))
		}
		if len(seq.items) > maxItems {
			certain = false
			seq.items = nil
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
		if n.kids[at] == nil {
			other, ok := v.(*mapping)
			if certain = certain && ok; ok {
				i.charge(len(other.keys))
				for k, key := range other.keys {
					m.set(key, other.values[k])
				}
			}
			continue
		}
		key := i.eval(n.kids[at], s)
		m.set(key, v)
		certain = certain && !isUnknown(key)
		if len(m.keys) > maxItems {
			return unknown{}
		}
	}
	if !certain {
		return unknown{}
	}
	return m
}

func negate(op string, v value) value {
	switch op {
	case "not":
		if is, known := truth(v); known {
			return !is
		}
	case "-":
		switch v := v.(type) {
		case int64:
			if v != math.MinInt64 {
				return -v
			}
		case float64:
			return -v
		}
	case "+":
		switch v.(type) {
		case int64, float64:
			return v
		}
	}
	return unknown{}
}

// either evaluates "and" and "or".
func (i *interp) either(n *node, s *scope) value {
	left := i.eval(n.kids[0], s)
	is, known := truth(left)
	if known && is == (n.name == "or") {
		return left
	}
	if known {
		return i.eval(n.kids[1], s)
	}
	i.unsure++
	right := i.eval(n.kids[1], s)
	i.unsure--
	if _, is := left.(argvector); is && n.name == "or" {
		return left // without arguments, the script has some of its own
	}
	return alternatives(left, right)
}

// alternatives is one of two values. That of a script's arguments with what a
// caller may give instead is the script's arguments.
func alternatives(a, b value) value {
	if same(a, b) {
		return a
	}
	for _, pair := range [][2]value{{a, b}, {b, a}} {
		if _, is := pair[0].(argvector); !is {
			continue
		}
		if v, free := pair[1].(unknown); isNone(pair[1]) || free && v.parameter {
			return pair[0]
		}
	}
	return unknown{}
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
	return alternatives(i.eval(n.kids[1], s), i.eval(n.kids[2], s))
}

// concatenate puts a text together of the parts of a string with replacement
// fields.
func (i *interp) concatenate(n *node, s *scope) value {
	var b strings.Builder
	for _, part := range n.kids {
		v := i.eval(part, s)
		text, ok := pyStr(v)
		if !ok {
			if u, is := v.(unknown); is {
				b.WriteString(u.prefix)
			}
			return unknown{prefix: b.String()}
		}
		if b.Len()+len(text) > maxText || !i.charge(len(text)/16) {
			return unknown{}
		}
		b.WriteString(text)
	}
	return b.String()
}

func (i *interp) comprehension(n *node, s *scope) value {
	inner := newScope(s)
	for at := 1; at+1 < len(n.kids); at += 2 {
		i.eval(n.kids[at+1], inner)
		i.bind(n.kids[at], unknown{}, inner)
	}
	i.unsure++
	i.eval(n.kids[0], inner)
	i.unsure--
	return unknown{}
}

// operate evaluates a binary operator or a comparison.
func (i *interp) operate(op string, a, b value) value {
	switch op {
	case "==", "!=":
		if is, known := equal(a, b); known {
			return is == (op == "==")
		}
		return unknown{}
	case "is", "is not":
		return identity(op, a, b)
	case "in", "not in":
		return contains(op, a, b)
	case "+":
		return i.add(a, b)
	case "%":
		return i.percent(a, b)
	case "/":
		folder, ok := a.(unknown)
		if name, is := b.(string); is && ok && folder.path != "" && !path.IsAbs(name) {
			return unknown{path: path.Join(folder.path, name)}
		}
	}
	return arithmetic(op, a, b)
}

func identity(op string, a, b value) value {
	for _, v := range []value{a, b} {
		if _, elsewhere := v.(reference); elsewhere || isUnknown(v) {
			return unknown{}
		}
	}
	if isNone(a) || isNone(b) {
		return (isNone(a) && isNone(b)) == (op == "is")
	}
	return unknown{}
}

func contains(op string, a, b value) value {
	items, ok := iterable(b)
	if seq, is := b.(*sequence); is {
		items, ok = seq.items, true
	}
	if !ok || len(items) > maxUnroll {
		return unknown{}
	}
	for _, item := range items {
		is, known := equal(a, item)
		if !known {
			return unknown{}
		}
		if is {
			return op == "in"
		}
	}
	return op == "not in"
}

func (i *interp) add(a, b value) value {
	switch x := a.(type) {
	case string:
		y, ok := b.(string)
		if !ok {
			return unknown{prefix: x}
		}
		if len(x)+len(y) <= maxText && i.charge((len(x)+len(y))/16) {
			return x + y
		}
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

func arithmetic(op string, a, b value) value {
	x, okX := a.(int64)
	y, okY := b.(int64)
	if okX && okY {
		return integers(op, x, y)
	}
	f, okF := toFloat(a)
	g, okG := toFloat(b)
	if !okF || !okG {
		return unknown{}
	}
	switch op {
	case "+":
		return finite(f + g)
	case "-":
		return finite(f - g)
	case "*":
		return finite(f * g)
	case "/":
		return finite(f / g)
	}
	return unknown{}
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

func finite(f float64) value {
	if math.IsInf(f, 0) || math.IsNaN(f) {
		return unknown{}
	}
	return f
}

// integers computes what certainly does not overflow.
func integers(op string, x, y int64) value {
	const large = 1 << 31
	small := -large < x && x < large && -large < y && y < large
	switch {
	case op == "/" && y != 0:
		return finite(float64(x) / float64(y))
	case op == "**" && small && y >= 0 && y < 63:
		return power(x, y)
	case op == "<<" && small && y >= 0 && y < 31:
		return x << y
	case op == "//" && y > 0 && x >= 0:
		return x / y
	case op == "%" && y > 0 && x >= 0:
		return x % y
	case !small && op == "*" && (x > math.MaxInt32 && x < 1<<50 && y > 0 && y < 1<<12):
		return x * y
	case !small:
		return unknown{}
	}
	switch op {
	case "+":
		return x + y
	case "-":
		return x - y
	case "*":
		return x * y
	case "<":
		return x < y
	case "<=":
		return x <= y
	case ">":
		return x > y
	case ">=":
		return x >= y
	}
	return unknown{}
}

func power(x, y int64) value {
	result := int64(1)
	for range y {
		if result > math.MaxInt64/(1<<32) || result < math.MinInt64/(1<<32) {
			return unknown{}
		}
		result *= x
	}
	return result
}
