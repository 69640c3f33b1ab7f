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
func (e *Exposure) toolNames() []string {
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
		{"one more", 41, small, Options{}, 40, false},
		{"one more, one used", 41, small, Options{Uses: used}, 40, false},
		{"descriptions that just fit", 40, each(300, 400), Options{}, 40, true},
		{"descriptions that do not", 40, each(301, 400), Options{}, 39, false},
		{"parameters that just fit", 40, each(100, 1200), Options{}, 40, true},
		{"parameters that do not", 40, each(100, 1201), Options{}, 39, false},
		{"fewer tools", 11, small, Options{MaxTools: 10}, 10, false},
		{"more tools", 100, small, Options{MaxTools: 100}, 100, true},
		{"less room", 40, small, Options{Chars: 3999}, 39, false},
		{"the whole room for twice as many", 80, each(100, 1200), Options{}, 40, false},
		{"less for more", 160, each(100, 1200), Options{}, 20, false},
		{"as much as descriptions for many", 320, each(100, 1200), Options{}, 10, false},
		{"less for thousands", 10_000, each(100, 1250), Options{}, 8, false},
		{"all", 1000, small, Options{Mode: All}, 1000, true},
		{"search", 3, small, Options{Mode: Search, Uses: used}, 0, false},
		{"search and a pin", 3, small, Options{Mode: Search, Pin: []string{"skill-002"}}, 1, false},
		{"as many pinned ones as there is room for", 1000, each(100, 250), Options{Pin: []string{"*"}}, 40, false},
		{"as long ones", 1000, each(500, 1000), Options{Pin: []string{"*"}}, 10, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := Choose(numbered(test.n), State{}, test.cost, test.o)
			whole := len(e.hidden) == 0
			if got := len(e.toolNames()); got != test.tools || whole != test.whole {
				t.Errorf("%d tools, whole %t; want %d, %t", got, whole, test.tools, test.whole)
			}
		})
	}
}

// TestToolsOfSkillsComeLast gives what room is left to the tools that skills have, unless
// somebody asked for one.
func TestToolsOfSkillsComeLast(t *testing.T) {
	all := numbered(10)
	for i := range 40 {
		owner := all[i%10]
		all = append(all, &skills.Skill{Name: fmt.Sprintf("%s__tool-%d", owner.Name, i), Of: owner, ModelInvocable: true})
	}
	o := Options{MaxTools: 12, Uses: map[string]int{"skill-003__tool-3": 1}}
	e := Choose(all, State{}, each(100, 300), o)
	want := []string{"skill-003__tool-3", "skill-000", "skill-000__tool-0", "skill-001", "skill-002", "skill-003", "skill-004", "skill-005", "skill-006", "skill-007", "skill-008", "skill-009"}
	if diff := cmp.Diff(want, e.toolNames()); diff != "" {
		t.Error(diff)
	}
	if d := e.Of(find(all, "skill-002__tool-2")); d != (Decision{BySearch, "not all fit; load_skill of skill-002 names it"}) {
		t.Errorf("%+v", d)
	}
}

// TestFillOrder fills in the order pinned, workspace matches, pinned by the author,
// most used, source, name.
func TestFillOrder(t *testing.T) {
	all := usable("pin", "file", "author", "often", "once", "team", "project", "home-b", "home-a", "bundled")
	for i, skill := range all {
		skill.Source = skills.SourceExtra
		if i >= 5 {
			skill.Source = []skills.Source{skills.SourceSystem, skills.SourceSession, skills.SourceUser, skills.SourceUser, skills.SourceExtra}[i-5]
		}
	}
	all[2].Pinned = true
	s := State{Active: map[string]bool{"file": true}}
	o := Options{Pin: []string{"pin"}, Uses: map[string]int{"often": 9, "once": 1}}
	want := []string{"pin", "file", "author", "often", "once", "project", "home-a", "home-b", "team", "bundled"}
	for n := range want {
		o.MaxTools = n + 1
		if diff := cmp.Diff(want[:n+1], Choose(all, s, each(10, 10), o).toolNames()); diff != "" {
			t.Errorf("%d tools: %s", n+1, diff)
		}
	}
}

// TestPerson orders the skills that the person pinned after those that the configuration
// does, and before all others; the pins of a profile come before both, in their order.
func TestPerson(t *testing.T) {
	all := usable("a", "b", "c", "d", "e", "f", "g")
	all[4].PinnedByPerson, all[5].Priority, all[6].Priority = true, 2, 1
	s, o := State{Active: map[string]bool{"a": true}}, Options{Pin: []string{"d"}}
	want := []string{"g", "f", "d", "e", "a", "b", "c"}
	for n := range want {
		o.MaxTools = n + 1
		if diff := cmp.Diff(want[:n+1], Choose(all, s, each(10, 10), o).toolNames()); diff != "" {
			t.Errorf("%d tools: %s", n+1, diff)
		}
	}
	e := Choose(all, s, each(10, 10), Options{Mode: Search})
	if got := e.Of(all[4]); got != (Decision{ByTool, "pinned by you"}) || e.Of(all[6]).Why != "pinned by the profile" || len(e.Tools()) != 3 {
		t.Errorf("%+v, %d tools", got, len(e.Tools()))
	}
}

// TestShownToolsStay leaves the tools that clients know where they are, whatever the name
// of a new skill; a reason precedes them.
func TestShownToolsStay(t *testing.T) {
	all := usable("m", "n", "o")
	o := Options{MaxTools: 3}
	shown := State{Shown: func(skill *skills.Skill) bool { return skill.Name > "a" }}
	all = append(all, usable("a")...)
	if diff := cmp.Diff([]string{"m", "n", "o"}, Choose(all, shown, each(10, 10), o).toolNames()); diff != "" {
		t.Error(diff)
	}
	all[3].Pinned = true
	if diff := cmp.Diff([]string{"a", "m", "n"}, Choose(all, shown, each(10, 10), o).toolNames()); diff != "" {
		t.Error(diff)
	}
	all[0].Workspace = "/work" // which is not trusted
	if diff := cmp.Diff([]string{"a", "n", "o"}, Choose(all, shown, each(10, 10), o).toolNames()); diff != "" {
		t.Error(diff)
	}
}

// TestOneMoreSkill adds skills one by one: each takes at most the tool of one other, and none up to
// twice as many skills as may be tools.
func TestOneMoreSkill(t *testing.T) {
	cost := func(s *skills.Skill) Cost { return Cost{100, 600 + 7*len(s.Name)} }
	for n := 40; n < 400; n++ {
		before, after := Choose(numbered(n), State{}, cost, Options{}).toolNames(), Choose(numbered(n+1), State{}, cost, Options{}).toolNames()
		lost := len(before) - len(after)
		if lost > 1 || n < 80 && lost != 0 || !slices.Equal(after, before[:len(after)]) {
			t.Errorf("of %d skills %d are tools, with one more %d", n, len(before), len(after))
		}
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
		e := Choose(all, State{Active: active}, each(10, 10), o)
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
		"often: tool: used before",
		"often-too: tool: used before",
		"private: none: only a person may call it",
		"once: search: used before; over the limits of expose",
		"by-name: search: not all fit; not pinned, never used",
		"gone: none: it is unavailable",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestWorkspaceComesLast ranks a workspace's own skills after all that the person has; a
// skill that the person pins comes first, wherever it is from.
func TestWorkspaceComesLast(t *testing.T) {
	all := usable("a-file", "b-pin", "c-used", "d-named", "e-plain", "file", "pin", "used", "plain")
	for _, skill := range all[:5] {
		skill.Workspace = "/work"
	}
	all[1].Pinned, all[6].Pinned = true, true
	e := Choose(all, State{Active: map[string]bool{"a-file": true, "file": true}}, each(10, 10), Options{
		MaxTools: 6, Pin: []string{"d-named"}, Uses: map[string]int{"c-used": 9, "used": 1},
	})
	var order []string
	for _, skill := range e.Order() {
		order = append(order, skill.Name)
	}
	if diff := cmp.Diff([]string{"d-named", "file", "pin", "used", "plain", "a-file", "b-pin", "c-used", "e-plain"}, order); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"d-named", "file", "pin", "used", "plain", "a-file"}, e.toolNames()); diff != "" {
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
	e := Choose(all, State{}, cost, Options{})
	if diff := cmp.Diff([]string{"other"}, e.toolNames()); diff != "" {
		t.Error(diff)
	}
	if got := e.Of(all[0]).Why; got != "its tool alone is larger than expose.catalog_chars" {
		t.Error(got)
	}
	if got := e.Of(all[1]).Why; got != "all skills fit" {
		t.Error(got)
	}
	if e = Choose(append(numbered(50), all...), State{}, cost, Options{Uses: map[string]int{"other": 1}}); len(e.toolNames()) != 40 {
		t.Errorf("tools %q", e.toolNames())
	}
}

// TestLargeToolsLeaveRoom fills what a large tool leaves with smaller ones.
func TestLargeToolsLeaveRoom(t *testing.T) {
	cost := func(skill *skills.Skill) Cost {
		if skill.Name == "b" {
			return Cost{700, 700}
		}
		return Cost{300, 300}
	}
	e := Choose(usable("a", "b", "c", "d"), State{}, cost, Options{Chars: 900})
	if diff := cmp.Diff([]string{"a", "c", "d"}, e.toolNames()); diff != "" {
		t.Error(diff)
	}
	if got := e.Of(find(e.order, "b")).Why; got != "not all fit; not pinned, never used" {
		t.Error(got)
	}
}

// TestCostOfFew bounds the costs that are looked at: they take time.
func TestCostOfFew(t *testing.T) {
	for name, test := range map[string]struct {
		whole, most int
		o           Options
	}{
		"tools that fit":     {250, 40, Options{Uses: map[string]int{"skill-500": 1}}},
		"all pinned":         {250, 40, Options{Pin: []string{"*"}}},
		"tools that do not":  {10_000, 1 + maxMisses, Options{}},
		"tools of no room":   {13_000, maxMisses, Options{}},
		"search":             {300, 0, Options{Mode: Search}},
		"all":                {300, 0, Options{Mode: All}},
		"more tools than 40": {250, 40 + maxMisses, Options{MaxTools: 100}},
	} {
		asked := 0
		Choose(numbered(1000), State{}, func(*skills.Skill) Cost {
			asked++
			return Cost{1, test.whole}
		}, test.o)
		if asked != test.most {
			t.Errorf("%s: %d costs were looked at, want %d", name, asked, test.most)
		}
	}
}

func BenchmarkChoose(b *testing.B) {
	all, uses := numbered(10_000), map[string]int{"skill-500": 1}
	for b.Loop() {
		Choose(all, State{}, each(300, 700), Options{Uses: uses, Pin: []string{"a/*", "skill-1??"}}).Catalog(2000)
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
	e := Choose(all, State{}, each(1, 1), Options{Mode: Search, Pin: []string{"b"}})
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
	if got := Choose(all, State{}, each(1, 1), Options{}).Catalog(1000); got != "" {
		t.Errorf("all are tools, and yet %q", got)
	}
}

func TestCatalogOfMany(t *testing.T) {
	all := numbered(900)
	for i := range 100 {
		all = append(all, usable(fmt.Sprintf("plugin-%d/skill-%d", i%3, i))...)
	}
	uses := map[string]int{"plugin-1/skill-1": 1}
	e := Choose(all, State{}, each(1, 1), Options{Mode: Search, Uses: uses})
	got := e.Catalog(300)
	want := "Skills without a tool of their own (1000):\n" +
		"plugin-1/skill-1, skill-000, skill-001, skill-002, skill-003, skill-004, skill-005, skill-006, skill-007, skill-008, skill-009, skill-010, skill-011, skill-012, skill-013, skill-014, skill-015, skill-016, skill-017, skill-018, skill-019, and 979 more"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	// One more is told, wherever it is listed.
	more := Choose(append(all, usable("zzz")...), State{}, each(1, 1), Options{Mode: Search, Uses: uses})
	if more.Catalog(300) == got {
		t.Error("a new skill does not change the catalog")
	}
}

// ofTopics makes skills about twelve things, of which the alphabet has azure first.
func ofTopics() []*skills.Skill {
	var names []string
	for _, about := range []string{"azure", "azure", "azure", "baking", "chess", "docker", "email", "finance", "garden", "html", "invoice", "jazz", "kite"} {
		for i := range 8 {
			names = append(names, fmt.Sprintf("%s-%d", about, len(names)+i))
		}
	}
	return append(usable(names...), usable("chess", "zither", "p/violin")...)
}

// TestTopics gives an overview of many skills by topic, and not the first of the alphabet;
// what a person has used is named.
func TestTopics(t *testing.T) {
	all := ofTopics()
	e := Choose(all, State{}, each(1, 1), Options{Mode: Search, Uses: map[string]int{"zither": 1}})
	want := "Skills without a tool of their own (107): zither\n" +
		"Topics, by words in their names: chess 9, baking 8, docker 8, email 8, finance 8, garden 8, html 8, invoice 8, jazz 8, kite 8, and more"
	if diff := cmp.Diff(want, e.Catalog(260)); diff != "" {
		t.Error(diff)
	}
}

// TestVariety makes tools of many topics, the most general skill of each, whatever order the
// skills come in; who knows the tools keeps them when more skills come.
func TestVariety(t *testing.T) {
	all, o := ofTopics(), Options{MaxTools: 12}
	want := Choose(all, State{}, each(1, 1), o).toolNames()
	about := map[string]bool{}
	for _, name := range want {
		word, _, _ := strings.Cut(name, "-")
		about[word] = true
	}
	if len(about) < 10 || !about["kite"] || !slices.Contains(want, "chess") {
		t.Errorf("tools of %d topics: %q", len(about), want)
	}
	shown := State{Shown: func(s *skills.Skill) bool { return slices.Contains(want, s.QualifiedName()) }}
	for range 5 {
		rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		if got := Choose(all, State{}, each(1, 1), o).toolNames(); !slices.Equal(got, want) {
			t.Fatalf("it depends on the order of the skills: %q, %q", want, got)
		}
		if got := Choose(append(numbered(200), all...), shown, each(1, 1), o).toolNames(); !slices.Equal(got, want) {
			t.Fatalf("clients lose tools that they know: %q, %q", want, got)
		}
	}
}

// A name that is long takes no room of others.
func TestCatalogLongName(t *testing.T) {
	list := append(usable(strings.Repeat("a", maxListed+1)), usable("b", strings.Repeat("p", maxListed)+"/c")...)
	e := Choose(list, State{}, each(1, 1), Options{Mode: Search})
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
	e := Choose(all, State{}, each(1, 1), Options{Mode: Search})
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
		got := Choose(all, State{}, each(1, 1), Options{Mode: Search}).Catalog(room)
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
