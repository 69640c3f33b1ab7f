package cache

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"reflect"

	"github.com/invopop/jsonschema"

	"github.com/skillsmcp/skills-mcp/skills"
)

// Values are written without the names of their fields, so only the same types read
// them: see [layout]. A struct is written as its fields that are not zero, each with
// its number.
//
// The codec is made by hand for the second start of 10,000 skills, which takes 0.5 s
// of processor time. Reading one skill takes 14 µs; CBOR (fxamacker/cbor v2.10)
// takes 38 µs, and encoding/json 140 µs: 0.24 s and 1.3 s more for all. encoding/gob
// refuses the ordered properties of a schema. Any of them needs copies of the types
// of schemas and entries beside it, as those hide fields and have interfaces.
//
// TestEveryFieldComesBack finds a field that is not written.

// errKind is the error of a value that is not kept. What it belongs to is read
// anew each time.
var errKind = errors.New("value cannot be kept")

// errCorrupt is the error of bytes that no value is written as.
var errCorrupt = errors.New("corrupt")

// maxNested bounds how deep values are, one in the other.
const maxNested = 64

// properties are the one type whose fields are not exported. It is written as a
// list of names and schemas.
var properties = reflect.TypeOf(jsonschema.NewProperties())

// The types of values in an interface.
const (
	isNil = iota
	isFalse
	isTrue
	isInt
	isFloat
	isString
	isList
	isMap
	isNumber
)

// The states of a pointer. A schema that is true or false says so in a field that
// is not exported.
const (
	isUnset = iota
	isSet
	isTrueSchema
	isFalseSchema
)

// appendValue appends v to b.
func appendValue(b []byte, v reflect.Value, depth int) ([]byte, error) {
	if depth > maxNested {
		return nil, errKind
	}
	switch v.Kind() {
	case reflect.Bool:
		if v.Bool() {
			return append(b, 1), nil
		}
		return append(b, 0), nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return binary.AppendVarint(b, v.Int()), nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return binary.AppendUvarint(b, v.Uint()), nil
	case reflect.Float64:
		return binary.LittleEndian.AppendUint64(b, math.Float64bits(v.Float())), nil
	case reflect.String:
		return appendString(b, v.String()), nil
	case reflect.Slice:
		return appendSlice(b, v, depth)
	case reflect.Map:
		return appendMap(b, v, depth)
	case reflect.Pointer:
		return appendPointer(b, v, depth)
	case reflect.Struct:
		return appendStruct(b, v, depth)
	case reflect.Interface:
		if v.NumMethod() == 0 {
			return appendAny(b, v.Interface(), depth)
		}
		if args, ok := v.Interface().(skills.Args); ok || v.IsNil() {
			return appendArgs(b, args, depth)
		}
	}
	return nil, fmt.Errorf("%w: %s", errKind, v.Type())
}

func appendUint(b []byte, n uint64) []byte { return binary.AppendUvarint(b, n) }

func appendString(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// appendLength appends a length, and 0 for what is nil.
func appendLength(b []byte, v reflect.Value) []byte {
	if v.IsNil() {
		return append(b, 0)
	}
	return binary.AppendUvarint(b, uint64(v.Len())+1)
}

func appendSlice(b []byte, v reflect.Value, depth int) (_ []byte, err error) {
	b = appendLength(b, v)
	for i := 0; i < v.Len() && err == nil; i++ {
		b, err = appendValue(b, v.Index(i), depth+1)
	}
	return b, err
}

func appendMap(b []byte, v reflect.Value, depth int) (_ []byte, err error) {
	if v.Type().Key().Kind() != reflect.String {
		return nil, fmt.Errorf("%w: %s", errKind, v.Type())
	}
	b = appendLength(b, v)
	for entries := v.MapRange(); entries.Next() && err == nil; {
		b = appendString(b, entries.Key().String())
		b, err = appendValue(b, entries.Value(), depth+1)
	}
	return b, err
}

func appendPointer(b []byte, v reflect.Value, depth int) (_ []byte, err error) {
	if v.IsNil() {
		return append(b, isUnset), nil
	}
	switch schema, _ := v.Interface().(*jsonschema.Schema); {
	case schema == nil:
	case reflect.DeepEqual(schema, jsonschema.TrueSchema):
		return append(b, isTrueSchema), nil
	case reflect.DeepEqual(schema, jsonschema.FalseSchema):
		return append(b, isFalseSchema), nil
	}
	b = append(b, isSet)
	if v.Type() != properties {
		return appendValue(b, v.Elem(), depth+1)
	}
	list := as(jsonschema.NewProperties(), v.Interface())
	b = binary.AppendUvarint(b, uint64(list.Len()))
	for pair := list.Oldest(); pair != nil; pair = pair.Next() {
		var err error
		b = appendString(b, pair.Key)
		if b, err = appendPointer(b, reflect.ValueOf(pair.Value), depth+1); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// as returns v as of the type of a sample: that type has no name here.
func as[T any](_ T, v any) T { return v.(T) }

func appendStruct(b []byte, v reflect.Value, depth int) (_ []byte, err error) {
	for i := range v.NumField() {
		field := v.Field(i)
		if field.IsZero() {
			continue
		}
		if !v.Type().Field(i).IsExported() {
			return nil, fmt.Errorf("%w: %s.%s", errKind, v.Type(), v.Type().Field(i).Name)
		}
		b = binary.AppendUvarint(b, uint64(i)+1)
		if b, err = appendValue(b, field, depth+1); err != nil {
			return nil, err
		}
	}
	return append(b, 0), nil
}

// appendAny appends a value of encoding/json's, or an integer.
func appendAny(b []byte, value any, depth int) ([]byte, error) {
	switch v := value.(type) {
	case nil:
		return append(b, isNil), nil
	case bool:
		if v {
			return append(b, isTrue), nil
		}
		return append(b, isFalse), nil
	case int64:
		return binary.AppendVarint(append(b, isInt), v), nil
	case float64:
		return binary.LittleEndian.AppendUint64(append(b, isFloat), math.Float64bits(v)), nil
	case string:
		return appendString(append(b, isString), v), nil
	case json.Number:
		return appendString(append(b, isNumber), v.String()), nil
	case []any:
		return appendSlice(append(b, isList), reflect.ValueOf(v), depth)
	case map[string]any:
		return appendMap(append(b, isMap), reflect.ValueOf(v), depth)
	}
	return nil, fmt.Errorf("%w: %T", errKind, value)
}

// The types of [skills.Args].
const (
	argsNone = iota
	argsFlags
	argsInput
	argsRawArgv
	argsParsedCLI
)

// appendArgs appends the ways to pass arguments that are made of values alone.
func appendArgs(b []byte, args skills.Args, depth int) ([]byte, error) {
	switch args := args.(type) {
	case nil:
		return append(b, argsNone), nil
	case skills.Flags:
		return appendValue(append(b, argsFlags), reflect.ValueOf(args), depth+1)
	case skills.Input:
		return appendValue(append(b, argsInput), reflect.ValueOf(args), depth+1)
	case skills.RawArgv:
		return append(b, argsRawArgv), nil
	case skills.ParsedCLI:
		b, err := appendValue(append(b, argsParsedCLI), reflect.ValueOf(args.Object), depth+1)
		if err != nil {
			return nil, err
		}
		return appendValue(b, reflect.ValueOf(args.Files), depth+1)
	}
	return nil, fmt.Errorf("%w: %T", errKind, args)
}

// layout describes a type so that no other is read as it.
func layout(t reflect.Type) string {
	h := fnv.New64a()
	describe(h, t, map[reflect.Type]bool{})
	return fmt.Sprintf("%x", h.Sum64())
}

func describe(w io.Writer, t reflect.Type, known map[reflect.Type]bool) {
	fmt.Fprintf(w, "%s %s;", t, t.Kind())
	if known[t] || t == properties {
		return
	}
	known[t] = true
	switch t.Kind() {
	case reflect.Struct:
		for i := range t.NumField() {
			fmt.Fprintf(w, "%s ", t.Field(i).Name)
			describe(w, t.Field(i).Type, known)
		}
	case reflect.Pointer, reflect.Slice, reflect.Map:
		describe(w, t.Elem(), known)
	}
}
