package form

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const document = `{"type":"object","required":["name","flag","tags"],"additionalProperties":false,"properties":{
 "name":{"type":"string","title":"Your name","description":"Who","minLength":2,"maxLength":20,"pattern":"^[a-z]+$"},
 "body":{"type":"string"},
 "when":{"type":"string","format":"date"},
 "file":{"type":"string","format":"path"},
 "n":{"type":"integer","minimum":1,"maximum":9,"default":3},
 "x":{"type":"number"},
 "flag":{"type":"boolean"},
 "maybe":{"type":"boolean"},
 "on":{"type":"boolean","default":true},
 "size":{"type":"string","enum":["s","m <b>"],"default":"m <b>"},
 "level":{"enum":[1,"1",null]},
 "titled":{"type":"string","oneOf":[{"const":"a","title":"A!"},{"const":"b"}]},
 "tags":{"type":"array","items":{"type":"string"},"minItems":1},
 "ints":{"type":"array","items":{"type":"integer"}},
 "some":{"type":"array","items":{"type":"string","enum":["p","q","r"]}},
 "tree":{"type":"object","properties":{"a":{"type":"integer"}}},
 "free":{},
 "odd":{"type":["string","null"],"description":"odd one"},
 "<i>\"":{"type":"string"}
}}`

func newForm(t *testing.T) *Form {
	t.Helper()
	f, err := New([]byte(document), "f")
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// The fields come in the schema's order, each with a control that fits.
func TestNew(t *testing.T) {
	var got []string
	for _, f := range newForm(t).Fields {
		line := f.ID + " " + f.Name + ": " + string(f.Kind)
		if f.Required {
			line += ", required"
		}
		if f.Value != "" {
			line += ", is " + f.Value
		}
		for _, o := range f.Options {
			line += " [" + o.Label
			if o.Selected {
				line += "*"
			}
			line += "]"
		}
		got = append(got, line+" "+strings.Join(f.Hints, ", "))
	}
	want := []string{
		"f0 name: text, required at least 2 characters, at most 20 characters, of the pattern ^[a-z]+$", "f1 body: long ", "f2 when: text ", "f3 file: text a path, relative to the workspace",
		"f4 n: number, is 3 at least 1, at most 9", "f5 x: number ", "f6 flag: check, required ", "f7 maybe: choice [yes] [no] ", "f8 on: check, is true ",
		"f9 size: choice, is m <b> [s] [m <b>*] ", "f10 level: choice [1] [1] [null] ", "f11 titled: choice [A!] [b] ", "f12 tags: lines, required one on each line, at least 1",
		"f13 ints: lines one on each line", "f14 some: choices [p] [q] [r] ", "f15 tree: object ", "f16 free: json text, or JSON", "f17 odd: json text, or JSON", "f18 <i>\": text ",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Values that are written into the fields are read back from them.
func TestRoundTrip(t *testing.T) {
	for _, given := range []string{
		`{"name":"ada","flag":true,"tags":["a","b c"],"n":3,"on":true,"size":"s"}`,
		`{"name":"ada","flag":false,"tags":["x"],"body":"one\ntwo","when":"2026-01-02","file":"a b/c.txt","n":9,"x":-1.5e3,"maybe":false,"on":false,"size":"m <b>","level":"1","titled":"b","ints":[1,-2],"some":["p","r"],"tree":{"a":1},"free":[1,{"b":null}],"odd":"text","<i>\"":"</script>"}`,
		`{"name":"ada","flag":true,"tags":["two\nlines"],"n":12345678901234567890,"on":true,"size":"s","level":null,"free":"12","odd":"a"}`,
		`{"name":"ada","flag":true,"tags":["[1]",""],"on":true,"size":"s","level":1,"free":12,"x":0.10}`,
	} {
		d := json.NewDecoder(strings.NewReader(given))
		d.UseNumber()
		var args map[string]any
		if err := d.Decode(&args); err != nil {
			t.Fatal(err)
		}
		f := newForm(t)
		f.Fill(args)
		got := newForm(t).Read(f.values())
		if diff := cmp.Diff(args, got); diff != "" {
			t.Errorf("%s:\n%s", given, diff)
		}
	}
}

// values returns what a browser would send.
func (f *Form) values() url.Values {
	sent := url.Values{}
	send(f.Fields, sent)
	return sent
}

func send(fields []*Field, sent url.Values) {
	for _, field := range fields {
		switch field.Kind {
		case Object, Objects:
			for _, g := range field.Groups {
				send(g.Fields, sent)
			}
		case Check:
			if field.Value == "true" {
				sent.Add(field.Control(), "true")
			}
		case Choice, Choices:
			for _, o := range field.Options {
				if o.Selected {
					sent.Add(field.Control(), o.Value)
				}
			}
		default:
			sent.Add(field.Control(), strings.ReplaceAll(field.Value, "\n", "\r\n"))
		}
	}
}

const nested = `{"type":"object","required":["filter"],"properties":{
 "filter":{"type":"object","title":"Filter","required":["column"],"properties":{
   "column":{"type":"string"},"above":{"type":"number"},"flag":{"type":"boolean","default":true},
   "deep":{"type":"object","properties":{"a/b~c":{"type":"string"},"deeper":{"type":"object","properties":{"x":{"type":"object","properties":{"y":{"type":"string"}}}}}}}}},
 "maybe":{"type":"object","properties":{"on":{"type":"boolean","default":true},"n":{"type":"integer","default":3}}},
 "rows":{"type":"array","maxItems":3,"items":{"type":"object","required":["name"],"properties":{"name":{"type":"string"},"n":{"type":"integer"}}}},
 "none":{"type":"object"},
 "linked":{"type":"array","items":{"$ref":"#/$defs/a"}}
 },"$defs":{"a":{"type":"string"}}}`

// Objects and lists of objects have fields of their own, and what does not fit is JSON.
func TestNested(t *testing.T) {
	for name, test := range map[string]struct {
		given, want string // want "" is as given
		kinds       string
	}{
		"fields":        {given: `{"filter":{"column":"a","above":1.5,"flag":false,"deep":{"a/b~c":"x"}},"rows":[{"name":"p"},{"name":"q","n":2}]}`, kinds: "object object objects json json"},
		"defaults":      {given: `{"filter":{"column":"a","flag":true},"maybe":{"on":true,"n":3}}`, want: `{"filter":{"column":"a","flag":true}}`, kinds: "object object objects json json"},
		"other members": {given: `{"filter":{"column":"a","other":1},"rows":[{"name":"p","x":1}]}`, kinds: "json object json json json"},
		"other types":   {given: `{"filter":"a","maybe":[],"rows":{"a":1},"none":{"a":1},"linked":["a"]}`, kinds: "json json json json json"},
		"many rows":     {given: `{"filter":{"column":"a","flag":true},"rows":[` + strings.Repeat(`{"name":"p"},`, 30) + `{"name":"q"}]}`, kinds: "object object json json json"},
		"too deep":      {given: `{"filter":{"column":"a","flag":true,"deep":{"deeper":{"x":{"y":"z"}}}}}`, kinds: "object object objects json json"},
	} {
		f, err := New([]byte(nested), "f")
		if err != nil {
			t.Fatal(err)
		}
		args, _ := decode(test.given)
		f.Fill(args.(map[string]any))
		var kinds []string
		for _, field := range f.Fields {
			kinds = append(kinds, string(field.Kind))
		}
		if got := strings.Join(kinds, " "); got != test.kinds {
			t.Errorf("%s: %s, want %s", name, got, test.kinds)
		}
		again, _ := New([]byte(nested), "f")
		got := again.Read(f.values())
		if test.want == "" {
			test.want = test.given
		}
		if want, _ := decode(test.want); !cmp.Equal(want, any(got)) {
			t.Errorf("%s: %s, want %s", name, encode(got), test.want)
		}
	}
}

// A wrong value in a group stays there with its reason; a list has a row more than is filled
// in, up to 20, whatever a browser sends.
func TestNestedWrong(t *testing.T) {
	f, err := New([]byte(nested), "f")
	if err != nil {
		t.Fatal(err)
	}
	f.Read(url.Values{"p.filter/column": {"a"}, "p.filter/above": {"much"}, "p.rows/0/name": {"x"}, "p.rows/1/n": {"y"}, "p.rows/9/name": {"z"}})
	filter, rows := fieldOf(f, "filter"), fieldOf(f, "rows")
	if above := filter.Groups[0].Fields[1]; !f.Invalid || above.Error != "must be a number" || above.Value != "much" || filter.Error == "" || above.Control() != "p.filter/above" || above.ID != "f0-1" {
		t.Errorf("%+v, %s", above, filter.Error)
	}
	if len(rows.Groups) != 3 || rows.Groups[1].Fields[1].Error == "" || rows.Groups[2].Fields[0].Control() != "p.rows/2/name" {
		t.Errorf("%+v", rows.Groups)
	}
	f.Grow()
	if f.Invalid || filter.Error != "" || filter.Groups[0].Fields[1].Error != "" || !f.HasRows() {
		t.Error("what is wrong is not forgotten")
	}
	sent := url.Values{}
	for i := range 5000 {
		sent.Set(fmt.Sprintf("p.rows/%d/name", i), "x")
	}
	if f.Read(sent); len(fieldOf(f, "rows").Groups) != 20 {
		t.Errorf("%d rows", len(fieldOf(f, "rows").Groups))
	}
}

// Wrong values stay in their fields, with the reason.
func TestReadWrong(t *testing.T) {
	f := newForm(t)
	f.Read(url.Values{
		"p.name": {"A"}, "p.n": {"12"}, "p.x": {"abc"}, "p.size": {`"z"`}, "p.ints": {"1\ntwo"}, "p.tree": {"{"}, "p.tags": {""}, "p.when": {"x"},
	})
	got := map[string]string{}
	for _, field := range f.Fields {
		if field.Error != "" {
			got[field.Name] = field.Error
		}
	}
	want := map[string]string{
		"x": "must be a number", "size": "must be one of the options", "ints": `"two" must be of the type integer`, "tree": "this is not JSON: unexpected EOF",
		"name": got["name"], "n": got["n"], "tags": got["tags"],
	}
	if diff := cmp.Diff(want, got); diff != "" || got["name"] == "" || got["n"] == "" || got["tags"] == "" || !f.Invalid {
		t.Error(diff, got)
	}
	if fieldOf(f, "name").Value != "A" || fieldOf(f, "x").Value != "abc" || fieldOf(f, "tree").Value != "{" || fieldOf(f, "ints").Value != "1\ntwo" {
		t.Error("what was typed is lost")
	}
	if slices.ContainsFunc(fieldOf(f, "size").Options, func(o Option) bool { return o.Selected }) {
		t.Error("an option that nobody chose is selected")
	}
}

// A text of which a person has removed the default is empty; another empty field is none.
func TestReadEmpty(t *testing.T) {
	f, err := New([]byte(`{"type":"object","properties":{"a":{"type":"string","default":"x"},"b":{"type":"string"},"c":{"type":"integer","default":1},"d":{"type":"array","items":{"type":"string"}}}}`), "")
	if err != nil {
		t.Fatal(err)
	}
	got := f.Read(url.Values{"p.a": {""}, "p.b": {""}, "p.c": {""}, "p.d": {"\r\n"}})
	if diff := cmp.Diff(map[string]any{"a": ""}, got); diff != "" || f.Invalid {
		t.Error(diff, f.Errors)
	}
}

func TestNewWrong(t *testing.T) {
	for _, given := range []string{`{`, `[]`, `{"properties":[]}`, `{"properties":{"a":{"type":"nothing"}}}`} {
		if _, err := New([]byte(given), ""); err == nil {
			t.Errorf("%s has a form", given)
		}
	}
	if f, err := New([]byte(`{"type":"object"}`), ""); err != nil || len(f.Fields) != 0 {
		t.Error(f, err)
	}
}

// FuzzRead has no schema and no form do more than be refused.
func FuzzRead(f *testing.F) {
	f.Add(document, "p.name=x&p.n=1&p.ints=1%0a2")
	f.Add(`{"properties":{"a":{"enum":[{}],"default":[1]},"b":{"items":{"enum":[1]},"type":"array"}}}`, "p.a={}&p.b=1")
	f.Fuzz(func(t *testing.T, document, query string) {
		form, err := New([]byte(document), "f")
		if err != nil {
			return
		}
		sent, _ := url.ParseQuery(query)
		form.Fill(form.Read(sent))
	})
}

// A choice of many values, with as many that are set, is made once.
func TestManyChoices(t *testing.T) {
	all := make([]string, 3000)
	for i := range all {
		all[i] = strings.Repeat("v", 1+i%40) + string(rune('a'+i%26))
	}
	values, _ := json.Marshal(all)
	schema := `{"type":"object","properties":{"a":{"type":"array","items":{"type":"string","enum":` + string(values) + `},"default":` + string(values) + `}}}`
	allocations := testing.AllocsPerRun(1, func() {
		if f, err := New([]byte(schema), "f"); err != nil || !f.Fields[0].Options[2999].Selected {
			t.Error(err, "the last value is not selected")
		}
	})
	if allocations > 1e6 { // each value with each other: 9 million
		t.Errorf("it takes %.0f allocations", allocations)
	}
}

// fieldOf returns the field of a property.
func fieldOf(f *Form, name string) *Field {
	return f.Fields[slices.IndexFunc(f.Fields, func(field *Field) bool { return field.Name == name })]
}
