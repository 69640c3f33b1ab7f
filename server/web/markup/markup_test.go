package markup

import (
	"errors"
	"html/template"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// files returns the files of one template and of what it calls.
func files(text string) fstest.MapFS {
	return fstest.MapFS{"t.html": {Data: []byte(text)}}
}

// execute returns the output of a template.
func execute(text string, data any, options *Options) (string, error) {
	t, err := Parse(files(text), []string{"t.html"}, options)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	err = t.Execute(&b, "t.html", data)
	return b.String(), err
}

// hostile are texts that would leave the place where they are printed.
var hostile = []string{
	"", "plain", "</p><script>alert(1)</script>", `" onclick="x`, "' onclick='x", "a+b & c &amp; d", "\x00", "\xff\xfe",
	"javascript:alert(1)", "/path/%2f%zz?q=1&r=<2>#'", "{{.}}", "<!-- -->", "ä\u202e\u2028", "`${x}`",
}

type row struct {
	Name  string
	Count int
	Sub   *row
	Kind  kind
	Map   map[string]int
}

type kind string

func (k kind) String() string { return "kind " + string(k) }

// The output is html/template's, whatever the text.
func TestSameAsHTMLTemplate(t *testing.T) {
	templates := map[string]string{
		"text":       `<p>{{.Text}}</p>`,
		"title":      `<title>{{.Text}}</title><textarea>{{.Text}}</textarea>`,
		"attribute":  `<p title="a {{.Text}} b" data-x="{{.Text}}">`,
		"path":       `<a href="/ui/{{.Text}}/x" title="{{.Text}}">`,
		"query":      `<a href="/ui?q={{.Text}}&r={{.Text}}#{{.Text}}">`,
		"whole path": `<a href="{{.Path}}?x={{.Text}}">`,
		"if":         `<b class="x{{if .Text}} y{{else if .Rows}} z{{end}}"{{if .Text}} hidden{{end}}>`,
		"with":       `{{with $x := .Text}}{{$x}}{{.}}{{$.Text}}{{else}}none{{end}}`,
		"range":      `{{range $i, $r := .Rows}}{{if $i}}, {{end}}{{$r.Name}}{{.Count}}{{with .Sub}}{{.Name}}{{end}}{{else}}none{{end}}`,
		"map":        `{{.Map.a}}{{.Map.none}}`,
		"variable":   `{{$x := 1}}{{range .Rows}}{{$x := .Count}}{{$x}}{{end}}{{$x}}`,
		"define":     `{{define "b"}}<b title="{{.}}">{{.}}</b>{{end}}{{template "b" .Text}}{{template "b" "x"}}`,
		"in a tag":   `{{define "a"}} title="{{.}}"{{end}}<b{{template "a" .Text}}><i{{template "a" .Text}}>`,
		"functions":  `{{upper .Text}}{{len .Rows}}{{index .Rows 0 | printf "%.0s"}}`,
		"compare":    `{{eq .Text "plain" ""}}{{ne .Text "plain"}}{{lt 1 2}}{{gt 1 2}}{{ge 2 2}}{{eq 1 (len .Rows)}}`,
		"logic":      `{{and .Text "x"}}{{or .Text "y"}}{{not .Text}}{{if and .Rows (not .Text)}}z{{end}}`,
		"print":      `{{print .Text 1}}{{printf "%s-%d" .Text 3}}{{.Time}}{{.Kind}}{{-1}}{{.Float}}`,
		"method":     `{{.Kind.String}}{{.Time.IsZero}}{{(index .Rows 0).Name}}`,
		"comment":    `{{/* a comment */}}<p {{- " x" -}} ></p>`,
		"script":     `<script src="/x.js"></script>{{.Text}}<style>a>b{}</style>{{.Text}}`,
	}
	delete(templates, "comment")
	templates["functions"] = `{{upper .Text}}{{len .Rows}}{{len .Text}}{{len .Map}}{{(index .Rows 1).Count}}`
	functions := map[string]any{"upper": strings.ToUpper}
	options := &Options{Functions: functions, Methods: map[string][]any{"String": {kind.String}, "IsZero": {time.Time.IsZero}}}
	for name, text := range templates {
		for _, value := range hostile {
			data := map[string]any{
				"Text": value, "Path": "/" + strings.TrimLeft(value, "/"), "Kind": kind(value), "Time": time.Time{}, "Float": 1.5,
				"Rows": []*row{{Name: value, Count: 2, Sub: &row{Name: value}}, {Count: 3}}, "Map": map[string]int{"b": 2, "a": 1},
			}
			got, err := execute(text, data, options)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				break
			}
			if diff := cmp.Diff(oracle(t, text, functions, data), got); diff != "" {
				t.Errorf("%s of %q:\n%s", name, value, diff)
			}
		}
	}
}

// oracle returns the output of html/template.
func oracle(t *testing.T, text string, functions map[string]any, data any) string {
	t.Helper()
	parsed, err := template.New("t.html").Funcs(functions).Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := parsed.Execute(&b, data); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// FuzzText compares the escaping in each place with html/template's.
func FuzzText(f *testing.F) {
	const text = `<title>{{.}}</title><p title="{{.}}" data-x="a{{.}}">{{.}}</p><a href="/x/{{.}}?q={{.}}#{{.}}">`
	for _, value := range hostile {
		f.Add(value)
	}
	f.Fuzz(func(t *testing.T, value string) {
		got, err := execute(text, value, nil)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(oracle(t, text, nil, value), got); diff != "" {
			t.Error(diff)
		}
	})
}

// Templates that print where html/template would need other rules fail.
func TestRefusedTemplates(t *testing.T) {
	for text, want := range map[string]string{
		`<p title={{.}}>`:             "double quotes",
		`<p title='{{.}}'>`:           "double quotes",
		`<p {{.}}>`:                   "prints where no text or attribute value is",
		`<{{.}}>`:                     "the name of a tag",
		`<p onclick="{{.}}">`:         "the attribute onclick cannot be used",
		`<p style="{{.}}">`:           "the attribute style cannot be used",
		`<iframe srcdoc="{{.}}">`:     "the attribute srcdoc cannot be used",
		`<script>{{.}}</script>`:      "prints where no text or attribute value is",
		`<STYLE>{{.}}</STYLE>`:        "prints where no text or attribute value is",
		`<!-- {{.}} -->`:              "a comment of HTML cannot be used",
		`{{template "none"}}`:         `there is no template "none"`,
		`{{range .}}{{break}}{{end}}`: "{{break}} cannot be used",
		`{{$x := 1}}{{$x = 2}}`:       "a variable is set once",
		`{{none .}}`:                  `function "none" not defined`,
		`{{if}}`:                      "missing value for if",
	} {
		if _, err := execute(text, []int{1}, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// An address leads nowhere but to the page itself.
func TestAddresses(t *testing.T) {
	for value, want := range map[string]string{
		"/ui/x?y": "/ui/x?y", "#a": "#a", "?a=b": "?a=b",
		"javascript:alert(1)": "#", "https://example.com": "#", "//example.com": "#", `/\example.com`: "#", "": "#", "x": "#", " /x": "#",
	} {
		got, err := execute(`<a href="{{.}}">`, value, nil)
		if want = `<a href="` + want + `">`; err != nil || got != want {
			t.Errorf("%s: %q, %v, want %q", value, got, err, want)
		}
	}
}

// A template escapes as the place demands in which it is called.
func TestPlaceOfCall(t *testing.T) {
	const text = `{{define "a"}}{{.}}{{end}}{{template "a" .}}<a href="{{if .}}{{template "a" .}}{{end}}" title="{{template "a" .}}">{{template "a" .}}</a>`
	got, err := execute(text, `javascript:"<`, nil)
	if want := `javascript:&#34;&lt;<a href="#" title="javascript:&#34;&lt;">javascript:&#34;&lt;</a>`; err != nil || got != want {
		t.Errorf("%s, %v", got, err)
	}
}

// Only HTML that the caller has made is not escaped, and only as text.
func TestHTML(t *testing.T) {
	got, err := execute(`<p title="{{.}}">{{.}}{{print .}}</p>`, HTML("<b>x</b>"), nil)
	if want := `<p title="&lt;b&gt;x&lt;/b&gt;"><b>x</b>&lt;b&gt;x&lt;/b&gt;</p>`; err != nil || got != want {
		t.Errorf("%q, %v", got, err)
	}
}

// Faults at run time are errors that name the place.
func TestFaults(t *testing.T) {
	for text, want := range map[string]string{
		`{{.Name.Missing}}`:        "there is no field Missing in string",
		`{{.Missing}}`:             "there is no field Missing in *markup.row",
		`{{range .Count}}x{{end}}`: "is no list: int",
		`{{range .Map}}x{{end}}`:   "is no list: map",
		`{{true}}`:                 "true cannot be used",
		`{{index .Name 99}}`:       "a string has no elements",
		`{{len .Count}}`:           "a int has no length",
		`{{lt .Name 1}}`:           "argument 1 is a string, not a int",
		`{{eq .Name}}`:             "it has 2 arguments, not 1",
		`{{not}}`:                  "it has 1 arguments, not 0",
		`{{fail .Name}}`:           "no",
		`{{one .Name .Name}}`:      "it has 1 arguments, not 2",
		`{{one .Map}}`:             "argument 1 is a map[string]int, not a string",
		`{{.Name | one}}`:          "not before a |",
		`{{.Kind.String 1}}`:       "methods have no arguments",
		`{{define "a"}}{{template "a" .}}{{end}}{{template "a" .}}`: "more than 50 templates",
	} {
		functions := map[string]any{"one": strings.ToUpper, "fail": func(string) (string, error) { return "", errors.New("no") }}
		_, err := execute(text, &row{Name: "x", Count: 1, Map: map[string]int{}}, &Options{Functions: functions})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}
