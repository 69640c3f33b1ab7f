package connect

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
)

// A field is a key of an entry in a file. Its value is text, a list of texts, or
// [fields].
type field struct {
	key   string
	value any
}

// fields are the keys of an entry in a file, in the usual order.
type fields []field

// MarshalJSON writes the fields in their order.
func (f fields) MarshalJSON() ([]byte, error) {
	var out bytes.Buffer
	out.WriteByte('{')
	for i, one := range f {
		if i > 0 {
			out.WriteByte(',')
		}
		out.WriteString(encode(one.key, "", "") + ":" + encode(one.value, "", ""))
	}
	out.WriteByte('}')
	return out.Bytes(), nil
}

// is reports whether an entry of a file reaches the same server. It ignores keys
// that the client or the person added, such as variables or approvals.
func (f fields) is(found any) bool {
	has, ok := found.(map[string]any)
	if !ok {
		return false
	}
	var wanted map[string]any
	if json.Unmarshal([]byte(encode(f, "", "")), &wanted) != nil {
		return false
	}
	kind := "http"
	if _, starts := wanted["command"]; starts {
		kind = "stdio"
	}
	if found, typed := has["type"]; typed && found != kind {
		return false
	} else if !typed && kind == "stdio" {
		delete(wanted, "type") // the default
	}
	for key, value := range wanted {
		if !reflect.DeepEqual(has[key], value) {
			return false
		}
	}
	return true
}

// remote describes a client's notation for a running server.
type remote struct {
	key string // of the address; "" if the client's file has programs only
	// token returns the field for a bearer token in a variable; nil if the client
	// expands no variables in headers.
	token   func(variable string) field
	headers string // the key of literal ones; "" is "headers"
}

// header returns a remote.token for clients that write a variable like reference.
func header(reference string) func(string) field {
	return func(variable string) field {
		return field{"headers", fields{{"Authorization", "Bearer " + fmt.Sprintf(reference, variable)}}}
	}
}

// encode returns a value as JSON. It indents all lines but the first.
func encode(value any, prefix, unit string) string {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent(prefix, unit)
	if encoder.Encode(value) != nil {
		return "null" // maps, structs and strings can be encoded
	}
	return strings.TrimSuffix(out.String(), "\n")
}
