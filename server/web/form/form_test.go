package form

import (
	"encoding/json"
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
		"f13 ints: lines one on each line", "f14 some: choices [p] [q] [r] ", "f15 tree.a: number ", "f16 free: json text, or JSON", "f17 odd: json text, or JSON", "f18 <i>\": text ",
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
	for _, field := range f.Fields {
		switch field.Kind {
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
	return sent
}

const nested = `{"type":"object","required":["filter"],"properties":{
 "filter":{"type":"object","description":"Which rows.","required":["column"],"properties":{
   "column":{"type":"string"},"above":{"type":"number"},"flag":{"type":"boolean","default":true},
   "deep":{"type":"object","properties":{"a/b~c":{"type":"string"},"deeper":{"type":"object","properties":{"x":{"type":"object","properties":{"y":{"type":"string"}}}}}}}}},
 "maybe":{"type":"object","properties":{"on":{"type":"boolean","default":true},"n":{"type":"integer","default":3}}},
 "rows":{"type":"array","maxItems":3,"items":{"type":"object","required":["name"],"properties":{"name":{"type":"string"},"n":{"type":"integer"}}}},
 "none":{"type":"object"},
 "linked":{"type":"array","items":{"$ref":"#/$defs/a"}}
 },"$defs":{"a":{"type":"string"}}}`

// The properties of objects are fields, a list of objects has one on each line, and what does
// not fit is JSON.
func TestNested(t *testing.T) {
	const filter, rows = "filter.column filter.above filter.flag filter.deep.a/b~c filter.deep.deeper.x", "maybe.on maybe.n rows none linked"
	for name, test := range map[string]struct {
		given, want string // want "" is as given
		fields      string
	}{
		"fields":        {given: `{"filter":{"column":"a","above":1.5,"flag":false,"deep":{"a/b~c":"x"}},"rows":[{"name":"p"},{"name":"q","n":2}]}`, fields: filter + " " + rows},
		"defaults":      {given: `{"filter":{"column":"a","flag":true},"maybe":{"on":true,"n":3}}`, want: `{"filter":{"column":"a"}}`, fields: filter + " " + rows},
		"changed":       {given: `{"filter":{"column":"a"},"maybe":{"on":false}}`, fields: filter + " " + rows, want: `{"filter":{"column":"a"},"maybe":{"on":false}}`},
		"other members": {given: `{"filter":{"column":"a","other":1},"rows":[{"name":"p","x":1}]}`, fields: "filter " + rows},
		"other types":   {given: `{"filter":"a","maybe":[],"none":{"a":1},"linked":["a"]}`, fields: "filter maybe rows none linked"},
		"deep":          {given: `{"filter":{"column":"a","deep":{"deeper":{"x":{"y":"z"}}}}}`, fields: filter + " " + rows},
	} {
		f, err := New([]byte(nested), "f")
		if err != nil {
			t.Fatal(err)
		}
		args, _ := decode(test.given)
		f.Fill(args.(map[string]any))
		var fields []string
		for _, field := range f.Fields {
			fields = append(fields, field.Name)
		}
		if got := strings.Join(fields, " "); got != test.fields {
			t.Errorf("%s: %s, want %s", name, got, test.fields)
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

// A wrong value in an object stays there with its reason, and so does one that the schema
// refuses; an object that is required is there without values.
func TestNestedWrong(t *testing.T) {
	f, err := New([]byte(nested), "f")
	if err != nil {
		t.Fatal(err)
	}
	got := f.Read(url.Values{"p.filter/above": {"much"}, "p.maybe/on": {"true"}, "p.maybe/n": {"3"}, "p.rows": {`{"name":"p"}` + "\n" + `{`}})
	above, column, rows := fieldOf(f, "filter.above"), fieldOf(f, "filter.column"), fieldOf(f, "rows")
	if !f.Invalid || above.Error != "must be a number" || above.Value != "much" || above.Control() != "p.filter/above" || !strings.Contains(rows.Error, "of the type object") {
		t.Errorf("%+v %+v", above, rows)
	}
	if column.Error == "" || len(f.Errors) > 0 || encode(got) != `{"filter":{"flag":false}}` || !column.Required || !strings.Contains(column.Help, "Which rows") {
		t.Errorf("%+v, %q, %s", column, f.Errors, encode(got))
	}
	if control := fieldOf(f, "filter.deep.a/b~c").Control(); control != "p.filter/deep/a~1b~0c" {
		t.Error(control)
	}
}

// fieldOf returns the field of a property.
func fieldOf(f *Form, name string) *Field {
	return f.Fields[slices.IndexFunc(f.Fields, func(field *Field) bool { return field.Name == name })]
}
