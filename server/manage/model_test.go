package manage

import (
	"testing"

	"github.com/skillsmcp/skills-mcp/skills/install/source"
)

// TestInRegistry takes the name of a registry as the source of the skill that is named.
func TestInRegistry(t *testing.T) {
	for _, test := range []struct {
		name, from, skill string
		want              source.Source
	}{
		{"weather", "clawhub", "", source.Source{Kind: source.ClawHub, Name: "weather"}},
		{"ann/weather", "ClawHub", "", source.Source{Kind: source.ClawHub, Name: "ann/weather"}},
		{"", "clawhub:weather", "", source.Source{Kind: source.ClawHub, Name: "weather"}},
		{"weather", "github:ann/skills", "weather", source.Source{Kind: source.Git, Location: "https://github.com/ann/skills"}},
	} {
		skill, from := inRegistry(test.name, test.from)
		got, err := source.Parse(from, t.TempDir())
		if err != nil || skill != test.skill || got.Kind != test.want.Kind || got.Name != test.want.Name {
			t.Errorf("%q of %q: %q of %+v, %v", test.name, test.from, skill, got, err)
		}
	}
	if _, err := source.Parse("clawhub", t.TempDir()); err == nil {
		t.Error("a registry alone is a source")
	}
}
