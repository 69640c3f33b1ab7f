package skills

import "testing"

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
