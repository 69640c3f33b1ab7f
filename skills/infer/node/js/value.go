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
// "commander.Command".
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
	Class  *Class // of which it is an instance
	Level  int    // see scope
}

func NewObject(level int) *Object { return &Object{Values: map[string]Value{}, Level: level} }

func (o *Object) Get(key string) (Value, bool) {
	v, ok := o.Values[key]
	return v, ok
}

func (o *Object) Set(key string, v Value) {
	if _, ok := o.Values[key]; !ok {
		o.Keys = append(o.Keys, key)
	}
	o.Values[key] = v
}

// A Closure is a function with the scope that it was created in.
type Closure struct {
	*syntax.Function
	*Counter
	Scope *Scope
	This  Value
}

// A Counter counts the calls of a function, by all closures of it.
type Counter struct {
	Busy  int // that are being evaluated
	Count int // so far
}

// A Class is a class with its scope.
type Class struct {
	*syntax.Class
	Scope  *Scope
	Base   *Class
	Static *Object
}

// A Regexp is a regular expression.
type Regexp string

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
	This  Value
	Level int
}

func NewScope(outer *Scope, level int) *Scope {
	s := &Scope{Vars: map[string]Value{}, outer: outer, Level: level}
	if outer != nil {
		s.This = outer.This
	}
	return s
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
	case *Array, *Object, *Closure, *Class, Regexp:
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

// Last returns the last part of a reference: "Command" of "commander.Command".
func (r Reference) Last() string { return string(r[strings.LastIndexByte(string(r), '.')+1:]) }

// Module returns the first part: "commander" of "commander.Command".
func (r Reference) Module() string {
	name, _, _ := strings.Cut(string(r), ".")
	return name
}

// maxBases bounds the classes that one extends.
const maxBases = 16

// Method returns a method of the class or of one that it extends.
func (c *Class) Method(name string) *syntax.Member {
	for depth := 0; c != nil && depth < maxBases; c, depth = c.Base, depth+1 {
		for i := range c.Members {
			if m := &c.Members[i]; m.Name == name && !m.Static && m.Value != nil && m.Value.Kind == syntax.FunctionLiteral && !m.Accessor {
				return m
			}
		}
	}
	return nil
}

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

func IsString(v Value) bool {
	_, is := v.(string)
	return is
}

func First(args []Value) Value {
	if len(args) == 0 {
		return Undefined{}
	}
	return args[0]
}

// At returns an argument of a call, or undefined.
func At(args []Value, at int) Value {
	if at >= len(args) {
		return Undefined{}
	}
	return args[at]
}

// Entry returns a member of an object that is a constant, or undefined. It reports
// false where it is not known.
func Entry(o *Object, keys ...string) (Value, bool) {
	if o == nil {
		return Undefined{}, true
	}
	for _, key := range keys {
		if v, ok := o.Get(key); ok {
			_, isFunction := v.(*Closure)
			return v, IsConstant(v) || isFunction || !IsUnknown(v)
		}
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

func StringOf(v Value) string {
	text, _ := v.(string)
	return text
}
