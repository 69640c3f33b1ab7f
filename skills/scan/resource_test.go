package scan

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/skillsmcp/skills-mcp/skills"
)

// resourceSkill scans one skill with a file and a script with params.
func resourceSkill(t *testing.T, front string) *skills.Skill {
	t.Helper()
	catalog, err := Scan(t.Context(), []Root{{Source: skills.SourceExtra, FS: fstest.MapFS{
		"s/SKILL.md": {Data: []byte("---\nname: s\ndescription: d\n" + front + "---\nText.\n")},
		"s/run.sh":   {Data: []byte("echo")},
		"s/a.txt":    {Data: []byte("a")},
	}, Label: "test"}}, nil)
	if err != nil || len(catalog.Skills) != 1 {
		t.Fatalf("%v, %v", err, catalog.Problems)
	}
	return catalog.Skills[0]
}

func TestResources(t *testing.T) {
	s := resourceSkill(t, `script: run.sh
params: {day: string}
resources:
  - {uri: "notes:all", file: ./a.txt, title: All, description: Everything., mime_type: "text/plain; charset=utf-8"}
  - {uri: "notes:now", name: now, mime_type: plain}
  - {uri_template: "notes:on/{day}"}
`)
	want := []skills.Resource{
		{URI: "notes:all", Name: "a.txt", Title: "All", Description: "Everything.", MIMEType: "text/plain; charset=utf-8", File: "a.txt", Line: 7},
		{URI: "notes:now", Name: "now", Line: 8},
		{Template: "notes:on/{day}", Name: "s", Line: 9},
	}
	if diff := cmp.Diff(want, s.Resources); diff != "" {
		t.Error(diff)
	}
	if len(s.Problems) != 1 || !strings.Contains(s.Problems[0].String(), `"mime_type" is not a type such as text/plain`) {
		t.Errorf("%v", s.Problems)
	}
}

// What is wrong with one costs that one.
func TestResourcesRefused(t *testing.T) {
	const script = "script: run.sh\nparams: {day: string}\n"
	const needs = "script: run.sh\nparams: {day: {required: true}}\n"
	for _, test := range []struct{ front, item, want string }{
		{script, `{file: a.txt}`, "no URI, or two"},
		{script, `{uri: "a:b", uri_template: "a:{day}"}`, "no URI, or two"},
		{script, `{uri: notes}`, "does not begin with a scheme"},
		{script, `{uri: "SKILL://x"}`, "does not begin with a scheme"},
		{script, `{uri: "skill://x"}`, "means something already"},
		{script, `{uri_template: "file:///{day}"}`, "means something already"},
		{script, `{uri: "https://example.com"}`, "means something already"},
		{script, `{uri: "skills-mcp://runs/a/b"}`, "means something already"},
		{script, `{uri: "a:{day}"}`, "has variables"},
		{script, `{uri: "a:b\nc"}`, "characters that a URI cannot have"},
		{script, `{uri_template: "a:{+day}"}`, "not each variable once"},
		{script, `{uri_template: "a:{night}"}`, `undeclared parameter "night"`},
		{needs, `{uri: "a:b"}`, `requires the parameter "day"`},
		{script, `{uri_template: "a:{day}", file: a.txt}`, "cannot be one file"},
		{script, `{uri: "a:b", file: ../x}`, "file"},
		{script, `{uri: "a:b", file: none}`, `file "none" does not exist`},
		{script, `{uri: "a:b", file: .}`, "file"},
		{"", `{uri: "a:b"}`, "nothing to read it from"},
		{script, `text`, "no URI, or two"},
	} {
		s := resourceSkill(t, test.front+"resources:\n  - "+test.item+"\n  - {uri: \"good:one\", file: a.txt}\n")
		if len(s.Resources) != 1 || s.Resources[0].URI != "good:one" {
			t.Errorf("%s: %+v", test.item, s.Resources)
		}
		if len(s.Problems) != 1 || s.Problems[0].Severity != skills.Warning || !strings.Contains(s.Problems[0].Message, test.want) || s.Problems[0].Line == 0 {
			t.Errorf("%s: %v, want %q", test.item, s.Problems, test.want)
		}
	}
	if s := resourceSkill(t, "resources: text\n"); len(s.Problems) != 1 {
		t.Errorf("no list: %v", s.Problems)
	}
	many := resourceSkill(t, "resources:\n"+strings.Repeat("  - {uri: \"a:b\", file: a.txt}\n", limitResources+5))
	if len(many.Resources) != limitResources || len(many.Problems) != 1 {
		t.Errorf("%d resources, %v", len(many.Resources), many.Problems)
	}
}

// A URI is the first skill's that has it.
func TestClaims(t *testing.T) {
	files := fstest.MapFS{}
	for _, name := range []string{"one", "two"} {
		files[name+"/SKILL.md"] = &fstest.MapFile{Data: []byte("---\nname: " + name + "\ndescription: d\nresources:\n  - {uri: \"a:b\", file: a.txt}\n  - {uri: \"a:" + name + "\", file: a.txt}\n---\n")}
		files[name+"/a.txt"] = &fstest.MapFile{Data: []byte("a")}
	}
	catalog, err := Scan(t.Context(), []Root{{Source: skills.SourceExtra, FS: files, Label: "test"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range catalog.Resources() {
		got = append(got, r.Skill.Name+" "+r.URI)
	}
	if diff := cmp.Diff([]string{"one a:b", "one a:one", "two a:two"}, got); diff != "" {
		t.Error(diff)
	}
	if len(catalog.Problems) != 1 || !strings.HasSuffix(catalog.Problems[0].String(), "two/SKILL.md:5: warning: the resource a:b is ignored: it is one of the skill one (give it another URI)") {
		t.Errorf("%v", catalog.Problems)
	}
}

func FuzzJoinWords(f *testing.F) {
	f.Add("a", "it's \"b\"", `\`)
	f.Add("", " ", "\n")
	f.Fuzz(func(t *testing.T, a, b, c string) {
		words := []string{a, b, c}
		if strings.ToValidUTF8(a+b+c, "") != a+b+c {
			return
		}
		if got := skills.SplitWords(skills.JoinWords(words)); !slices.Equal(got, words) {
			t.Errorf("%q are %q, and split again %q", words, skills.JoinWords(words), got)
		}
	})
}
