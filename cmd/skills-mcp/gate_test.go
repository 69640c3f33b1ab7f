package main

import (
	"slices"
	"testing"

	"github.com/skillsmcp/skills-mcp/server/requirements"
	"github.com/skillsmcp/skills-mcp/skills"
)

// What is wanted after a change is what the whole catalog asks for.
func TestWanted(t *testing.T) {
	skill := func(name, program, role string) *skills.Skill {
		return &skills.Skill{Name: name, Entry: &skills.Entry{Interpreter: []string{program}, ImageRole: role}}
	}
	var asked wanted
	for i, list := range [][]*skills.Skill{
		{skill("a", "bash", "x"), skill("b", "node", "y")},
		{skill("a", "python3", "x"), skill("b", "node", "y")},
		{skill("a", "node", "x"), skill("b", "node", "y")},
		{skill("a", "bash", "x"), skill("b", "bash", "y")},
		{skill("a", "bash", "x"), skill("b", "bash", "y"), skill("c", "deno", "z")},
		{},
	} {
		if got, want := asked.by(&skills.Catalog{Skills: list}), requirements.Wants(list...); !slices.Equal(got, want) {
			t.Errorf("catalog %d: %q, want %q", i, got, want)
		}
	}
}
