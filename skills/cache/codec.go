package cache

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"sync"

	"github.com/invopop/jsonschema"

	"github.com/skillsmcp/skills-mcp/skills"
)

// Values are written without the names of their fields, so only the same build of the
// program reads them: see [Options]. A struct is written as its fields that are not zero, each with
// its number.
//
// The codec is made by hand for the second start of 10,000 skills, which takes 0.5 s
// of processor time. Reading one skill takes 18 µs (14 µs with a second set of methods
// that only read, 150 lines more); CBOR (fxamacker/cbor v2.10) takes 38 µs, and
// encoding/json 140 µs: 0.2 s and 1.2 s more for all. encoding/gob refuses the ordered
// properties of a schema. Any of them needs copies of the types of schemas and entries
// beside it, as those hide fields and have interfaces.
//
// TestEveryFieldComesBack finds a field that is not written.

// errKind is the error of a value that cannot be written. Its skill is read from its
// folder at each start.
var errKind = errors.New("value cannot be kept")

// errCorrupt is the error of bytes that the codec never writes.
var errCorrupt = errors.New("corrupt")

// maxNested is the maximum depth of values inside each other.
const maxNested = 64

// firstRoom is the capacity of a list or map before its first element is read: a
// damaged file may claim any length.
const firstRoom = 8

var stringType = reflect.TypeFor[string]()

// propertiesType is the one type with unexported fields. It is written as a list of
// names and schemas.
var propertiesType = reflect.TypeOf(jsonschema.NewProperties())

// A codec writes values or reads them: one method for each type does both, so that
// the two cannot differ. A method takes the value to write, or any value when it
// reads, and returns the value. After the first error it writes and reads nothing of
// use.
type codec struct {
	reading bool
	written []byte
	unread  string // strings that are read are parts of it, and keep it in memory
	depth   int
	err     error // the first one
}

// encode returns a value as bytes.
func encode[T any](value T) (string, error) {
	c := codec{}
	c.value(reflect.ValueOf(&value).Elem())
	return string(c.written), c.err
}

// decode returns the value that [encode] wrote.
func decode[T any](text string) (value T, err error) {
	c := codec{reading: true, unread: text}
	c.value(reflect.ValueOf(&value).Elem())
	return value, c.err
}

func (c *codec) fail(err error) {
	if c.err == nil {
		c.err = err
	}
	c.unread = ""
}

// next returns the next n bytes to read.
func (c *codec) next(n uint64) string {
	if n > uint64(len(c.unread)) {
		c.fail(errCorrupt)
		return ""
	}
	text := c.unread[:n]
	c.unread = c.unread[n:]
	return text
}

func (c *codec) byte(b byte) byte {
	if !c.reading {
		c.written = append(c.written, b)
		return b
	}
	if c.unread == "" {
		c.fail(errCorrupt)
		return 0
	}
	b = c.unread[0]
	c.unread = c.unread[1:]
	return b
}

func (c *codec) uint(n uint64) uint64 {
	if !c.reading {
		c.written = binary.AppendUvarint(c.written, n)
		return n
	}
	n = 0
	for shift := uint(0); shift < 64; shift += 7 {
		b := c.byte(0)
		n |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return n
		}
	}
	c.fail(errCorrupt)
	return 0
}

// int writes small negative numbers in few bytes, too.
func (c *codec) int(n int64) int64 {
	u := c.uint(uint64(n)<<1 ^ uint64(n>>63))
	return int64(u>>1) ^ -int64(u&1)
}

func (c *codec) float(f float64) float64 {
	if !c.reading {
		c.written = binary.LittleEndian.AppendUint64(c.written, math.Float64bits(f))
		return f
	}
	if bits := c.next(8); bits != "" {
		f = math.Float64frombits(binary.LittleEndian.Uint64([]byte(bits)))
	}
	return f
}

func (c *codec) string(s string) string {
	if n := c.uint(uint64(len(s))); c.reading {
		return c.next(n)
	}
	c.written = append(c.written, s...)
	return s
}

// length writes or reads the length of a list or map, -1 of nil. An element takes a
// byte at least.
func (c *codec) length(n int) int {
	length := c.uint(uint64(n + 1))
	if c.reading && length > uint64(len(c.unread))+1 {
		c.fail(errCorrupt)
		return -1
	}
	return int(length) - 1
}

func (c *codec) lengthOf(v reflect.Value) int {
	if v.IsNil() {
		return c.length(-1)
	}
	return c.length(v.Len())
}

// value writes v, or reads into v, which is zero and can be set.
func (c *codec) value(v reflect.Value) {
	if c.depth++; c.depth > maxNested+1 {
		c.fail(fmt.Errorf("%w: too deep", errKind))
	}
	if c.err == nil {
		c.byKind(v)
	}
	c.depth--
}

func (c *codec) byKind(v reflect.Value) {
	switch v.Kind() {
	case reflect.Bool:
		b := byte(0)
		if v.Bool() {
			b = 1
		}
		if b = c.byte(b); c.reading {
			v.SetBool(b == 1)
		}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		if n := c.int(v.Int()); c.reading {
			v.SetInt(n)
		}
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		if n := c.uint(v.Uint()); c.reading {
			v.SetUint(n)
		}
	case reflect.Float64:
		if f := c.float(v.Float()); c.reading {
			v.SetFloat(f)
		}
	case reflect.String:
		if s := c.string(v.String()); c.reading {
			v.SetString(s)
		}
	case reflect.Slice:
		c.slice(v)
	case reflect.Map:
		c.mapping(v)
	case reflect.Pointer:
		c.pointer(v)
	case reflect.Struct:
		c.fields(v)
	case reflect.Interface:
		c.dynamic(v)
	default:
		c.fail(fmt.Errorf("%w: %s", errKind, v.Type()))
	}
}

func (c *codec) slice(v reflect.Value) {
	n := c.lengthOf(v)
	if c.reading && n >= 0 {
		v.Set(reflect.MakeSlice(v.Type(), 0, min(n, firstRoom)))
	}
	for i := 0; i < n && c.err == nil; i++ {
		if c.reading {
			v.Grow(1)
			v.SetLen(i + 1)
		}
		c.value(v.Index(i))
	}
}

func (c *codec) mapping(v reflect.Value) {
	t := v.Type()
	if t.Key().Kind() != reflect.String {
		c.fail(fmt.Errorf("%w: %s", errKind, t))
		return
	}
	n := c.lengthOf(v)
	if n < 0 {
		return
	}
	if !c.reading {
		for entries := v.MapRange(); entries.Next(); {
			c.string(entries.Key().String())
			c.value(entries.Value())
		}
		return
	}
	v.Set(reflect.MakeMapWithSize(t, min(n, firstRoom)))
	key, value := reflect.New(t.Key()).Elem(), reflect.New(t.Elem()).Elem() // for one entry after the other
	for i := 0; i < n && c.err == nil; i++ {
		key.SetString(c.string(""))
		value.SetZero()
		c.value(value)
		v.SetMapIndex(key, value)
	}
}

// fixedSchemas are written as their number: that they are true or false is in an
// unexported field.
var fixedSchemas = []*jsonschema.Schema{jsonschema.TrueSchema, jsonschema.FalseSchema}

// The states of a pointer. Those behind are of the fixed schemas.
const (
	isUnset = iota
	isSet
	isFixed
)

func stateOf(v reflect.Value) byte {
	if v.IsNil() {
		return isUnset
	}
	schema, _ := v.Interface().(*jsonschema.Schema)
	fixed := slices.IndexFunc(fixedSchemas, func(f *jsonschema.Schema) bool { return schema != nil && reflect.DeepEqual(schema, f) })
	if fixed < 0 {
		return isSet
	}
	return byte(isFixed + fixed)
}

func (c *codec) pointer(v reflect.Value) {
	switch state := int(c.byte(stateOf(v))); {
	case state == isUnset:
	case state == isSet && v.Type() == propertiesType:
		c.properties(v)
	case state == isSet:
		if c.reading {
			v.Set(reflect.New(v.Type().Elem()))
		}
		c.value(v.Elem())
	case state >= isFixed+len(fixedSchemas) || v.Type() != reflect.TypeOf(fixedSchemas[0]):
		c.fail(errCorrupt)
	case c.reading:
		v.Set(reflect.ValueOf(fixedSchemas[state-isFixed]))
	}
}

func (c *codec) properties(v reflect.Value) {
	list := jsonschema.NewProperties()
	if !c.reading {
		list = as(list, v.Interface())
	}
	pair := list.Oldest() // nil when reading
	for range c.uint(uint64(list.Len())) {
		var name string
		var schema *jsonschema.Schema
		if pair != nil {
			name, schema, pair = pair.Key, pair.Value, pair.Next()
		}
		name = c.string(name)
		if c.value(reflect.ValueOf(&schema).Elem()); c.err != nil {
			return
		}
		if c.reading {
			list.Set(name, schema)
		}
	}
	if c.reading {
		v.Set(reflect.ValueOf(list))
	}
}

// as returns v as of the type of a sample: that type has no name here.
func as[T any](_ T, v any) T { return v.(T) }

func (c *codec) fields(v reflect.Value) {
	for i := c.field(v, 0); i > 0; i = c.field(v, i) {
		c.value(v.Field(i - 1))
	}
}

// field writes or reads the number of the field behind the last one, counted from 1.
// It is 0 behind them all.
func (c *codec) field(v reflect.Value, last int) int {
	number := 0
	for i := last; number == 0 && !c.reading && i < v.NumField(); i++ {
		if !v.Field(i).IsZero() {
			number = i + 1
		}
	}
	n := c.uint(uint64(number))
	if n == 0 || c.err != nil {
		return 0
	}
	if n <= uint64(last) || n > uint64(v.NumField()) || !v.Field(int(n-1)).CanInterface() { // not exported
		c.fail(fmt.Errorf("%w: field %d of %s", errKind, n, v.Type()))
		return 0
	}
	return int(n)
}

var argsType = reflect.TypeFor[skills.Args]()

// concrete are the types of values in interfaces: those of encoding/json and integers,
// then from firstArgs on those of [skills.Args]. A value is written behind the number
// of its type.
var concrete = []reflect.Type{
	nil, stringType, reflect.TypeFor[bool](), reflect.TypeFor[int64](), reflect.TypeFor[float64](), reflect.TypeFor[json.Number](), reflect.TypeFor[[]any](), reflect.TypeFor[map[string]any](),
	reflect.TypeFor[skills.Flags](), reflect.TypeFor[skills.Input](), reflect.TypeFor[skills.RawArgv](), reflect.TypeFor[skills.ParsedCLI](),
}

const firstArgs = 8

// dynamic writes or reads the value in an interface.
func (c *codec) dynamic(v reflect.Value) {
	value := v.Elem()
	number := 0
	if value.IsValid() {
		number = slices.Index(concrete, value.Type())
	}
	number = int(c.byte(byte(number)))
	switch {
	case number == 0:
	case number >= len(concrete) || number < firstArgs && v.NumMethod() > 0 || number >= firstArgs && v.Type() != argsType:
		c.fail(fmt.Errorf("%w: type %d in %s", errKind, number, v.Type()))
	case concrete[number] == parsedType:
		c.parsedCLI(v)
	case !c.reading:
		c.byKind(value)
	case concrete[number] == stringType: // most are, and this is twice as fast
		v.Set(reflect.ValueOf(c.string("")))
	default:
		value = reflect.New(concrete[number]).Elem()
		c.byKind(value)
		v.Set(value)
	}
}

var parsedType = reflect.TypeFor[skills.ParsedCLI]()

// parsedCLI writes or reads a [skills.ParsedCLI] in an interface. Its schema is decoded
// when somebody asks for it: decoded schemas were a fourth of a resting server's heap,
// and few skills are tools where there are many.
func (c *codec) parsedCLI(v reflect.Value) {
	cli, _ := v.Interface().(skills.ParsedCLI) // none when reading
	var encoded string
	if !c.reading {
		var err error
		if encoded, err = encode(cli.Schema()); err != nil {
			c.fail(err)
			return
		}
	}
	encoded = c.string(encoded)
	c.value(reflect.ValueOf(&cli.Files).Elem())
	c.value(reflect.ValueOf(&cli.Stdin).Elem())
	if c.reading {
		cli.Stored = sync.OnceValue(func() *jsonschema.Schema { return decodeSchema(encoded) })
		v.Set(reflect.ValueOf(cli))
	}
}

// decodeSchema returns an encoded schema. One that the codec never writes accepts nothing.
func decodeSchema(encoded string) *jsonschema.Schema {
	schema, err := decode[*jsonschema.Schema](encoded)
	if err != nil || schema == nil {
		return jsonschema.FalseSchema
	}
	return schema
}
