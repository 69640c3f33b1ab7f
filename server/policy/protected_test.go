package policy

import (
	"slices"
	"testing"

	"github.com/skillsmcp/skills-mcp/skills"
)

// TestProtectedPaths applies rules that grant protected paths: the narrowest one counts, and
// none of somebody who may only narrow.
func TestProtectedPaths(t *testing.T) {
	skill := &skills.Skill{Name: "a", Class: skills.Mutating}
	apply := func(rules ...Rule) []string { return apply(matches(nil, rules, skill, skill.Origin()), skill).paths }
	git, code := []string{".git"}, []string{".vscode"}
	for name, test := range map[string]struct {
		rules []Rule
		want  []string
	}{
		"none":          {nil, nil},
		"one":           {[]Rule{{Pattern: "a", Unprotected: git}}, git},
		"of another":    {[]Rule{{Pattern: "b", Unprotected: git}}, nil},
		"narrowest":     {[]Rule{{Pattern: "a", Unprotected: code}, {Pattern: "*", Unprotected: git}}, code},
		"none by name":  {[]Rule{{Pattern: "a", Unprotected: []string{}}, {Pattern: "*", Unprotected: git}}, nil},
		"the workspace": {[]Rule{{Pattern: "a", Narrows: true, Unprotected: git}}, nil},
	} {
		if got := apply(test.rules...); !slices.Equal(got, test.want) {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}
