package scriptio

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestParseCall(t *testing.T) {
	for line, want := range map[string]string{
		`{"mcp": {"call": {"skill": "a", "args": {"n": 12345678901234567890}}}}`: `{"Skill":"a","Args":{"n":12345678901234567890}}`,
		`{"mcp":{"call":{"skill":"p/a"}}}`:                                       `{"Skill":"p/a","Args":null}`,
		`{"mcp":{"call":{"skill":"a","args":null}}}`:                             `{"Skill":"a","Args":null}`,
		`{"mcp":{"call":{"skill":"a","args":[]}}}`:                               `"args" is not an object`,
		`{"mcp":{"call":{"skill":"a","args":{"n":1e9999999}}}}`:                  `"args" cannot be used: the number 1e9999999 is out of range`,
		`{"mcp":{"call":{"skill":1}}}`:                                           `"skill" is not a name`,
		`{"mcp":{"call":{"args":{}}}}`:                                           `the call names no skill; write its name as "skill"`,
		`{"mcp":{"call":{"Skill":"a"}}}`:                                         `"Skill" is not known in a call: it has skill and args`,
		`{"mcp":{"call":{"skill":"a","workspaces":["/"]}}}`:                      `"workspaces" is not known in a call: it has skill and args`,
		`{"mcp":{"call":{"skill":"a"},"ask":"?"}}`:                               "the call is not understood",
		`{"mcp":{"call":"a"}}`:                                                   "the call is not understood",
		`{"mcp":{"call":null}}`:                                                  "the call is not understood",
		`{"mcp":{"call":{"skill":"a"}}`:                                          "the call is not understood",
		`{"mcp":{"call":{"skill":"a"}}} {}`:                                      "the call is not understood",
	} {
		c, err := ParseCall([]byte(line))
		got, _ := json.Marshal(c)
		if err != nil {
			got = []byte(err.Error())
		}
		if !strings.HasPrefix(string(got), want) {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
	}
}

func FuzzParseCall(f *testing.F) {
	f.Add([]byte(`{"mcp":{"call":{"skill":"a","args":{"n":[1,{"b":null}]}}}}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		if c, err := ParseCall(line); err == nil && c.Skill == "" {
			t.Errorf("%q is a call of nothing", line)
		}
	})
}
