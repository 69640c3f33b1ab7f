package policy

import (
	"testing"

	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/store"
	"github.com/skillsmcp/skills-mcp/skills"
)

// A pin grants nothing: a dangerous skill that no rule names stays refused.
func TestPinGrantsNothing(t *testing.T) {
	_, open := newStore(t)
	p := New(&Options{Book: open()})
	dangerous := skillAt("a", "/home/a")
	dangerous.Class = skills.Dangerous
	if err := p.Pin(t.Context(), dangerous, true); err != nil {
		t.Fatal(err)
	}
	for _, o := range p.Outlooks(t.Context(), dangerous, "", "", "", nil, func(identity.Principal, *skills.Skill) string { return "" }) {
		if o.Refused == nil {
			t.Errorf("%+v", o.Decision)
		}
	}
}

// A filter marks the skill of the origin that was pinned, with its tools' owner, and the
// catalog is the same until a decision changes that.
func TestFilterMarks(t *testing.T) {
	s, open := newStore(t)
	p := New(&Options{Book: open()})
	f := NewFilter(p, identity.Principal{})
	a, b := skillAt("a", "/home/a"), skillAt("b", "/home/b")
	tool := skillAt("b__t", "/home/b")
	tool.Of, b.Tools = b, []*skills.Skill{tool}
	catalog := &skills.Catalog{Skills: []*skills.Skill{a, b, tool}}
	if f.Apply(t.Context(), catalog) != catalog {
		t.Error("a catalog without decisions is a copy")
	}
	for _, skill := range []*skills.Skill{tool, skillAt("a", "/elsewhere/a")} {
		if err := f.Pin(t.Context(), skill, true); err != nil {
			t.Fatal(err)
		}
	}
	got := f.Apply(t.Context(), catalog)
	if got == catalog || f.Apply(t.Context(), catalog) != got {
		t.Error("the catalog is not the same for the same decisions")
	}
	if got.Skills[0] != a || got.Skills[1].PinnedByPerson || !got.Skills[2].PinnedByPerson || got.Skills[2].Of != got.Skills[1] || got.Skills[1].Tools[0] != got.Skills[2] || tool.PinnedByPerson {
		t.Errorf("%+v", got.Skills)
	}
	if err := f.Pin(t.Context(), tool, false); err != nil {
		t.Fatal(err)
	}
	if f.Apply(t.Context(), catalog) != catalog {
		t.Error("a withdrawn pin leaves a copy")
	}
	if rows, err := s.Decisions(t.Context(), pinRow, store.DecisionFilter{}); err != nil || len(rows) != 1 { // that of elsewhere
		t.Errorf("%d rows, %v", len(rows), err)
	}
}

// A pin that this program has not written does not count, nor one that is copied.
func TestForgedPin(t *testing.T) {
	s, open := newStore(t)
	p, skill := New(&Options{Book: open()}), skillAt("a", "/home/a")
	catalog := &skills.Catalog{Skills: []*skills.Skill{skill, skillAt("b", "/home/b")}}
	if err := p.Pin(t.Context(), skill, true); err != nil {
		t.Fatal(err)
	}
	f := NewFilter(p, identity.Principal{})
	if f.Apply(t.Context(), catalog) == catalog {
		t.Error("it does not count")
	}
	rows, err := s.Decisions(t.Context(), pinRow, store.DecisionFilter{})
	if err != nil {
		t.Fatal(err)
	}
	copied := rows[0]
	copied.Key = rowKey("b", "own:/home/b")
	if err := p.options.Book.tables[pinRow].Seal(&copied); err != nil { // as a program can that reads the key
		t.Fatal(err)
	}
	rows[0].Body = append([]byte(" "), rows[0].Body...)
	put(t, s, rows[0])
	put(t, s, copied)
	if f.Apply(t.Context(), catalog) != catalog {
		t.Error("a changed row counts")
	}
}

// TestPersonOnly opens the person's own skills to models, and no catalog that it was given.
func TestPersonOnly(t *testing.T) {
	mine, theirs := skillAt("mine", "/home/mine"), skillAt("theirs", "/cloned/theirs")
	mine.ModelInvocable, theirs.ModelInvocable, theirs.Workspace = false, false, "/cloned"
	mine.Tools = []*skills.Skill{{Name: "mine__run", Of: mine}}
	catalog := &skills.Catalog{Skills: []*skills.Skill{mine, mine.Tools[0], theirs}}
	for _, opens := range []bool{false, true} {
		got := NewFilter(New(&Options{PersonOnly: opens}), identity.Principal{}).Apply(t.Context(), catalog).Skills
		if got[0].ModelInvocable != opens || got[1].ModelInvocable != opens || got[2].ModelInvocable || mine.ModelInvocable || got[1].Of != got[0] {
			t.Errorf("opens %t: %v", opens, got)
		}
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
	if all := f.Off(t.Context()); len(all) != 2 || all[0].Why != "it is disabled by your rule for a" || all[1].Why != "it is disabled by the configuration" {
		t.Errorf("%+v", all)
	}
	if err := f.Enable(t.Context(), catalog.Skills[0], true); err != nil {
		t.Error(err)
	}
	if err := f.Enable(t.Context(), catalog.Skills[1], true); err == nil || err.Error() != "b cannot be enabled here: it is disabled by the configuration" {
		t.Error(err)
	}
	f.Apply(t.Context(), catalog)
	if all := f.Off(t.Context()); len(all) != 1 {
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
