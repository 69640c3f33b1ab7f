package scan

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPaths(t *testing.T) {
	var many, manyWant []string
	for i := range limitPaths + 5 {
		many = append(many, fmt.Sprintf("f%d", i))
	}
	manyWant = many[:limitPaths]
	for _, test := range []struct {
		name, yaml string
		want       []string
		problem    string // part of the only one; "" is none
	}{
		{"none", "", nil, ""},
		{"null", "paths:", nil, ""},
		{"one", "paths: src/**/*.go", []string{"src/**/*.go"}, ""},
		{"text with commas", "paths: src/*.ts, 'docs/**', ./x.{c,h},,", []string{"src/*.ts", "'docs/**'", "x.{c,h}"}, ""},
		{"list", "paths: [\"**/*.py\", a.txt, 5]", []string{"**/*.py", "a.txt", "5"}, ""},
		{"folder", "paths: docs/", []string{"docs/**"}, ""},
		{"map", "paths: {a: b}", nil, `"paths" is not a list and is ignored`},
		{"absolute", "paths: [/etc/passwd, ok]", []string{"ok"}, "is not relative to the workspace"},
		{"leaving", "paths: [a/../../b]", nil, "leads out of the workspace"},
		{"no pattern", "paths: [\"a[\"]", nil, "is not a pattern"},
		{"open brace", "paths: [\"{a,b\"]", nil, "is not a pattern"},
		{"long", "paths: [" + strings.Repeat("x", 300) + "]", nil, "is too long"},
		{"many alternatives", `paths: ["` + strings.Repeat("{a,a}", 3) + `"]`, nil, "has too many alternatives"},
		{"just enough alternatives", `paths: ["` + strings.Repeat("{a,a}", 2) + `"]`, []string{strings.Repeat("{a,a}", 2)}, ""},
		{"hidden alternatives", `paths: ["{[}],a}{[}],a}{[}],a}"]`, nil, "has too many alternatives"},
		{"many", "paths: [" + strings.Join(many, ", ") + "]", manyWant, "more than 64 paths"},
	} {
		t.Run(test.name, func(t *testing.T) {
			skill, _ := loadSkill(t, "---\nname: demo\ndescription: d\n"+test.yaml+"\n---\n")
			if diff := cmp.Diff(test.want, skill.Paths); diff != "" {
				t.Error(diff)
			}
			got := lines(skill.Problems)
			if !strings.Contains(got, test.problem) || (test.problem == "") != (got == "") {
				t.Errorf("problems %q, want %q", got, test.problem)
			}
		})
	}
}

func TestPin(t *testing.T) {
	for value, want := range map[string]struct {
		pinned  bool
		problem string
	}{
		"true": {true, ""}, "yes": {true, ""}, "false": {false, ""}, "": {false, ""},
		"[1]": {false, `"pin" is not true or false and is ignored`}, "sometimes": {false, `"pin" is not true or false and is ignored`},
	} {
		skill, _ := loadSkill(t, "---\nname: demo\ndescription: d\npin: "+value+"\n---\n")
		got := lines(skill.Problems)
		if skill.Pinned != want.pinned || !strings.Contains(got, want.problem) || (want.problem == "") != (got == "") {
			t.Errorf("%q: %t, problems %q", value, skill.Pinned, got)
		}
	}
}

// Conduit's "activation: always" is a pin, unless the author says otherwise.
func TestAlwaysIsPin(t *testing.T) {
	for front, want := range map[string]bool{
		"activation: always": true, "activation: manual": false, "metadata: {conduit: {activation: always}}": true,
		"activation: always\npin: false": false, "activation: {keywords: [always]}": false,
	} {
		skill, _ := loadSkill(t, "---\nname: demo\ndescription: d\n"+front+"\n---\n")
		if skill.Pinned != want || len(skill.Problems) > 0 {
			t.Errorf("%q: %t, problems %q", front, skill.Pinned, lines(skill.Problems))
		}
	}
}
