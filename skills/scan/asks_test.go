package scan

import (
	"github.com/skillsmcp/skills-mcp/skills"
	"slices"
	"strings"
	"testing"
)

func TestAsks(t *testing.T) {
	for value, want := range map[string]struct {
		asks    []skills.Asked
		problem string
	}{
		"person":                 {[]skills.Asked{skills.AskPerson}, ""},
		"[person, model, roots]": {[]skills.Asked{skills.AskPerson, skills.AskModel, skills.AskRoots}, ""},
		"person model person":    {[]skills.Asked{skills.AskPerson, skills.AskModel}, ""},
		"[]":                     {nil, ""},
		"":                       {nil, ""},
		"[cat, person]":          {[]skills.Asked{skills.AskPerson}, `"cat" in "asks" is nobody who can be asked`},
		"true":                   {nil, `"true" in "asks" is nobody who can be asked`},
		"{person: true}":         {nil, `"asks" is not a list and is ignored`},
	} {
		skill, _ := loadSkill(t, "---\nname: demo\ndescription: d\nasks: "+value+"\n---\n")
		got := lines(skill.Problems)
		if !slices.Equal(skill.Asks, want.asks) || !strings.Contains(got, want.problem) || (want.problem == "") != (got == "") {
			t.Errorf("%q: %q, problems %q", value, skill.Asks, got)
		}
	}
}

// TestToolAsks has the tools of a skill ask as it does, unless they say
// otherwise.
func TestToolAsks(t *testing.T) {
	catalog := scanFiles(t, map[string]string{
		"demo/SKILL.md": "---\nname: demo\ndescription: d\nasks: [person, model]\n---\n",
		"demo/tools.yaml": `tools:
- {name: same, script: run.sh}
- {name: less, script: run.sh, asks: model}
- {name: none, script: run.sh, asks: []}`,
		"demo/run.sh": "echo",
	})
	for name, want := range map[string][]skills.Asked{
		"demo__same": {skills.AskPerson, skills.AskModel}, "demo__less": {skills.AskModel}, "demo__none": nil,
	} {
		tool, err := catalog.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(tool.Asks, want) {
			t.Errorf("%s asks %q, want %q", name, tool.Asks, want)
		}
	}
}

// The skills that a script wants to call are patterns of names, and a tool declares its own.
func TestCalls(t *testing.T) {
	for value, want := range map[string]struct {
		calls   []string
		problem string
	}{
		"deploy":                 {[]string{"deploy"}, ""},
		"[a, 'p/*', a]":          {[]string{"a", "p/*"}, ""},
		"[a, '[']":               {[]string{"a"}, `"[" in "calls" names no skill`},
		"{a: true}":              {nil, `"calls" is not a list and is ignored`},
		strings.Repeat("x", 300): {nil, `in "calls" names no skill`},
	} {
		skill, _ := loadSkill(t, "---\nname: demo\ndescription: d\ncalls: "+value+"\n---\n")
		got := lines(skill.Problems)
		if !slices.Equal(skill.Calls, want.calls) || !strings.Contains(got, want.problem) || (want.problem == "") != (got == "") {
			t.Errorf("%s: it calls %q, problems %q", value, skill.Calls, got)
		}
	}
}
