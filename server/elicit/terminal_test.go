package elicit

import (
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestTerminal(t *testing.T) {
	const form = `{"type":"object","properties":{"name":{"type":"string","title":"Your name"},"age":{"type":"integer","default":30},
		"sure":{"type":"boolean","description":"Think twice."},"many":{"type":"array","items":{"type":"string","enum":["a","b"]}},
		"one":{"type":"string","oneOf":[{"const":"x","title":"The X"}],"default":"x"}},"required":["name"]}`
	for name, test := range map[string]struct{ schema, typed, want, shown string }{
		"yes":       {confirmation, "y\n", `{"action":"accept","content":{"answer":"yes"}}`, "Skill demo asks: Well?\n[y/N] "},
		"no":        {confirmation, "\n", `{"action":"decline"}`, "[y/N] "},
		"the end":   {confirmation, "", `{"action":"cancel"}`, "[y/N] "},
		"a form":    {form, "Ann\n\nyes\na, b\n\n", `{"action":"accept","content":{"age":30,"many":["a","b"],"name":"Ann","one":"x","sure":true}}`, "  name, Your name (string):   age (integer, optional, by default 30):   sure: Think twice. (boolean, optional):   many (some, between commas, of a, b, optional):   one (of x (The X), optional, by default x): "},
		"less":      {form, "Ann\n7\n\n\n\n", `{"action":"accept","content":{"age":7,"name":"Ann","one":"x"}}`, ""},
		"again":     {form, "Ann\nold\n\n\n\nAnn\n8\n\n\n\n", `{"action":"accept","content":{"age":8,"name":"Ann","one":"x"}}`, "the content does not fit the form: at '/age': got string, want integer\n"},
		"too often": {form, strings.Repeat("\n", 5*maxTries), `{"action":"cancel"}`, "missing property 'name'"},
		"two lines": {`{"type":"object","properties":{"a":{"type":"string","title":"A\nskills-mcp asks"}},"required":["a"]}`, "x\n", `{"action":"accept","content":{"a":"x"}}`, "?\n  a, A skills-mcp asks (string): "},
		"half":      {form, "Ann\n", `{"action":"cancel"}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := newRequest("demo", methodPerson, json.RawMessage(`{"message":"Well?","requestedSchema":`+test.schema+`}`))
			if err != nil {
				t.Fatal(err)
			}
			in, typing := io.Pipe()
			go func() {
				_, _ = io.WriteString(typing, test.typed)
				typing.Close()
			}()
			var out strings.Builder
			client := Terminal(in, &out)
			got, err := client.Ask(t.Context(), map[string]*Request{"a": r})
			in.Close()
			if err != nil || string(got["a"]) != test.want || !strings.Contains(out.String(), test.shown) {
				t.Errorf("%s, %v; shown %q", got["a"], err, out.String())
			}
			if err := client.missing(methodModel); err == nil {
				t.Error("a model can be asked")
			}
		})
	}
}

// TestTerminalTime has a person be away.
func TestTerminalTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, err := newRequest("demo", methodPerson, json.RawMessage(`{"message":"Well?"}`))
		if err != nil {
			t.Fatal(err)
		}
		in, typing := io.Pipe()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if _, err := Terminal(in, io.Discard).Ask(ctx, map[string]*Request{"a": r}); err != context.DeadlineExceeded {
			t.Errorf("error %v", err)
		}
		typing.Close()
	})
}
