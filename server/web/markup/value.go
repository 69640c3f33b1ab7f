package markup

import (
	"fmt"
	"reflect"
)

// indirect returns the value that a pointer or an interface holds.
func indirect(v reflect.Value) reflect.Value {
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	return v
}

// concrete returns a value as an any; nil if there is none.
func concrete(v reflect.Value) any {
	if v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	if !v.IsValid() {
		return nil
	}
	return v.Interface()
}

// assignable returns a value as one of the type t: as it is, as what it points to or is
// held by, or without the name of its type.
func assignable(v reflect.Value, t reflect.Type) (reflect.Value, bool) {
	if v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	inner := indirect(v)
	switch {
	case !v.IsValid():
		return reflect.Zero(t), true
	case v.Type().AssignableTo(t):
		return v, true
	case inner.IsValid() && inner.Type().AssignableTo(t):
		return inner, true
	case v.CanAddr() && v.Addr().Type().AssignableTo(t):
		return v.Addr(), true
	case v.Kind() == t.Kind() && v.CanConvert(t), v.CanInt() && t.Kind() == reflect.Int:
		return v.Convert(t), true
	}
	return v, false
}

// typeName returns the name of a value's type, for errors.
func typeName(v reflect.Value) string {
	if !v.IsValid() {
		return "nothing"
	}
	return v.Type().String()
}

// print returns a value as text: "" for none.
func print(v reflect.Value) string {
	switch value := concrete(v).(type) {
	case nil:
		return ""
	case fmt.Stringer, error:
		return fmt.Sprint(value)
	}
	if v = indirect(v); !v.IsValid() {
		return ""
	}
	return fmt.Sprint(v.Interface())
}

// truth reports whether a value is not the zero of its kind: false, 0, nothing or empty.
// A struct is always true.
func truth(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Invalid:
		return false
	case reflect.Interface:
		return truth(v.Elem())
	case reflect.Slice, reflect.Map, reflect.String, reflect.Array:
		return v.Len() > 0
	case reflect.Struct:
		return true
	}
	return !v.IsZero()
}

// builtins returns the functions that every template has, with the meaning of those of
// text/template.
func builtins() map[string]any {
	return map[string]any{
		"and": true, "or": true, // see shortCircuit
		"not":   func(v any) bool { return !truth(reflect.ValueOf(v)) },
		"eq":    equal,
		"ne":    func(a, b any) bool { return basic(a) != basic(b) },
		"lt":    func(a, b int) bool { return a < b },
		"gt":    func(a, b int) bool { return a > b },
		"ge":    func(a, b int) bool { return a >= b },
		"len":   length,
		"index": element,
		"print": fmt.Sprint, "printf": fmt.Sprintf,
	}
}

// equal reports whether a value is equal to one of the others.
func equal(value, first any, others ...any) bool {
	for _, other := range append(others, first) {
		if basic(value) == basic(other) {
			return true
		}
	}
	return false
}

// basic returns a string, a bool or a number without its type's name.
func basic(value any) any {
	switch v := indirect(reflect.ValueOf(value)); {
	case v.Kind() == reflect.String:
		return v.String()
	case v.Kind() == reflect.Bool:
		return v.Bool()
	case v.CanInt():
		return v.Int()
	}
	return value
}

// length returns the length of a list, a map or a text in bytes.
func length(list any) (int, error) {
	switch v := indirect(reflect.ValueOf(list)); v.Kind() {
	case reflect.Slice, reflect.Array, reflect.Map, reflect.String:
		return v.Len(), nil
	}
	return 0, fmt.Errorf("a %T has no length", list)
}

// element returns an element of a list.
func element(list any, i int) (any, error) {
	v := indirect(reflect.ValueOf(list))
	if kind := v.Kind(); kind != reflect.Slice && kind != reflect.Array {
		return nil, fmt.Errorf("a %T has no elements", list)
	}
	if i < 0 || i >= v.Len() {
		return nil, fmt.Errorf("there is no element %d", i)
	}
	return v.Index(i).Interface(), nil
}
