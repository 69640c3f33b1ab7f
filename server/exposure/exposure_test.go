package exposure

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/skillsmcp/skills-mcp/skills"
)

// usable makes skills that a model can use, of qualified names.
func usable(names ...string) []*skills.Skill {
	var list []*skills.Skill
	for _, name := range names {
		plugin, bare, in := strings.Cut(name, "/")
		if !in {
			plugin, bare = "", name
		}
		list = append(list, &skills.Skill{Plugin: plugin, Name: bare, Description: "Does " + bare + ".", ModelInvocable: true})
	}
	return list
}

// numbered makes n skills of the names skill-000, skill-001 and so on.
func numbered(n int) []*skills.Skill {
	var names []string
	for i := range n {
		names = append(names, fmt.Sprintf("skill-%03d", i))
	}
	return usable(names...)
}

// each returns the same cost for all tools.
func each(description, whole int) func(*skills.Skill) Cost {
	return func(*skills.Skill) Cost { return Cost{description, whole} }
}

// tools returns the names of the skills that are tools.
func (e *Exposure) tools() []string {
	var names []string
	for _, skill := range e.order {
		if e.Of(skill).Reach == ByTool {
			names = append(names, skill.QualifiedName())
		}
	}
	return names
}

func TestAllOrSome(t *testing.T) {
	small := each(100, 300)
	used := map[string]int{"skill-001": 1}
	for _, test := range []struct {
		name  string
		n     int
		cost  func(*skills.Skill) Cost
		o     Options
		tools int
		whole bool
	}{
		{"none", 0, small, Options{}, 0, true},
		{"as many as there is room for", 40, small, Options{}, 40, true},
		{"one more", 41, small, Options{}, 0, false},
		{"one more, one used", 41, small, Options{Uses: used}, 1, false},
		{"descriptions that just fit", 40, each(300, 400), Options{}, 40, true},
		{"descriptions that do not", 40, each(301, 400), Options{}, 0, false},
		{"parameters that just fit", 40, each(100, 1200), Options{}, 40, true},
		{"parameters that do not", 40, each(100, 1201), Options{}, 0, false},
		{"fewer tools", 11, small, Options{MaxTools: 10}, 0, false},
		{"more tools", 100, small, Options{MaxTools: 100}, 100, true},
		{"less room", 40, small, Options{Chars: 3999}, 0, false},
		{"all", 1000, small, Options{Mode: All}, 1000, true},
		{"search", 3, small, Options{Mode: Search, Uses: used}, 0, false},
		{"search and a pin", 3, small, Options{Mode: Search, Pin: []string{"skill-002"}}, 1, false},
		{"as many used ones as there is room for", 1000, small, Options{Pin: []string{"*"}}, 40, false},
		{"as long ones", 1000, each(500, 1000), Options{Pin: []string{"*"}}, 12, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := Choose(numbered(test.n), nil, test.cost, test.o)
			whole := len(e.hidden) == 0
			if got := len(e.tools()); got != test.tools || whole != test.whole {
				t.Errorf("%d tools, whole %t; want %d, %t", got, whole, test.tools, test.whole)
			}
		})
	}
}

// Where skills fit but for the tools that they have, those give way, unless
// somebody asked for one.
func TestToolsGiveWay(t *testing.T) {
	all := numbered(10)
	for i := range 40 {
		owner := all[i%10]
		all = append(all, &skills.Skill{Name: fmt.Sprintf("%s__tool-%d", owner.Name, i), Of: owner, ModelInvocable: true})
	}
	e := Choose(all, nil, each(100, 300), Options{Uses: map[string]int{"skill-003__tool-3": 1}})
	if got := e.tools(); len(got) != 11 || !slices.Contains(got, "skill-003__tool-3") || !slices.Contains(got, "skill-009") {
		t.Errorf("tools %q, want the ten skills and the tool that was used", got)
	}
	if d := e.Of(find(all, "skill-002__tool-2")); d != (Decision{BySearch, "not all fit; load_skill of skill-002 names it"}) {
		t.Errorf("%+v", d)
	}
	if got := Choose(all, nil, each(2000, 3000), Options{}).tools(); len(got) != 0 {
		t.Errorf("tools %q, where not even the skills fit", got)
	}
}

func find(all []*skills.Skill, name string) *skills.Skill {
	return all[slices.IndexFunc(all, func(s *skills.Skill) bool { return s.QualifiedName() == name })]
}

func TestOrderAndReasons(t *testing.T) {
	all := usable("author", "by-name", "file", "often", "often-too", "once", "p/pin", "pin-too", "private", "gone")
	all[0].Pinned = true
	all[8].ModelInvocable = false
	all[9].Unavailable = "it is gone"
	o := Options{
		MaxTools: 6, Pin: []string{"pin-*", "p/*"},
		Uses: map[string]int{"often": 9, "often-too": 9, "once": 1, "private": 7},
	}
	active := map[string]bool{"file": true, "elsewhere": true}
	var got []string
	for range 20 { // whatever order they come in
		rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		e := Choose(all, active, each(10, 10), o)
		var lines []string
		if !e.Active(find(all, "file")) || e.Active(find(all, "once")) {
			t.Error("the workspace has files for others")
		}
		for _, skill := range e.Order() {
			d := e.Of(skill)
			lines = append(lines, fmt.Sprintf("%s: %s: %s", skill.QualifiedName(), d.Reach, d.Why))
		}
		if got != nil && !slices.Equal(got, lines) {
			t.Fatalf("it depends on the order of the skills:\n%q\n%q", got, lines)
		}
		got = lines
	}
	want := []string{
		"pin-too: tool: pinned by the configuration",
		"p/pin: tool: pinned by the configuration",
		"file: tool: the workspace has files for it",
		"author: tool: pinned by its author",
		"often: tool: used 9 times",
		"often-too: tool: used 9 times",
		"private: none: only a person may call it",
		"once: search: used once; over the limits of expose",
		"by-name: search: not all fit; not pinned, never used",
		"gone: none: it is unavailable",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestWorkspaceComesLast ranks a workspace's own requests after all skills that the
// person has and uses; a skill that the person pins comes first, wherever it is from.
func TestWorkspaceComesLast(t *testing.T) {
	all := usable("a-file", "b-pin", "c-used", "d-named", "file", "pin", "used", "plain")
	for _, skill := range all[:4] {
		skill.Workspace = "/work"
	}
	all[1].Pinned, all[5].Pinned = true, true
	e := Choose(all, map[string]bool{"a-file": true, "file": true}, each(10, 10), Options{
		MaxTools: 5, Pin: []string{"d-named"}, Uses: map[string]int{"c-used": 9, "used": 1},
	})
	var order []string
	for _, skill := range e.Order() {
		order = append(order, skill.Name)
	}
	if diff := cmp.Diff([]string{"d-named", "file", "pin", "used", "a-file", "b-pin", "c-used", "plain"}, order); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"d-named", "file", "pin", "used", "a-file"}, e.tools()); diff != "" {
		t.Error(diff)
	}
}

// A skill whose tool is huge costs itself its tool, and no other skill.
func TestHugeTool(t *testing.T) {
	all := usable("huge", "other")
	cost := func(skill *skills.Skill) Cost {
		if skill.Name == "huge" {
			return Cost{2000, 900_000}
		}
		return Cost{100, 300}
	}
	all[0].Pinned = true
	e := Choose(all, nil, cost, Options{})
	if diff := cmp.Diff([]string{"other"}, e.tools()); diff != "" {
		t.Error(diff)
	}
	if got := e.Of(all[0]).Why; got != "its tool alone is larger than expose.catalog_chars" {
		t.Error(got)
	}
	// Where not all fit, it does not take the room of those that come after it.
	e = Choose(append(numbered(50), all...), nil, cost, Options{Uses: map[string]int{"other": 1}})
	if diff := cmp.Diff([]string{"other"}, e.tools()); diff != "" {
		t.Error(diff)
	}
}

// The cost of a skill that nobody asked for is not looked at: it takes time.
func TestCostOfFew(t *testing.T) {
	asked := 0
	Choose(numbered(1000), nil, func(*skills.Skill) Cost {
		asked++
		return Cost{1, 1}
	}, Options{Uses: map[string]int{"skill-500": 1}})
	if asked != 1 {
		t.Errorf("%d costs were looked at", asked)
	}
}

func BenchmarkChoose(b *testing.B) {
	all, uses := numbered(10_000), map[string]int{"skill-500": 1}
	for b.Loop() {
		Choose(all, nil, each(300, 700), Options{Uses: uses, Pin: []string{"a/*", "skill-1??"}}).Catalog(2000)
	}
}

func TestMatches(t *testing.T) {
	skill := usable("plugin/deploy-app")[0]
	for pattern, want := range map[string]bool{
		"plugin/deploy-app": true, "plugin/*": true, "*/deploy-*": true, "deploy-app": true, "deploy-???": true, "*": true,
		"deploy": false, "plugin": false, "other/*": false, "plugin/": false, "": false, "[": false, "plugin/[": false,
	} {
		if got := Matches(pattern, skill); got != want {
			t.Errorf("%q: %t, want %t", pattern, got, want)
		}
	}
}

func TestCatalog(t *testing.T) {
	all := usable("a", "b", "p/c", "p/d", "private")
	all[0].Description = "Many\n\twords " + strings.Repeat("and ü ", 100)
	all[1].Description = ""
	all[4].ModelInvocable = false
	e := Choose(all, nil, each(1, 1), Options{Mode: Search, Pin: []string{"b"}})
	for _, test := range []struct {
		room int
		want string
	}{
		{300, "Skills without a tool of their own (3):\n- a: Many words " + strings.TrimSpace(strings.Repeat("and ü ", 26)) + " and…\n- p/c: Does c.\n- p/d: Does d."},
		{150, "Skills without a tool of their own (3):\n- a: Many words and ü and ü and ü and ü and ü a…\n- p/c: Does c.\n- p/d: Does d."},
		{60, "Skills without a tool of their own (3): a, p/c, p/d"},
	} {
		if diff := cmp.Diff(test.want, e.Catalog(test.room)); diff != "" {
			t.Errorf("in %d bytes: %s", test.room, diff)
		}
	}
	if got := Choose(all, nil, each(1, 1), Options{}).Catalog(1000); got != "" {
		t.Errorf("all are tools, and yet %q", got)
	}
}

func TestCatalogOfMany(t *testing.T) {
	all := numbered(900)
	for i := range 100 {
		all = append(all, usable(fmt.Sprintf("plugin-%d/skill-%d", i%3, i))...)
	}
	uses := map[string]int{"plugin-1/skill-1": 1}
	e := Choose(all, nil, each(1, 1), Options{Mode: Search, Uses: uses})
	got := e.Catalog(300)
	want := "Skills without a tool of their own (1000):\n- plugin-1/: 33\n- plugin-0/: 34\n- plugin-2/: 33\n" +
		"plugin-1/skill-1, skill-000, skill-001, skill-002, skill-003, skill-004, skill-005, skill-006, skill-007, skill-008, skill-009, skill-010, skill-011, skill-012, skill-013, skill-014, skill-015, and 983 more"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	// One more is told, wherever it is listed.
	more := Choose(append(all, usable("zzz")...), nil, each(1, 1), Options{Mode: Search, Uses: uses})
	if more.Catalog(300) == got {
		t.Error("a new skill does not change the catalog")
	}
}

// A name that is long takes no room of others.
func TestCatalogLongName(t *testing.T) {
	list := append(usable(strings.Repeat("a", maxListed+1)), usable("b", strings.Repeat("p", maxListed)+"/c")...)
	e := Choose(list, nil, each(1, 1), Options{Mode: Search})
	for room, want := range map[int]string{
		100: "Skills without a tool of their own (3):\n- b: Does b.\n- and 2 more",
		61:  "Skills without a tool of their own (3):\nb, and 2 more",
	} {
		if got := e.Catalog(room); got != want {
			t.Errorf("in %d bytes: %s", room, got)
		}
	}
}

// The scripts of one skill do not take the room of other skills.
func TestCatalogNamesSkillsBeforeTheirTools(t *testing.T) {
	all := usable("a", "a__x", "a__y", "b", "p/c", "p/c__z")
	all[1].Of, all[2].Of, all[5].Of = all[0], all[0], all[4]
	e := Choose(all, nil, each(1, 1), Options{Mode: Search})
	want := "Skills without a tool of their own (6): a, b, p/c, a__x, a__y, p/c__z"
	if got := e.Catalog(len(want)); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Whatever the skills are called, the catalog keeps within its room.
func FuzzCatalog(f *testing.F) {
	f.Add("a\nb/c\nü\x00", "words \xff", 200, uint8(3))
	f.Add(strings.Repeat("x", 500), strings.Repeat("ü", 500), 100, uint8(200))
	f.Fuzz(func(t *testing.T, names, description string, room int, n uint8) {
		if room < 100 || room > 4000 {
			t.Skip("there is always room for a line or two")
		}
		var all []*skills.Skill
		for i := range n {
			list := usable(strings.Split(names, "\n")...)
			for _, skill := range list {
				skill.Name += fmt.Sprint(i)
				skill.Description = description
			}
			all = append(all, list...)
		}
		got := Choose(all, nil, each(1, 1), Options{Mode: Search}).Catalog(room)
		if len(got) > room {
			t.Errorf("%d bytes, room for %d", len(got), room)
		}
		if utf8.ValidString(names) && utf8.ValidString(description) && !utf8.ValidString(got) {
			t.Errorf("no UTF-8: %q", got)
		}
		if len(all) > 0 && got == "" {
			t.Error("no catalog")
		}
	})
}
