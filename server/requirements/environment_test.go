package requirements

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/skillsmcp/skills-mcp/skills"
)

// only has the names of a list, and no others.
func only(names ...string) func(string) bool {
	return func(name string) bool { return slices.Contains(names, name) }
}

func TestLacks(t *testing.T) {
	at := environment{
		os: "linux", name: "the sandbox", programs: `image "default"`, has: only("jq", "grep"), env: only("HOME"),
		config: []string{"a.b"}, capabilities: []string{"network"}, remedy: "set images.default to an image that has it",
		envRemedy: func(names []string) string { return "grant " + strings.Join(names, " ") },
	}
	unknown := at
	unknown.has = nil
	for _, test := range []struct {
		requires       skills.Requires
		at             environment
		reason, remedy string
	}{
		{skills.Requires{}, at, "", ""},
		{skills.Requires{OS: []string{"darwin", "linux"}, Bins: []string{"jq"}, AnyBins: []string{"rg", "grep"}, Env: []string{"HOME"}, Config: []string{"a.b"}, Capabilities: []string{"network"}}, at, "", ""},
		{skills.Requires{OS: []string{"darwin"}}, at, "needs darwin, and the sandbox is linux", ""},
		{skills.Requires{Bins: []string{"curl"}}, at, `needs curl in image "default"`, "set images.default to an image that has it"},
		{skills.Requires{Bins: []string{"curl", "jq", "gh"}}, at, `needs curl and gh in image "default"`, "set images.default to an image that has it"},
		{skills.Requires{AnyBins: []string{"rg", "ag"}}, at, `needs rg or ag in image "default"`, "set images.default to an image that has it"},
		{skills.Requires{Bins: []string{"curl"}, AnyBins: []string{"rg"}}, unknown, "", ""},
		{skills.Requires{Env: []string{"KEY"}}, at, "needs KEY in the environment of the sandbox", "grant KEY"},
		{skills.Requires{Env: []string{"KEY"}}, environment{name: "this machine"}, "needs KEY in the environment of this machine", ""},
		{skills.Requires{Config: []string{"c"}}, at, "needs c in its agent's configuration", "name it in provides.config, if it is so"},
		{skills.Requires{Capabilities: []string{"c"}}, at, "needs the capability c", "name it in provides.capabilities, if it is so"},
		{skills.Requires{OS: []string{"windows"}, Bins: []string{"x"}, AnyBins: []string{"y"}}, at,
			`needs windows, and the sandbox is linux; needs x in image "default"; needs y in image "default"`, "set images.default to an image that has it"},
	} {
		reason, remedy := lacks(test.requires, test.at)
		if reason != test.reason || remedy != test.remedy {
			t.Errorf("%s: %q (%q), want %q (%q)", test.requires, reason, remedy, test.reason, test.remedy)
		}
	}
}

// A skill that lacks a requirement is copied; the published one stays as it is.
func TestMarked(t *testing.T) {
	before := catalog(t, "script: run.sh\nmetadata: {requires: {bins: [jq]}}", "")
	other := &skills.Skill{Name: "s0", File: "other/SKILL.md"}
	before.Shadowed = []skills.Shadow{{Skill: other, By: before.Skills[0]}}
	at := environment{os: "linux", name: "the sandbox", programs: "the image", has: only("bash"), remedy: "get it"}
	where := func(*skills.Skill) environment { return at }
	var m marked
	after := m.apply(before, where)
	needy := after.Skills[0]
	if needy.Unavailable != "needs jq in the image" || after.Skills[1] != before.Skills[1] || after.Shadowed[0].By != needy {
		t.Errorf("skill %+v, shadow of %+v", needy, after.Shadowed[0].By)
	}
	if n := len(after.Problems); n != 1 || after.Problems[0].Remedy != "get it" {
		t.Errorf("problems %v", after.Problems)
	}
	if first := before.Skills[0]; first.Unavailable != "" || len(first.Problems)+len(before.Problems) != 0 {
		t.Errorf("the first catalog has changed: %+v", first)
	}
	if again := m.apply(before, where); again != after {
		t.Error("the same catalog is marked to another one")
	}
	at.has = only("jq", "bash")
	if again := m.apply(before, where); again != before {
		t.Error("a catalog without anything to change is another one")
	}
}

// After a change the copies of unchanged skills are the same, and the rest equals a
// fresh result: also for a skill and its tools, which refer to each other.
func TestMarkedAgain(t *testing.T) {
	at := environment{os: "linux", name: "the sandbox", programs: "it", has: only("bash")}
	where := func(*skills.Skill) environment { return at }
	needs := func(name string, bins ...string) *skills.Skill {
		return &skills.Skill{Name: name, File: name + "/SKILL.md", Requires: skills.Requires{Bins: bins}}
	}
	owner, tool := needs("s4"), needs("s5", "jq")
	owner.Tools, tool.Of = []*skills.Skill{tool}, owner
	all := []*skills.Skill{needs("s0", "bash"), needs("s1", "jq"), needs("s2"), needs("s3", "jq"), owner, tool}
	all[3].Problems = []skills.Problem{{Severity: skills.Note, Path: all[3].File, Line: 2}}
	before := &skills.Catalog{Skills: all, Problems: all[3].Problems, Shadowed: []skills.Shadow{{Skill: needs("s1"), By: all[1]}}}
	for changed := range 4 {
		for _, bins := range [][]string{nil, {"jq", "rg"}, {"bash"}} {
			var m, fresh marked
			first := m.apply(before, where)
			next := *before
			next.Skills = slices.Clone(all)
			next.Skills[changed] = needs(all[changed].Name, bins...)
			next.Skills[changed].Problems = all[changed].Problems
			if changed == 1 {
				next.Shadowed = []skills.Shadow{{Skill: before.Shadowed[0].Skill, By: next.Skills[1]}}
			}
			got, want := m.apply(&next, where), fresh.apply(&next, where)
			if !slices.Equal(got.Problems, want.Problems) {
				t.Errorf("s%d needs %v: problems\n%v, want\n%v", changed, bins, got.Problems, want.Problems)
			}
			for i, s := range got.Skills {
				if s.Unavailable != want.Skills[i].Unavailable {
					t.Errorf("s%d needs %v: %s is %q, want %q", changed, bins, s.Name, s.Unavailable, want.Skills[i].Unavailable)
				}
				if i != changed && s != first.Skills[i] {
					t.Errorf("s%d needs %v: %s did not change, and is another", changed, bins, s.Name)
				}
			}
			if got.Shadowed[0].By != got.Skills[1] || got.Skills[4].Tools[0] != got.Skills[5] || got.Skills[5].Of != got.Skills[4] {
				t.Errorf("s%d needs %v: a relative is not in the catalog", changed, bins)
			}
		}
	}
}

// BenchmarkApply measures what a change of one of 10,000 skills costs, a hundredth
// of which lack a requirement.
func BenchmarkApply(b *testing.B) {
	all := make([]*skills.Skill, 10_000)
	for i := range all {
		all[i] = &skills.Skill{Name: fmt.Sprintf("s%05d", i), Entry: &skills.Entry{Interpreter: []string{"bash"}}}
		if i%100 == 0 {
			all[i].Requires.Bins = []string{"jq"}
		}
	}
	at := environment{has: only("bash")}
	var m marked
	for i := 0; b.Loop(); i++ {
		next := &skills.Catalog{Skills: slices.Clone(all)}
		changed := *all[5000]
		next.Skills[5000] = &changed
		m.apply(next, func(*skills.Skill) environment { return at })
	}
}
