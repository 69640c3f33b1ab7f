package elicit

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/skillsmcp/skills-mcp/skills"
)

// everything is a client that can be asked all.
func everything(asker Asker) *Client {
	return &Client{Asker: asker, Can: decodeCapabilities(`{"elicitation": {}, "sampling": {}, "roots": {}}`)}
}

func decodeCapabilities(text string) *mcp.ClientCapabilities {
	var c mcp.ClientCapabilities
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		panic(err)
	}
	return &c
}

func options() *Options {
	return &Options{
		Skill: "demo/ask", Asks: []skills.Asked{skills.AskPerson, skills.AskModel, skills.AskRoots}, Client: everything(nil),
	}
}

func TestParse(t *testing.T) {
	form := func(schema string) string {
		return `{"mcp":{"ask":{"message":"Which?","schema":` + schema + `}}}`
	}
	requests := func(all string) string { return `{"mcp":{"requests":{` + all + `}}}` }
	for name, test := range map[string]struct{ line, sent, answered, problem string }{
		"yes or no": {
			`{"mcp":{"ask":"Delete 3 files?"}}`,
			`ask-1 elicitation/create {"message":"Skill demo/ask asks: Delete 3 files?","requestedSchema":{"type":"object","properties":{"answer":{"type":"string","title":"Your answer","enum":["no","yes"]}},"required":["answer"]}}`, "", "",
		},
		"a form": {
			form(`{"type":"object","properties":{"name":{"type":"string","default":"x"}},"required":["name"]}`),
			`ask-1 elicitation/create {"message":"Skill demo/ask asks: Which?","requestedSchema":{"type":"object","properties":{"name":{"type":"string","default":"x"}},"required":["name"]}}`, "", "",
		},
		"colours for a terminal": {
			`{"mcp":{"ask":"\u001b[31mred\u202e"}}`,
			`ask-1 elicitation/create {"message":"Skill demo/ask asks: red","requestedSchema":{"type":"object","properties":{"answer":{"type":"string","title":"Your answer","enum":["no","yes"]}},"required":["answer"]}}`, "", "",
		},
		"all kinds": {
			requests(`"a":{"method":"elicitation/create","params":{"mode":"form","message":"?","requestedSchema":{"type":"object","properties":{}}}},
				"b":{"method":"sampling/createMessage","params":{"messages":[{"role":"user","content":{"type":"text","text":"?"}}],"maxTokens":1}},
				"c":{"method":"roots/list"}`),
			`a elicitation/create {"mode":"form","message":"Skill demo/ask asks: ?","requestedSchema":{"type":"object","properties":{"answer":{"type":"string","title":"Your answer","enum":["no","yes"]}},"required":["answer"]}}
b sampling/createMessage {"messages":[{"role":"user","content":{"type":"text","text":"?"}}],"maxTokens":1}
c roots/list {}`, "", "",
		},
		"no such method": {requests(`"a":{"method":"tools/call"}`), "", `a {"error":"\"tools/call\" is nothing that can be asked by; use elicitation/create, sampling/createMessage or roots/list"}`, ""},
		"a page to open": {
			requests(`"a":{"method":"elicitation/create","params":{"mode":"url","message":"Log in"}}`), "",
			`a {"error":"the mode \"url\" is not offered; only forms are"}`, "",
		},
		"another field": {
			requests(`"a":{"method":"elicitation/create","params":{"url":"http://evil","message":"Log in"}}`), "",
			`a {"error":"it is not understood: unknown field \"url\""}`, "",
		},
		"others' context": {
			requests(`"a":{"method":"sampling/createMessage","params":{"messages":[{"role":"user","content":{}}],"maxTokens":1,"includeContext":"allServers"}}`), "",
			`a {"error":"at '/includeContext': value must be 'none'"}`, "",
		},
		"no message": {`{"mcp":{"ask":""}}`, "", `ask-1 {"error":"the message is empty; write what is asked"}`, ""},
		"a long message": {
			fmt.Sprintf(`{"mcp":{"ask":%q}}`, strings.Repeat("x", maxMessage+1)), "",
			`ask-1 {"error":"the message is longer than 4096 bytes, or not UTF-8"}`, "",
		},
		"a message that writes over itself": {
			requests(`"a":{"method":"elicitation/create","params":{"message":"a\rskills-mcp asks: b\r\nc"}}`),
			`a elicitation/create {"message":"Skill demo/ask asks:\n\u003e a\n\u003e skills-mcp asks: b\n\u003e c","requestedSchema":{"type":"object","properties":{"answer":{"type":"string","title":"Your answer","enum":["no","yes"]}},"required":["answer"]}}`,
			"", "",
		},
		"a form that hides something": {
			form(`{"type":"object","properties":{"a":{"type":"string","title":"x\u202ey"}}}`), "",
			`ask-1 {"error":"the form cannot have the field \"a\": at '/title': 'x\\u202ey' does not match pattern '^[^\\\\x00-\\\\x08\\\\x0b-\\\\x1f\\\\x7f-\\\\x9f\\u202a-\\u202e\\u2066-\\u2069]*$'"}`, "",
		},
		"a nested form": {
			form(`{"type":"object","properties":{"a":{"type":"object"}}}`), "",
			`ask-1 {"error":"the form cannot have the field \"a\": its \"type\" is not string, number, integer, boolean or array"}`, "",
		},
		"a pattern": {
			form(`{"type":"object","properties":{"a":{"type":"string","pattern":"(a+)+$"}}}`), "",
			`ask-1 {"error":"the form cannot have the field \"a\": at '': additional properties 'pattern' not allowed"}`, "",
		},
		"no keys":      {requests(``), "", "", "it has 0 requests; a question has 1 to 16"},
		"two ways":     {`{"mcp":{"ask":"?","requests":{"a":{"method":"roots/list"}}}}`, "", "", `it has both "ask" and "requests"`},
		"no JSON":      {`{"mcp":{"ask":?}}`, "", "", "it is not understood: invalid character '?' looking for beginning of value"},
		"two":          {`{"mcp":{"ask":"a?"}}{"mcp":{"ask":"b?"}}`, "", "", "it is not understood: there is something after it; write one question a line"},
		"a number":     {`{"mcp":{"ask":1}}`, "", "", "it is not understood: there is a number where something else belongs (ask is a text, or an object with message, schema and required)"},
		"another key":  {`{"mcp":{"ask":"?","content":[]}}`, "", "", `it is not understood: unknown field "content"`},
		"another name": {`{"mcp":{"ask":{"msg":"?"}}}`, "", "", `it is not understood: unknown field "msg" (ask is a text, or an object with message, schema and required)`},
		"half of it":   {`{"mcp":{"ask":{`, "", "", "it is not understood: it ends too early; a question is one line of JSON"},
		"too long":     {`{"mcp":{"ask":"` + strings.Repeat(" ", maxLine), "", "", "the question is longer than 262144 bytes"},
		"an empty key": {requests(`"":{"method":"roots/list"}`), "", ` {"error":"the key of a request has 1 to 64 bytes"}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			q, err := options().parse([]byte(test.line), "ask-1")
			if err != nil {
				if err.Error() != test.problem {
					t.Errorf("error %q, want %q", err, test.problem)
				}
				return
			}
			var sent, answered []string
			for _, key := range keys(q.requests) {
				sent = append(sent, fmt.Sprintf("%s %s %s", key, q.requests[key].Method, q.requests[key].Params))
			}
			for _, key := range keys(q.answers) {
				answered = append(answered, fmt.Sprintf("%s %s", key, q.answers[key]))
			}
			if got := strings.Join(sent, "\n"); got != test.sent || test.problem != "" {
				t.Errorf("sent %s\nwant %s", got, test.sent)
			}
			if got := strings.Join(answered, "\n"); got != test.answered {
				t.Errorf("answered %s\nwant %s", got, test.answered)
			}
		})
	}
}

// TestRequiredRequest ends a script that cannot go on without an answer which the client
// cannot give, and tells what it would have to declare.
func TestRequiredRequest(t *testing.T) {
	const line = `{"mcp":{"requests":{"r":{"method":"roots/list"},"m":{"method":"sampling/createMessage","params":{"messages":[{"role":"user","content":{}}],"maxTokens":1},"required":true}}}}`
	for name, test := range map[string]struct {
		client *Client
		want   string
	}{
		"it can":            {everything(nil), ""},
		"it can answer one": {&Client{Can: decodeCapabilities(`{"roots":{}}`)}, "sampling"},
		"it can answer it":  {&Client{Can: decodeCapabilities(`{"sampling":{}}`)}, ""},
	} {
		_, err := (&Options{Asks: []skills.Asked{skills.AskModel, skills.AskRoots}, Client: test.client}).parse([]byte(line), "")
		missing, _ := errors.AsType[*MissingError](err)
		if (err == nil) != (test.want == "") || missing != nil && missing.Capability != test.want {
			t.Errorf("%s: %v (%+v), want %q", name, err, missing, test.want)
		}
	}
}

// TestMay asks only whom the skill declares, and what the client can.
func TestMay(t *testing.T) {
	const line = `{"mcp":{"requests":{"p":{"method":"elicitation/create","params":{"message":"?"}},
		"m":{"method":"sampling/createMessage","params":{"messages":[{"role":"user","content":{}}],"maxTokens":1}},"r":{"method":"roots/list"}}}}`
	all := []skills.Asked{skills.AskPerson, skills.AskModel, skills.AskRoots}
	for name, test := range map[string]struct {
		asks   []skills.Asked
		client *Client
		want   string
	}{
		"all":              {all, everything(nil), "m p r"},
		"only persons":     {all[:1], everything(nil), "p"},
		"a client without": {all, &Client{}, ""},
		"nobody":           {all, Nobody("go away"), ""},
		"only a model":     {all, &Client{Can: decodeCapabilities(`{"sampling":{}}`)}, "m"},
		"forms":            {all, &Client{Can: decodeCapabilities(`{"elicitation":{"form":{}}}`)}, "p"},
		"pages only":       {all, &Client{Can: decodeCapabilities(`{"elicitation":{"url":{}}}`)}, ""},
	} {
		q, err := (&Options{Asks: test.asks, Client: test.client}).parse([]byte(line), "")
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(keys(q.requests), " "); got != test.want || len(q.requests)+len(q.answers) != 3 {
			t.Errorf("%s: %q is sent, want %q; answered %s", name, got, test.want, q.answers)
		}
		if test.client.Why != "" && string(q.answers["p"]) != `{"error":"go away"}` {
			t.Errorf("%s: answered %s", name, q.answers)
		}
	}
}

// TestForm has every kind of field that the specification knows (revision
// 2025-11-25, elicitation, requested schema).
func TestForm(t *testing.T) {
	const schema = `{"type":"object","properties":{
		"name":{"type":"string","title":"Name","minLength":1,"maxLength":9,"default":"Ann"},
		"mail":{"type":"string","format":"email"},
		"age":{"type":"integer","minimum":0,"maximum":150,"default":30},
		"score":{"type":"number","default":95.5},
		"sure":{"type":"boolean","default":true},
		"one":{"type":"string","enum":["a","b"],"default":"a"},
		"old":{"type":"string","enum":["a","b"],"enumNames":["A","B"]},
		"titled":{"type":"string","oneOf":[{"const":"a","title":"A"}]},
		"many":{"type":"array","minItems":1,"maxItems":2,"items":{"type":"string","enum":["a","b"]},"default":["a"]},
		"manyTitled":{"type":"array","items":{"anyOf":[{"const":"a","title":"A"}]}}
	},"required":["name"]}`
	r, err := newRequest("demo", methodPerson, json.RawMessage(`{"message":"?","requestedSchema":`+schema+`}`))
	if err != nil {
		t.Fatal(err)
	}
	var sent formParams
	if err := json.Unmarshal(r.Params, &sent); err != nil || !strings.Contains(string(sent.Schema), `"enumNames"`) {
		t.Errorf("sent %s, %v", r.Params, err)
	}
	for answer, problem := range map[string]string{
		`{"action":"accept","content":{"name":"x"}}`:                                                   "",
		`{"action":"accept","content":{"name":"x","age":3,"many":["b"],"manyTitled":["a"],"old":"b"}}`: "",
		`{"action":"decline"}`:                                    "",
		`{"action":"cancel","content":null}`:                      "",
		`{"action":"accept"}`:                                     "the content does not fit the form: at '': missing property 'name'",
		`{"action":"accept","content":{"name":""}}`:               "the content does not fit the form: at '/name': minLength: got 0, want 1",
		`{"action":"accept","content":{"name":"x","age":"old"}}`:  "the content does not fit the form: at '/age': got string, want integer",
		`{"action":"accept","content":{"name":"x","many":["c"]}}`: "the content does not fit the form: at '/many/0': value must be one of 'a', 'b'",
		`{"action":"perhaps"}`:                                    "at '/action': value must be one of 'accept', 'decline', 'cancel'",
		`{"action":"accept","content":3}`:                         "at '/content': got number, want null or object",
		`12345`:                                                   "at '': got number, want object",
		`null`:                                                    "at '': got null, want object",
		`{`:                                                       "it is not JSON",
	} {
		got := ""
		if err := r.Check(json.RawMessage(answer)); err != nil {
			got = err.Error()
		}
		if got != problem {
			t.Errorf("%s: %q, want %q", answer, got, problem)
		}
	}
}

func TestCheckOthers(t *testing.T) {
	model, roots := &Request{Method: methodModel}, &Request{Method: methodRoots}
	for _, test := range []struct {
		r      *Request
		answer string
		ok     bool
	}{
		{model, `{"role":"assistant","content":{"type":"text","text":"Paris"},"model":"m"}`, true},
		{model, `{"role":"assistant"}`, false},
		{model, `{"action":"accept"}`, false},
		{roots, `{"roots":[{"uri":"file:///a"}]}`, true},
		{roots, `{"roots":[]}`, true},
		{roots, `{"roots":[3]}`, false},
		{roots, `[]`, false},
	} {
		if err := test.r.Check(json.RawMessage(test.answer)); (err == nil) != test.ok {
			t.Errorf("%s %s: %v", test.r.Method, test.answer, err)
		}
	}
}

// FuzzQuestion has every line that asks answered by one line of JSON.
func FuzzQuestion(f *testing.F) {
	for _, seed := range []string{
		`{"mcp":{"ask":"?"}}`, `{"mcp":{"ask":{"message":"?","schema":{"type":"object","properties":{"a":{"type":"array","items":{"anyOf":[{"const":"a","title":"A"}]}}}}}}}`,
		`{"mcp":{"requests":{"a":{"method":"roots/list","params":null},"b":{"method":"sampling/createMessage","params":{"messages":[{}]}}}}}`,
		`{"mcp":{"requests":null}}`, `{"mcp":{"ask":null}}`, `{"mcp":{"ask":{"message":"?","schema":{"type":"object","properties":{"$ref":{"type":"string"}}}}}}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		q, err := options().parse([]byte(text), "ask-1")
		if err != nil {
			return
		}
		answers := map[string]json.RawMessage{}
		for key, r := range q.requests {
			if !json.Valid(r.Params) || !json.Valid([]byte(`"`+r.Method+`"`)) {
				t.Errorf("%q is sent as %s", text, r.Params)
			}
			if _, err := r.input(); err != nil {
				t.Errorf("%q cannot be put into a result: %v", text, err)
			}
			answers[key] = json.RawMessage("{\n}")
		}
		line := string(q.answer(answers))
		if strings.Count(line, "\n") != 1 || !json.Valid([]byte(line)) {
			t.Errorf("%q is answered with %q", text, line)
		}
	})
}

// A yes or no of a person is an answer; an empty form that is accepted is none, and a no in
// the form is one for the script.
func TestConfirmation(t *testing.T) {
	const decline = `{"action":"decline"}`
	for _, params := range []string{`{"message":"Sure?"}`, `{"message":"Sure?","requestedSchema":{"type":"object","properties":{}}}`, `{"message":"Sure?","requestedSchema":{"type":"object","properties": {} }}`} {
		r, err := newRequest("demo", methodPerson, json.RawMessage(params))
		if err != nil {
			t.Fatal(err)
		}
		for answer, want := range map[string]string{ // "" is a fault
			`{"action":"accept","content":{"answer":"yes"}}`: `{"action":"accept","content":{"answer":"yes"}}`,
			`{"action":"accept","content":{"answer":"no"}}`:  decline,
			decline:               decline,
			`{"action":"cancel"}`: `{"action":"cancel"}`,
			`{"action":"accept"}`: "", `{"action":"accept","content":{}}`: "", `{"action":"accept","content":null}`: "",
			`{"action":"accept","content":{"answer":""}}`: "", `{"action":"accept","content":{"answer":true}}`: "", `{"action":"accept","content":{"ok":"yes"}}`: "",
		} {
			got := ""
			if r.Check(json.RawMessage(answer)) == nil {
				got = string(r.settled(json.RawMessage(answer)))
			}
			if got != want {
				t.Errorf("%s: %s is %q, want %q", params, answer, got, want)
			}
		}
	}
	field := nameForm(t, "?")
	const no = `{"action":"accept","content":{"name":"no"}}`
	if got := string(field.settled(json.RawMessage(no))); got != no {
		t.Errorf("an answer of another form is %s", got)
	}
}
