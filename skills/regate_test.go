package skills

import (
	"fmt"
	"slices"
	"testing"
)

// What is gated by what was is what is gated anew, and shares what did not change.
func TestRegated(t *testing.T) {
	place := Place{OS: "linux", Name: "the sandbox", Programs: "it", Has: func(name string) bool { return name == "bash" }}
	where := func(*Skill) Place { return place }
	needs := func(bins ...string) *Skill { return &Skill{Requires: Requires{Bins: bins}} }
	all := []*Skill{needs("bash"), needs("jq"), needs(), needs("jq")}
	for i, s := range all {
		s.Name, s.File = fmt.Sprintf("s%d", i), fmt.Sprintf("s%d/SKILL.md", i)
	}
	all[3].Problems = []Problem{{Severity: Note, Path: all[3].File, Line: 2}}
	before := &Catalog{Skills: all, Problems: all[3].Problems, Shadowed: []Shadow{{Skill: needs(), By: all[1]}}}
	after := before.Gated(where)
	if again := before.Regated(before, after, where); again != after {
		t.Error("the same catalog is gated to another one")
	}
	for at := range all {
		for _, bins := range [][]string{nil, {"jq", "rg"}, {"bash"}} {
			changed := *before
			changed.Skills = slices.Clone(all)
			next := needs(bins...)
			next.Name, next.File, next.Problems = all[at].Name, all[at].File, all[at].Problems
			changed.Skills[at] = next
			if at == 1 {
				changed.Shadowed = []Shadow{{Skill: before.Shadowed[0].Skill, By: next}}
			}
			got, want := changed.Regated(before, after, where), changed.Gated(where)
			if !slices.Equal(got.Problems, want.Problems) {
				t.Errorf("s%d needs %v: problems\n%v, want\n%v", at, bins, got.Problems, want.Problems)
			}
			for i, s := range got.Skills {
				if s.Unavailable != want.Skills[i].Unavailable || !slices.Equal(s.Problems, want.Skills[i].Problems) {
					t.Errorf("s%d needs %v: s%d is %q, want %q", at, bins, i, s.Unavailable, want.Skills[i].Unavailable)
				}
				if i != at && s != after.Skills[i] {
					t.Errorf("s%d needs %v: s%d did not change, and is another", at, bins, i)
				}
			}
			if by := got.Shadowed[0].By; by != got.Skills[1] {
				t.Errorf("s%d needs %v: what shadows is not in the catalog", at, bins)
			}
		}
	}
}

func TestReplaced(t *testing.T) {
	a, b, c, other := &Skill{Name: "a"}, &Skill{Name: "b"}, &Skill{Name: "c"}, &Skill{Name: "b"}
	before := &Catalog{Skills: []*Skill{a, b}}
	for _, test := range []struct {
		now  []*Skill
		same bool
		by   int
	}{{[]*Skill{a, b}, true, 0}, {[]*Skill{a, other}, true, 1}, {[]*Skill{a, c}, false, 0}, {[]*Skill{a}, false, 0}, {nil, false, 0}} {
		by, same := (&Catalog{Skills: test.now}).Replaced(before)
		if same != test.same || len(by) != test.by {
			t.Errorf("%d skills: %v, %t", len(test.now), by, same)
		}
	}
}
