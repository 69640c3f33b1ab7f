package cache

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"reflect"

	"github.com/invopop/jsonschema"

	"github.com/skillsmcp/skills-mcp/skills"
)

// A reader reads what was written by [appendValue]. The strings that it returns
// are parts of its text, and keep it. After the first fault it reads nothing more.
type reader struct {
	rest   string
	broken bool
}

// firstRoom is how many elements there is room for before any is read: what is
// damaged may claim any number.
const firstRoom = 8

func (r *reader) fail() { r.rest, r.broken = "", true }

func (r *reader) byte() byte {
	if r.rest == "" {
		r.fail()
		return 0
	}
	b := r.rest[0]
	r.rest = r.rest[1:]
	return b
}

func (r *reader) uint() uint64 {
	var value uint64
	for shift := uint(0); shift < 64; shift += 7 {
		b := r.byte()
		value |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return value
		}
	}
	r.fail()
	return 0
}

func (r *reader) int() int64 {
	value := r.uint()
	return int64(value>>1) ^ -int64(value&1)
}

func (r *reader) bits() uint64 {
	s := r.take(8)
	if len(s) < 8 {
		return 0
	}
	return binary.LittleEndian.Uint64([]byte(s))
}

// take returns the next n bytes.
func (r *reader) take(n uint64) string {
	if n > uint64(len(r.rest)) {
		r.fail()
		return ""
	}
	s := r.rest[:n]
	r.rest = r.rest[n:]
	return s
}

func (r *reader) string() string { return r.take(r.uint()) }

// length returns the length of a list or map, and false where it is nil. There
// is a byte at least for each of it.
func (r *reader) length() (n int, there bool) {
	length := r.uint()
	if length == 0 || length-1 > uint64(len(r.rest)) {
		if length != 0 {
			r.fail()
		}
		return 0, false
	}
	return int(length - 1), true
}

// value reads into v, which is zero and can be set.
func (r *reader) value(v reflect.Value, depth int) {
	if depth > maxNested || r.broken {
		r.fail()
		return
	}
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(r.byte() == 1)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(r.int())
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(r.uint())
	case reflect.Float64:
		v.SetFloat(math.Float64frombits(r.bits()))
	case reflect.String:
		v.SetString(r.string())
	case reflect.Slice:
		r.slice(v, depth)
	case reflect.Map:
		r.mapping(v, depth)
	case reflect.Pointer:
		r.pointer(v, depth)
	case reflect.Struct:
		r.fields(v, depth)
	case reflect.Interface:
		if v.Type() == reflect.TypeFor[skills.Args]() {
			r.args(v, depth)
			return
		}
		if value := r.any(depth); value != nil && v.NumMethod() == 0 {
			v.Set(reflect.ValueOf(value))
		}
	default:
		r.fail()
	}
}

// args reads a way to pass arguments.
func (r *reader) args(v reflect.Value, depth int) {
	switch r.byte() {
	case argsNone:
	case argsFlags:
		var flags skills.Flags
		r.value(reflect.ValueOf(&flags).Elem(), depth+1)
		v.Set(reflect.ValueOf(flags))
	case argsInput:
		var input skills.Input
		r.value(reflect.ValueOf(&input).Elem(), depth+1)
		v.Set(reflect.ValueOf(input))
	case argsRawArgv:
		v.Set(reflect.ValueOf(skills.RawArgv{}))
	case argsParsedCLI:
		var cli skills.ParsedCLI
		r.value(reflect.ValueOf(&cli.Object).Elem(), depth+1)
		r.value(reflect.ValueOf(&cli.Files).Elem(), depth+1)
		v.Set(reflect.ValueOf(cli)) // the scan gives it its script
	default:
		r.fail()
	}
}

func (r *reader) slice(v reflect.Value, depth int) {
	n, there := r.length()
	if !there {
		return
	}
	v.Set(reflect.MakeSlice(v.Type(), 0, min(n, firstRoom)))
	for i := 0; i < n && !r.broken; i++ {
		v.Grow(1)
		v.SetLen(i + 1)
		r.value(v.Index(i), depth+1)
	}
}

func (r *reader) mapping(v reflect.Value, depth int) {
	n, there := r.length()
	if !there || v.Type().Key().Kind() != reflect.String {
		return
	}
	v.Set(reflect.MakeMapWithSize(v.Type(), min(n, firstRoom)))
	for i := 0; i < n && !r.broken; i++ {
		key := reflect.ValueOf(r.string()).Convert(v.Type().Key())
		value := reflect.New(v.Type().Elem()).Elem()
		r.value(value, depth+1)
		v.SetMapIndex(key, value)
	}
}

func (r *reader) pointer(v reflect.Value, depth int) {
	state := r.byte()
	schema := v.Type() == reflect.TypeFor[*jsonschema.Schema]()
	switch {
	case state == isUnset:
	case state == isSet && v.Type() == properties:
		r.properties(v, depth)
	case state == isSet:
		v.Set(reflect.New(v.Type().Elem()))
		r.value(v.Elem(), depth+1)
	case state == isTrueSchema && schema:
		v.Set(reflect.ValueOf(jsonschema.TrueSchema))
	case state == isFalseSchema && schema:
		v.Set(reflect.ValueOf(jsonschema.FalseSchema))
	default:
		r.fail()
	}
}

func (r *reader) properties(v reflect.Value, depth int) {
	list := jsonschema.NewProperties()
	for range r.uint() {
		if r.broken {
			return
		}
		name := r.string()
		var schema *jsonschema.Schema
		r.value(reflect.ValueOf(&schema).Elem(), depth+1)
		list.Set(name, schema)
	}
	v.Set(reflect.ValueOf(list))
}

func (r *reader) fields(v reflect.Value, depth int) {
	for last := uint64(0); ; {
		number := r.uint()
		if number == 0 {
			return
		}
		if number <= last || number > uint64(v.NumField()) || !v.Type().Field(int(number-1)).IsExported() {
			r.fail()
			return
		}
		last = number
		r.value(v.Field(int(number-1)), depth+1)
	}
}

func (r *reader) any(depth int) any {
	if depth > maxNested {
		r.fail()
		return nil
	}
	switch r.byte() {
	case isNil:
		return nil
	case isFalse:
		return false
	case isTrue:
		return true
	case isInt:
		return r.int()
	case isFloat:
		return math.Float64frombits(r.bits())
	case isString:
		return r.string()
	case isList:
		return r.list(depth)
	case isMap:
		return r.object(depth)
	case isNumber:
		return json.Number(r.string())
	}
	r.fail()
	return nil
}

func (r *reader) list(depth int) any {
	n, there := r.length()
	if !there {
		return []any(nil)
	}
	list := make([]any, 0, min(n, firstRoom))
	for i := 0; i < n && !r.broken; i++ {
		list = append(list, r.any(depth+1))
	}
	return list
}

func (r *reader) object(depth int) any {
	n, there := r.length()
	if !there {
		return map[string]any(nil)
	}
	object := make(map[string]any, min(n, firstRoom))
	for i := 0; i < n && !r.broken; i++ {
		key := r.string()
		object[key] = r.any(depth + 1)
	}
	return object
}
