package policy

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/skills"
)

// Patterns from the narrowest to the widest for a tool of a skill, and others.
func TestWidth(t *testing.T) {
	owner := &skills.Skill{Name: "docx", Plugin: "office"}
	tool := &skills.Skill{Name: "docx__convert", Plugin: "office", Of: owner}
	before := exact + 0
	for i, pattern := range []string{"office/docx__convert", "office/docx", "office/docx__*", "office/d*", "office/*", "*/*", "*"} {
		w := width(pattern, tool)
		if w < 0 || i > 0 && w >= before && pattern != "*" {
			t.Errorf("%s has the width %d, after %d", pattern, w, before)
		}
		before = w
	}
	for _, pattern := range []string{"docx", "docx__convert", "d*", "other/*", "office", "office/docx/", "Office/docx", ""} {
		if w := width(pattern, tool); w >= 0 {
			t.Errorf("%s matches: %d", pattern, w)
		}
	}
}

// The narrowest pattern counts, and a deny of equal width before an allow.
func TestAllowDeny(t *testing.T) {
	skill := &skills.Skill{Name: "docx", Plugin: "office", Requires: skills.Requires{Capabilities: []string{"files", "network"}}}
	for _, test := range []struct {
		p      Profile
		exists bool
	}{
		{Profile{}, true},
		{Profile{Allow: []string{"*"}}, true},
		{Profile{Allow: []string{}}, false},
		{Profile{Allow: []string{"other"}}, false},
		{Profile{Deny: []string{"*"}}, false},
		{Profile{Allow: []string{"office/*"}, Deny: []string{"*"}}, true},
		{Profile{Allow: []string{"*"}, Deny: []string{"office/*"}}, false},
		{Profile{Allow: []string{"office/docx"}, Deny: []string{"office/*"}}, true},
		{Profile{Allow: []string{"office/docx"}, Deny: []string{"office/docx"}}, false},
		{Profile{Deny: []string{"docx"}}, true}, // names are qualified
		{Profile{Capabilities: []string{"files", "network", "ask"}}, true},
		{Profile{Capabilities: []string{"files"}}, false},
	} {
		if why := (&bound{test.p, "policy"}).excludes(skill); (why == "") != test.exists {
			t.Errorf("%+v: %q", test.p, why)
		}
	}
}

// A rule may name an origin by its kind, its folder or a folder above it.
func TestOrigin(t *testing.T) {
	at := skills.Origin{Kind: skills.OriginOwn, Place: "/home/ann/skills/a"}
	for origin, want := range map[string]bool{
		"": true, "own": true, "own:/home/ann/skills/a": true, "/home/ann/skills": true, "/home/ann/skills/": true, "own:/home/ann": true,
		"plugin": false, "plugin:/home/ann": false, "/home/ann/skills/ab": false, "/home/ann/skill": false, "a": false,
	} {
		if got := (&Rule{Origin: origin}).of(at); got != want {
			t.Errorf("%q: %t", origin, got)
		}
	}
}

// A field is set by the narrowest rule that has it; a workspace's rule only narrows.
func TestFields(t *testing.T) {
	skill := skillAt("a", "/home/a")
	p := New(&Options{Rules: []Rule{
		{Pattern: "*", Name: "wide", Approve: Session, Timeout: 9, Hosts: hosts(t, "wide.example")},
		{Pattern: "a", Name: "narrow", Hosts: hosts(t, "narrow.example")},
		{Pattern: "a", Name: "theirs", Narrows: true, Timeout: 5, Hosts: hosts(t, "theirs.example"), Env: []string{"KEY"}, Write: new(true)},
	}})
	d := decide(t, p, skill, "")
	want := []string{"narrow.example"}
	if diff := cmp.Diff(want, d.Grant.Hosts); diff != "" || !d.Session || d.Timeout != 5 || d.Grant.Write || d.Variables != nil {
		t.Errorf("%+v %s", d, diff)
	}
	p = New(&Options{Rules: []Rule{{Pattern: "*", Hosts: hosts(t)}}})
	skill.Entry.Network = []string{"x.example"}
	if d := decide(t, p, skill, ""); d.Grant.Hosts != nil || d.Signatures != 0 {
		t.Errorf("no network for anybody: %+v", d)
	}
}

// A profile bounds the class, the time and the number of calls.
func TestProfile(t *testing.T) {
	p := New(&Options{Profiles: map[string]Profile{"ci": {Class: skills.Safe, Timeout: 7, MaxConcurrent: 2}}})
	ci := identity.Principal{Kind: identity.Model, Profile: "ci"}
	d, err := p.Decide(t.Context(), &run.Proposal{Action: run.ActionSkill, Skill: skillAt("a", "/a"), Principal: ci})
	if err != nil || d.Timeout != 7 || d.Concurrent != 2 {
		t.Errorf("%+v, %v", d, err)
	}
	d, err = p.Decide(t.Context(), &run.Proposal{Action: run.ActionCode, Principal: ci})
	if err != nil || d.Timeout != 7 || d.Concurrent != 2 {
		t.Errorf("code: %+v, %v", d, err)
	}
	writes := skillAt("a", "/a")
	writes.Class = skills.Mutating
	if _, err := p.Decide(t.Context(), &run.Proposal{Action: run.ActionSkill, Skill: writes, Principal: ci}); codeOf(err) != run.PermissionDenied {
		t.Error(err)
	}
}

// A filter leaves out what does not exist, and returns the same catalog while nothing
// changes.
func TestFilter(t *testing.T) {
	_, open := newStore(t)
	book := open()
	owner := &skills.Skill{Name: "b"}
	one, two := &skills.Skill{Name: "b__one", Of: owner}, &skills.Skill{Name: "b__two", Of: owner}
	owner.Tools = []*skills.Skill{one, two}
	catalog := &skills.Catalog{Skills: []*skills.Skill{{Name: "a"}, owner, one, two}}
	names := func(c *skills.Catalog) string {
		var all []string
		for _, s := range c.Skills {
			all = append(all, s.Name)
			for _, tool := range s.Tools {
				all = append(all, "+"+tool.Name)
				if tool.Of != s {
					t.Errorf("%s is of another", tool.Name)
				}
			}
		}
		return strings.Join(all, " ")
	}
	p := New(&Options{Book: book})
	f := NewFilter(p, identity.Principal{})
	if f.Apply(t.Context(), catalog) != catalog {
		t.Error("nothing is left out, and it is another catalog")
	}
	for _, test := range []struct {
		disabled *skills.Skill
		want     string
	}{
		{one, "a b +b__two b__two"}, {owner, "a"}, {catalog.Skills[0], ""},
	} {
		if _, err := p.Enable(t.Context(), identity.Principal{}, test.disabled, false); err != nil {
			t.Fatal(err)
		}
		got := f.Apply(t.Context(), catalog)
		if names(got) != test.want {
			t.Errorf("without %s: %s, want %s", test.disabled.Name, names(got), test.want)
		}
		if f.Apply(t.Context(), catalog) != got {
			t.Error("another catalog, and nothing has changed")
		}
	}
}

// FuzzPattern: no pattern makes matching fail, one that is valid matches as itself, and
// only * matches everything.
func FuzzPattern(f *testing.F) {
	for _, pattern := range []string{"*", "a", "p/*", "[a-z]*", `\*`, "p/**", "[", "a?", "*/*"} {
		f.Add(pattern, "p/a")
	}
	f.Fuzz(func(t *testing.T, pattern, name string) {
		w := widthOf(pattern, name)
		if pattern == name && w != exact {
			t.Errorf("%q is not itself: %d", pattern, w)
		}
		if w >= 0 && pattern != name && CheckPattern(pattern) != nil {
			t.Errorf("%q is invalid, and matches %q", pattern, name)
		}
		if pattern != "*" && pattern != name && w >= exact {
			t.Errorf("%q has the width of a name", pattern)
		}
	})
}
