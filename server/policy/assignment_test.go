package policy

import (
	"testing"

	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/store"
	"github.com/skillsmcp/skills-mcp/skills"
)

// A pin and a priority grant nothing: a dangerous skill that no rule names stays refused,
// and the grant of a skill stays as it was.
func TestAssignmentsGrantNothing(t *testing.T) {
	_, open := newStore(t)
	p := New(&Options{Book: open(), Profiles: map[string]Profile{"ci": {}}})
	dangerous := skillAt("a", "/home/a")
	dangerous.Class = skills.Dangerous
	for _, profile := range []string{"", "ci"} {
		a := p.Assignment(t.Context(), profile, dangerous)
		a.Pinned, a.Priority = profile == "", 7
		if err := p.Assign(t.Context(), a); err != nil {
			t.Fatal(err)
		}
		for _, o := range p.Outlooks(t.Context(), dangerous, profile, "", "", nil, func(identity.Principal, *skills.Skill) string { return "" }) {
			if o.Refused == nil {
				t.Errorf("profile %q: %+v", profile, o.Decision)
			}
		}
	}
}

// A filter marks the skill of the origin that was pinned, with its tools' owner, and the
// catalog is the same until a decision changes that.
func TestFilterMarks(t *testing.T) {
	s, open := newStore(t)
	p := New(&Options{Book: open(), Profiles: map[string]Profile{"ci": {}}})
	ci, everybody := NewFilter(p, identity.Principal{Profile: "ci"}), NewFilter(p, identity.Principal{})
	a, b := skillAt("a", "/home/a"), skillAt("b", "/home/b")
	tool := skillAt("b__t", "/home/b")
	tool.Of, b.Tools = b, []*skills.Skill{tool}
	catalog := &skills.Catalog{Skills: []*skills.Skill{a, b, tool}}
	if everybody.Apply(t.Context(), catalog) != catalog {
		t.Error("a catalog without decisions is a copy")
	}
	if err := everybody.Pin(t.Context(), tool, true); err != nil {
		t.Fatal(err)
	}
	other := p.Assignment(t.Context(), "ci", skillAt("a", "/elsewhere/a"))
	other.Priority = 3
	mine := p.Assignment(t.Context(), "ci", b)
	mine.Priority = 5
	for _, each := range []Assignment{other, mine} {
		if err := p.Assign(t.Context(), each); err != nil {
			t.Fatal(err)
		}
	}
	got := everybody.Apply(t.Context(), catalog)
	if got == catalog || everybody.Apply(t.Context(), catalog) != got {
		t.Error("the catalog is not the same for the same decisions")
	}
	if got.Skills[0] != a || got.Skills[1].PinnedByPerson || !got.Skills[2].PinnedByPerson || got.Skills[2].Of != got.Skills[1] || got.Skills[1].Tools[0] != got.Skills[2] || tool.PinnedByPerson {
		t.Errorf("%+v", got.Skills)
	}
	if got := ci.Apply(t.Context(), catalog); got.Skills[1].Priority != 5 || got.Skills[0].Priority != 0 || !got.Skills[2].PinnedByPerson {
		t.Errorf("of the profile: %+v", got.Skills)
	}
	mine.Priority = 0
	if err := p.Assign(t.Context(), mine); err != nil {
		t.Fatal(err)
	}
	if err := everybody.Pin(t.Context(), tool, false); err != nil {
		t.Fatal(err)
	}
	if everybody.Apply(t.Context(), catalog) != catalog {
		t.Error("a withdrawn pin leaves a copy")
	}
	if rows, err := s.Decisions(t.Context(), assignRow, store.DecisionFilter{}); err != nil || len(rows) != 1 { // that of elsewhere
		t.Errorf("%d rows, %v", len(rows), err)
	}
}

// An assignment that this program has not written does not count.
func TestForgedAssignment(t *testing.T) {
	s, open := newStore(t)
	p, skill := New(&Options{Book: open(), Profiles: map[string]Profile{"ci": {}}}), skillAt("a", "/home/a")
	a := p.Assignment(t.Context(), "ci", skill)
	a.Disabled = true
	if err := p.Assign(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	who := identity.Principal{Profile: "ci"}
	if p.Missing(t.Context(), who, skill) == "" {
		t.Error("it does not count")
	}
	rows, err := s.Decisions(t.Context(), assignRow, store.DecisionFilter{})
	if err != nil {
		t.Fatal(err)
	}
	rows[0].Body = append([]byte(" "), rows[0].Body...)
	put(t, s, rows[0])
	if why := p.Missing(t.Context(), who, skill); why != "" {
		t.Errorf("a changed row counts: %s", why)
	}
}

// What is off, and why, is known after the filter, and a skill that the configuration
// disables cannot be enabled.
func TestEnable(t *testing.T) {
	_, open := newStore(t)
	off := false
	p := New(&Options{Book: open(), Rules: []Rule{{Pattern: "b", Name: "the configuration", Enabled: &off}}})
	f := NewFilter(p, identity.Principal{})
	catalog := &skills.Catalog{Skills: []*skills.Skill{skillAt("a", "/home/a"), skillAt("b", "/home/b")}}
	if err := f.Enable(t.Context(), catalog.Skills[0], false); err != nil {
		t.Fatal(err)
	}
	f.Apply(t.Context(), catalog)
	if all := f.Off(); len(all) != 2 || all[0].Why != "it is disabled by your rule for a" || all[1].Why != "it is disabled by the configuration" {
		t.Errorf("%+v", all)
	}
	if err := f.Enable(t.Context(), catalog.Skills[0], true); err != nil {
		t.Error(err)
	}
	if err := f.Enable(t.Context(), catalog.Skills[1], true); err == nil || err.Error() != "b cannot be enabled here: it is disabled by the configuration" {
		t.Error(err)
	}
	f.Apply(t.Context(), catalog)
	if all := f.Off(); len(all) != 1 {
		t.Errorf("%+v", all)
	}
}

// A rule that grants calls of other skills alone is a rule.
func TestRuleOfCalls(t *testing.T) {
	_, open := newStore(t)
	book, skill := open(), skillAt("a", "/home/a")
	if err := book.Put(t.Context(), Rule{Pattern: "a", Origin: skill.Origin().String(), Calls: []string{"b"}}); err != nil {
		t.Fatal(err)
	}
	if r := book.Of(t.Context(), skill); r == nil || len(r.Calls) != 1 {
		t.Errorf("%+v", r)
	}
}
