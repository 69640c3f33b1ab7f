// Package js has the values of a JavaScript program, among them those that come from the
// command line, and the arguments that they show.
package js

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/infer/node/syntax"
)

// A Value is one of JavaScript: a string, a float64, a bool, or one of the types below.
type Value any

// undefined and null are the values of these names.
type (
	Undefined struct{}
	Null      struct{}
)

// An Unknown is a value that only a run could produce.
type Unknown struct{}

// Never is the value of a call that does not return.
type Never struct{}

// A Reference is the name of something outside of the source: "process.exit" or
// "util.parseArgs".
type Reference string

// An Array is a list of values. An open one may have others.
type Array struct {
	Items []Value
	Open  bool
}

// An Object has values by name, in order. An open one may have others.
type Object struct {
	Keys   []string
	Values map[string]Value
	Open   bool
	Level  int // see Scope
}

// NewObject returns an empty object.
func NewObject(level int) *Object { return &Object{Values: map[string]Value{}, Level: level} }

// Get returns a member. It reports false where there is none.
func (o *Object) Get(key string) (Value, bool) {
	v, ok := o.Values[key]
	return v, ok
}

// Set sets a member.
func (o *Object) Set(key string, v Value) {
	if _, ok := o.Values[key]; !ok {
		o.Keys = append(o.Keys, key)
	}
	o.Values[key] = v
}

// A Closure is a function with the scope that it was created in.
type Closure struct {
	*syntax.Function
	Scope *Scope
}

// A Method is a method of a value before its call.
type Method struct {
	Receiver Value
	Name     string
}

// A Scope has the variables of a block. Its level is the number of conditions that it
// was entered under: what is assigned under more of them may not be.
type Scope struct {
	Vars  map[string]Value
	outer *Scope
	Level int
}

// NewScope returns an empty scope inside of another one.
func NewScope(outer *Scope, level int) *Scope {
	return &Scope{Vars: map[string]Value{}, outer: outer, Level: level}
}

// Find returns the scope with a variable; nil where there is none.
func (s *Scope) Find(name string) *Scope {
	for ; s != nil; s = s.outer {
		if _, ok := s.Vars[name]; ok {
			return s
		}
	}
	return nil
}

// IsUnknown reports whether only a run could produce a value.
func IsUnknown(v Value) bool {
	_, is := v.(Unknown)
	return is || v == nil
}

// IsNone reports whether a value is undefined or null.
func IsNone(v Value) bool { return v == Undefined{} || v == Null{} }

// Truth returns whether a value counts as true, and whether that is known.
func Truth(v Value) (is, known bool) {
	switch v := v.(type) {
	case Undefined, Null:
		return false, true
	case bool:
		return v, true
	case float64:
		return v != 0 && v == v, true
	case string:
		return v != "", true
	case *Array, *Object, *Closure:
		return true, true
	}
	return false, false
}

// IsConstant reports whether a value is a string, a number, a bool, or none.
func IsConstant(v Value) bool {
	switch v.(type) {
	case string, float64, bool, Undefined, Null:
		return true
	}
	return false
}

// ToJSON returns a constant, or a list of them, as a value of encoding/json. It reports
// false for any other value.
func ToJSON(v Value) (any, bool) {
	switch v := v.(type) {
	case string, bool:
		return v, true
	case float64:
		return number(v), !math.IsInf(v, 0)
	case *Array:
		list := []any{}
		for _, item := range v.Items {
			if _, nested := item.(*Array); nested {
				return nil, false
			}
			one, ok := ToJSON(item)
			if !ok {
				return nil, false
			}
			list = append(list, one)
		}
		return list, !v.Open
	}
	return nil, false
}

// ToText returns a constant as a template renders it.
func ToText(v Value) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case float64:
		return string(number(v)), true
	case bool:
		if v {
			return "true", true
		}
		return "false", true
	}
	return "", false
}

// Last returns the last part of a reference: "argv" of "process.argv".
func (r Reference) Last() string { return string(r[strings.LastIndexByte(string(r), '.')+1:]) }

// ParseNumber returns the number that a literal of the source is.
func ParseNumber(text string) Value {
	text = strings.ReplaceAll(strings.TrimSuffix(text, "n"), "_", "")
	if f, err := strconv.ParseFloat(text, 64); err == nil {
		return f
	}
	if i, err := strconv.ParseInt(text, 0, 64); err == nil {
		return float64(i)
	}
	return Unknown{}
}

// number writes a number as JavaScript does.
func number(f float64) json.Number {
	if f == math.Trunc(f) && math.Abs(f) < 1e21 {
		return json.Number(strconv.FormatFloat(f, 'f', -1, 64))
	}
	return json.Number(strconv.FormatFloat(f, 'g', -1, 64))
}

// First returns the first argument of a call, or undefined.
func First(args []Value) Value {
	if len(args) == 0 {
		return Undefined{}
	}
	return args[0]
}

// Entry returns a member of an object, or undefined. It reports false where it is not
// known.
func Entry(o *Object, key string) (Value, bool) {
	if o == nil {
		return Undefined{}, true
	}
	if v, ok := o.Get(key); ok {
		return v, !IsUnknown(v)
	}
	return Undefined{}, !o.Open
}

// TextsOf returns a text, or the texts of a list. It reports false for anything else.
func TextsOf(v Value) ([]string, bool) {
	switch v := v.(type) {
	case string:
		return []string{v}, true
	case Undefined:
		return nil, true
	case *Array:
		var all []string
		for _, item := range v.Items {
			text, ok := item.(string)
			if !ok {
				return nil, false
			}
			all = append(all, text)
		}
		return all, !v.Open
	}
	return nil, false
}

// StringOf returns a text, and "" of any other value.
func StringOf(v Value) string {
	text, _ := v.(string)
	return text
}
