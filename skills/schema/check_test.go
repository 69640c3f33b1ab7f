package schema

import (
	"math/big"
	"strings"
	"testing"
)

func TestCheck(t *testing.T) {
	const document = `{"$defs":{"n":{"type":"integer","minimum":1},"x":{"minimum":-1e300}},"type":"object","required":["a"],"properties":{"a":{"anyOf":[{"$ref":"#/$defs/n"},{"type":"string"}]}}}`
	for _, test := range []struct{ place, value, want string }{
		{"", `{"a":1}`, ""},
		{"", `{"a":"x"}`, ""},
		{"", `{"a":0}`, "at '/a': minimum: got 0, want 1"},
		{"", `{}`, "at '': missing property 'a'"},
		{"", `{`, "it is not JSON"},
		{"#/$defs/n", `3`, ""},
		{"#/$defs/n", `[]`, "at '': got array, want integer"},
		{"#/$defs/x", `1e9999999`, "the number 1e9999999 is out of range"}, // of which the validator makes nothing, and uses it
		{"#/$defs/x", `-1E400`, "the number -1E400 is out of range"},
		{"#/$defs/x", `{"a":[0.001e-999999]}`, "the number 0.001e-999999 is out of range"},
		{"#/$defs/x", `0.` + strings.Repeat("1", maxNumber), "the number 0.111111111111111111 is out of range"},
		{"#/$defs/x", `[0e-999, -0.0, 5e-324, 1.7e308, 123456789012345678901234567890]`, ""},
		{"#/$defs/x", strings.Repeat("[", maxDepth+1) + strings.Repeat("]", maxDepth+1), "it nests more than 128 deep"},
		{"#/$defs/x", strings.Repeat("[", maxDepth) + strings.Repeat("]", maxDepth), ""},
	} {
		schema, err := Compile([]byte(document), test.place)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if err := schema.Check([]byte(test.value)); err != nil {
			got = err.Error()
		}
		if got != test.want {
			t.Errorf("%s: %q, want %q", test.value, got, test.want)
		}
	}
}

func TestCompile(t *testing.T) {
	for document, want := range map[string]string{
		`{`:                            "it is not JSON",
		`{"type":"thing"}`:             "at '/type': value must be one of 'array', 'boolean', 'integer', 'null', 'number', 'object', 'string'",
		`{"minimum":1e9999999}`:        "the number 1e9999999 is out of range",
		`{"$ref":"file:///etc/hosts"}`: `failing loading "file:///etc/hosts": no URLLoader registered for "file:///etc/hosts"`,
		`{"$ref":"other.json"}`:        `failing loading "schema:///other.json": no URLLoader registered for "schema:///other.json"`,
		`{"$ref":"https://a.example"}`: `failing loading "https://a.example": no URLLoader registered for "https://a.example"`,
	} {
		if _, err := Compile([]byte(document), ""); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %q", document, err, want)
		}
	}
}

func TestPatternSize(t *testing.T) {
	for pattern, want := range map[string]bool{
		`^\d{4}-\d{2}$`: true, `^[\p{L}\p{N}]{1,64}$`: true, `^.{1,1000}$`: true, `(?:[a-z0-9-]{1,63}\.){1,10}[a-z]{2,63}`: true, ``: true,
		`(a{100}){100}`: false, `(?:ab|cd){900,}(?:ab|cd){900}`: false, `(`: false,
	} {
		if _, err := Pattern(pattern); (err == nil) != want {
			t.Errorf("%s: %v", pattern, err)
		}
	}
}

// FuzzCheck has no document and no value be more than an error.
func FuzzCheck(f *testing.F) {
	f.Add(`{"type":"object","properties":{"a":{"$ref":"#"}}}`, `{"a":{}}`)
	f.Add(`{"$dynamicRef":"#a","pattern":"("}`, `3`)
	f.Add(`{"minimum":0}`, `1e9999999`)
	f.Add(`{"minimum":1e9999999}`, `0`)
	f.Fuzz(func(t *testing.T, document, value string) {
		if schema, err := Compile([]byte(document), ""); err == nil {
			_ = schema.Check([]byte(value))
		}
	})
}

func TestRatio(t *testing.T) {
	for text, want := range map[string]string{"3": "3", "3.0": "3", "0.5": "0.5", "1e30": "1000000000000000000000000000000"} {
		r, _ := new(big.Rat).SetString(text)
		if got := ratio(r); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}
