package jsoncheck

import "testing"

func TestCheck(t *testing.T) {
	const document = `{"$defs":{"n":{"type":"integer","minimum":1}},"type":"object","required":["a"],"properties":{"a":{"anyOf":[{"$ref":"#/$defs/n"},{"type":"string"}]}}}`
	for _, test := range []struct{ place, value, want string }{
		{"", `{"a":1}`, ""},
		{"", `{"a":"x"}`, ""},
		{"", `{"a":0}`, "at '/a': minimum: got 0, want 1"},
		{"", `{}`, "at '': missing property 'a'"},
		{"", `{`, "it is not JSON"},
		{"#/$defs/n", `3`, ""},
		{"#/$defs/n", `[]`, "at '': got array, want integer"},
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
		`{"$ref":"file:///etc/hosts"}`: `failing loading "file:///etc/hosts": no URLLoader registered for "file:///etc/hosts"`,
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
	f.Fuzz(func(t *testing.T, document, value string) {
		if schema, err := Compile([]byte(document), ""); err == nil {
			_ = schema.Check([]byte(value))
		}
	})
}
