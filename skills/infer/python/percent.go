package python

import (
	"strconv"
	"strings"
)

// percent evaluates "text" % values, and integers' remainder.
func (i *interp) percent(a, b value) value {
	format, ok := a.(string)
	if !ok {
		return arithmetic("%", a, b)
	}
	text, ok := interpolate(format, func(name string) (value, bool) { return nil, false }, positional(b))
	if !ok || len(text) > maxText || !i.charge(len(text)/16) {
		before, _, _ := strings.Cut(format, "%")
		return unknown{prefix: before}
	}
	return text
}

// positional hands out the values of a tuple, or the one value, in turn.
func positional(v value) func() (value, bool) {
	items := []value{v}
	if seq, ok := v.(*sequence); ok && seq.open == '(' {
		items = seq.items
	}
	return func() (value, bool) {
		if len(items) == 0 {
			return nil, false
		}
		first := items[0]
		items = items[1:]
		return first, true
	}
}

// interpolate fills in %s, %d, %r and %f, each with a name in brackets or
// without. It reports false for anything else, and for values that are not
// known.
func interpolate(format string, named func(string) (value, bool), next func() (value, bool)) (string, bool) {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(format, "%")
		b.WriteString(before)
		if !found {
			return b.String(), true
		}
		if strings.HasPrefix(after, "%") {
			b.WriteByte('%')
			format = after[1:]
			continue
		}
		var v value
		var ok bool
		if strings.HasPrefix(after, "(") {
			name, rest, closed := strings.Cut(after[1:], ")")
			if !closed {
				return "", false
			}
			v, ok = named(name)
			after = rest
		} else {
			v, ok = next()
		}
		if !ok {
			return "", false
		}
		text, n, ok := conversion(after, v)
		if !ok {
			return "", false
		}
		b.WriteString(text)
		format = after[n:]
	}
}

// conversion renders one value by the conversion that s starts with.
func conversion(s string, v value) (text string, n int, ok bool) {
	if s == "" {
		return "", 0, false
	}
	switch s[0] {
	case 's':
		text, ok = pyStr(v)
		return text, 1, ok
	case 'r':
		text, ok = pyRepr(v)
		return text, 1, ok
	case 'd', 'i':
		number, ok := toFloat(v)
		return strconv.FormatFloat(number, 'f', 0, 64), 1, ok && number == float64(int64(number))
	case 'f':
		number, ok := toFloat(v)
		return strconv.FormatFloat(number, 'f', 6, 64), 1, ok
	case '.':
		if len(s) > 2 && isDigit(s[1]) && s[2] == 'f' {
			number, ok := toFloat(v)
			return strconv.FormatFloat(number, 'f', int(s[1]-'0'), 64), 3, ok
		}
	}
	return "", 0, false
}
