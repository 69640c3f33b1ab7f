package exposure

import (
	"fmt"
	"slices"
	"testing"

	"github.com/skillsmcp/skills-mcp/skills"
)

// With returns the result of Choose, or nil; not nil for a change of a text.
func TestWith(t *testing.T) {
	changes := map[string]func(*skills.Skill){
		"description": func(s *skills.Skill) { s.Description += " And more." },
		"person only": func(s *skills.Skill) { s.ModelInvocable = false },
		"unavailable": func(s *skills.Skill) { s.Unavailable = "needs jq" },
		"pinned":      func(s *skills.Skill) { s.Pinned = true },
	}
	for _, mode := range []Mode{Auto, All, Search} {
		for _, n := range []int{3, 50} {
			for what, change := range changes {
				for _, at := range []int{0, 1, n - 1} {
					o := Options{Mode: mode, MaxTools: 10, Pin: []string{"s-00"}, Uses: map[string]int{"s-01": 3}}
					told := testWith(t, n, at, o, change)
					if what == "description" && !told {
						t.Errorf("%s, %d skills, %s of %d: it cannot tell", mode, n, what, at)
					}
				}
			}
		}
	}
}

func testWith(t *testing.T, n, at int, o Options, change func(*skills.Skill)) (told bool) {
	t.Helper()
	var names []string
	for i := range n {
		names = append(names, fmt.Sprintf("s-%02d", i))
	}
	cost := func(s *skills.Skill) Cost { return Cost{len(s.Description), 10 * len(s.Description)} }
	o.Chars = 120
	all := usable(names...)
	before := Choose(all, State{}, cost, o)
	next := *all[at]
	change(&next)
	got := before.With(map[*skills.Skill]*skills.Skill{all[at]: &next})
	all = slices.Clone(all)
	all[at] = &next
	want := Choose(all, State{}, cost, o)
	if got == nil {
		return false
	}
	if !slices.Equal(got.Order(), want.Order()) || !slices.Equal(got.toolNames(), want.toolNames()) || !slices.EqualFunc(all, all, func(a, b *skills.Skill) bool { return got.Of(a) == want.Of(b) }) || got.Catalog(2000) != want.Catalog(2000) {
		t.Errorf("%+v, %d skills, one changed at %d: not what choosing again gives", o, n, at)
	}
	return true
}
