package server

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/skillsmcp/skills-mcp/server/exposure"
	"github.com/skillsmcp/skills-mcp/skills"
)

// A view that is made from the last one equals one that is made anew.
func TestNextView(t *testing.T) {
	list := func(n int, changed int, description string) *skills.Catalog {
		c := &skills.Catalog{}
		for i := range n {
			s := &skills.Skill{Name: fmt.Sprintf("s-%03d", i), Description: "d", ModelInvocable: true}
			if i == changed {
				s.Description = description
			}
			c.Skills = append(c.Skills, s)
		}
		return c
	}
	base := list(60, -1, "")
	edited := *base
	edited.Skills = slices.Clone(base.Skills)
	edited.Skills[40] = list(60, 40, "other").Skills[40]
	p := &publisher{calls: &sessionCalls{}, expose: exposure.Options{MaxTools: 5, Uses: map[string]int{"s-001": 1}}}
	for _, c := range []*skills.Catalog{base, &edited, list(61, 3, "x"), list(3, 0, "y"), list(3, 1, "z"), {}} {
		got, want := p.next(c), newView(c)
		want.exposed = want.expose(exposure.State{}, p.expose)
		if !maps.Equal(got.names.of, want.names.of) || !slices.Equal(got.exposed.Order(), want.exposed.Order()) ||
			searchDescription(got.exposed, maxDescription) != searchDescription(want.exposed, maxDescription) {
			t.Errorf("%d skills: not what is made anew", len(c.Skills))
		}
		for _, skill := range c.Skills {
			if got.exposed.Of(skill) != want.exposed.Of(skill) {
				t.Errorf("%s: %v, want %v", skill.Name, got.exposed.Of(skill), want.exposed.Of(skill))
			}
		}
		p.view.Store(got)
	}
}
