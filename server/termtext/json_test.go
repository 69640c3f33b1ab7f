package termtext

import (
	"encoding/json"
	"slices"
	"testing"
)

func TestJSON(t *testing.T) {
	verbatim := func(path []string) bool { return slices.Equal(path, []string{"raw"}) }
	for given, want := range map[string]string{
		`{"a":"plain","n":1.50,"l":[true,null,"x"]}`:                         `{"a":"plain","n":1.50,"l":[true,null,"x"]}`,
		`{"a":"“ünï” <b>👩‍💻</b>"}`:                                           `{"a":"“ünï” <b>👩‍💻</b>"}`,
		`{"a":"x` + "\u200b" + `y","b":["\u202ez","\\u202e"]}`:               `{"a":"xy","b":["z","\\u202e"]}`,
		`{"a":"\u001b[1mbold\u001b[0m\b","b":"a\"\u0007\\"}`:                 `{"a":"bold","b":"a\"\\"}`,
		`{"raw":"\ufeffx","deep":{"raw":"\ufeffx"},"l":[{"raw":"\ufeffx"}]}`: `{"raw":"\ufeffx","deep":{"raw":"x"},"l":[{"raw":"x"}]}`,
		`{"ty` + "\u200b" + `pe":"a","type":"b"}`:                            `{"ty` + "\ufffd" + `pe":"a","type":"b"}`,
		`{"a":"<&>` + "\u2060" + `"}`:                                        `{"a":"<&>"}`,
		`{"a":"\u005bS\u0075b]","\u0041":"\\u0041"}`:                         `{"a":"[Sub]","A":"\\u0041"}`,
		`{"a":"one\u2028two"}`:                                               `{"a":"one\ntwo"}`,
	} {
		if got := string(JSON([]byte(given), verbatim)); got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", given, got, want)
		}
	}
}

// FuzzJSON wants a message to be as valid as it was, and its texts to be plain.
func FuzzJSON(f *testing.F) {
	for _, seed := range []string{`{"a\u200b":["x\u202e",{"b":"\u001b[1m"}],"c":-1e9}`, `["\"\\",""]`, `"\ud800"`, "{\"\xff\":1}"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var value any
		if json.Unmarshal(data, &value) != nil {
			return
		}
		message, err := json.Marshal(value) // as an encoder writes it
		if err != nil {
			t.Fatal(err)
		}
		got := JSON(message, nil)
		var filtered any
		if err := json.Unmarshal(got, &filtered); err != nil {
			t.Fatalf("%q became %q: %v", message, got, err)
		}
		if again := JSON(got, nil); string(again) != string(got) {
			t.Errorf("%q becomes %q, and that %q", message, got, again)
		}
	})
}
