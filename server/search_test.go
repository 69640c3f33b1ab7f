package server

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skillsmcp/skills-mcp/server/exposure"
	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/policy"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/search"
)

// found calls search_skills and returns its result with the names of the skills.
func (b *bench) found(args string) (names []string, result hits) {
	b.t.Helper()
	a := b.call("search_skills", args)
	if err := json.Unmarshal(a.StructuredContent, &result); err != nil || a.IsError {
		b.t.Fatalf("%s: %s", args, a.text())
	}
	for _, h := range result.Skills {
		names = append(names, h.Name)
	}
	return names, result
}

func TestSearchSkills(t *testing.T) {
	b := newBench(t, ends(0, "", ""))
	b.skillFiles(orchard())
	for _, test := range []struct {
		args string
		want string // the first name
		only bool   // all names
	}{
		{`{"query": "demo/graft-trees"}`, "demo/graft-trees", false},
		{`{"query": "graft-trees"}`, "demo/graft-trees", false},
		{`{"query": "cider"}`, "demo/press-apples", true},
		{`{"query": "CIDER", "source": "plugin"}`, "demo/press-apples", true},
		{`{"query": "cider", "source": "extra"}`, "demo/press-apples", true},
		{`{"query": "cider", "source": "user"}`, "", true},
		{`{"query": "persons"}`, "", true}, // of a skill that only a person may call
	} {
		names, result := b.found(test.args)
		if test.want == "" {
			if len(names) > 0 || result.Hint == "" {
				t.Errorf("%s: %q, hint %q", test.args, names, result.Hint)
			}
			continue
		}
		if len(names) == 0 || names[0] != test.want || test.only && len(names) > 1 {
			t.Errorf("%s: %q, want %s", test.args, names, test.want)
		}
	}
	_, result := b.found(`{"query": "runs a thing", "limit": 1}`)
	if h := result.Skills[0]; h.Name != "demo/run" || h.Tool != "demo__run" || h.Class != skills.Safe || h.State != "ready" || h.Description == "" {
		t.Errorf("%+v", h)
	}
	for args, want := range map[string]string{
		`{"query": "` + strings.Repeat("x", 1001) + `"}`:                        `"query"`,
		`{"query": "x", "alternatives": ["` + strings.Repeat("é", 1001) + `"]}`: `"alternatives" is longer`,
		`{"query": "x", "alternatives": ["a", "b", "c", "d", "e", "f"]}`:        `"alternatives"`,
		`{"query": "x", "source": "elsewhere"}`:                                 `"source"`,
		`{"query": "x", "limit": 0}`:                                            `"limit"`,
		`{"query": "x", "cursor": "bm9uc2Vuc2U"}`:                               `"cursor" is none of this list's`,
		`{"query": "x", "cursor": "` + strings.Repeat("A", 100_000) + `"}`:      `"cursor" is none of this list's`,
		`{"query": "x", "cursor": "eyJvZiI6ImFhIiwiYXQiOi0xLCJuYW1lIjoiIn0"}`:   `"cursor" is none of this list's`,
		`{"query": "\u0000 \t"}`:                                                ``,
		`{"query": "x", "alternatives": ["  ", "y"], "limit": "3"}`:             ``,
		`{"query": "x", "max_results": "2"}`:                                    ``, // Colony's name
		`{"query": "x", "max_results": 0}`:                                      `"limit" must be at least 1`,
		`{"query": "x", "limit": 3, "max_results": 2}`:                          `there is no parameter "max_results"`,
		`{"query": "x", "max_result": 2, "limits": 1}`:                          `there is no parameter "limits"; did you mean "limit"?`,
		`{"query": "x", "top_k": 3}`:                                            `there is no parameter "top_k"; there are query, alternatives, limit, source, cursor`,
	} {
		if a := b.call("search_skills", args); a.IsError != (want != "") || !strings.Contains(a.text(), want) {
			t.Errorf("%.80s: %.200s, want %q", args, a.text(), want)
		}
	}
}

// pages returns the names on all pages of a search.
func (b *bench) pages(query string, limit int) (names []string) {
	b.t.Helper()
	cursor := ""
	for {
		now, result := b.found(fmt.Sprintf(`{"query": %q, "limit": %d, "cursor": %q}`, query, limit, cursor))
		names = append(names, now...)
		if cursor = result.Next; cursor == "" {
			if result.More > 0 && len(names) < search.MaxHits {
				b.t.Errorf("%d more without a cursor", result.More)
			}
			return names
		}
	}
}

// The pages have each skill once.
func TestSearchPages(t *testing.T) {
	b := newBench(t, ends(0, "", ""))
	all := thousand()
	for _, s := range all {
		s.Description = "Sorts the letters of a word."
	}
	b.publishWith(all[:95]...)
	whole, first := b.found(`{"query": "sorts letters", "limit": 50}`)
	if len(whole) != 50 || first.More != 45 {
		t.Fatalf("%d names, %d more", len(whole), first.More)
	}
	names := b.pages("sorts letters", 10)
	if len(names) != 95 || !slices.Equal(names[:50], whole) {
		t.Errorf("%d names: %q", len(names), names)
	}
}

// What a caller may not see has no influence on what it gets, nor on the number of hits,
// the names that are near, or the doubt: a skill for persons, and one that the policy
// denies, also if it was found before.
func TestSearchHides(t *testing.T) {
	answers := func(filter *policy.Filter, more ...*skills.Skill) []string {
		b := newBench(t, ends(0, "", ""))
		all := append(thousand()[:40], more...)
		for _, s := range all {
			s.Dir = "/skills"
		}
		if filter != nil {
			b.publishWith(all...)
			b.hidden() // the index has them
			b.Publish(filter.Apply(t.Context(), b.Catalog()))
		} else {
			b.publishWith(all...)
		}
		return b.hidden()
	}
	zeppelins := func(model bool) *skills.Skill {
		return &skills.Skill{
			Name: "moor-zeppelins", Plugin: "demo", Description: "Zeppelin mooring: an airship dock that runs a thing.", ModelInvocable: model,
			Instructions: "Moor the zeppelin to a thing.", UserInvocable: true, Frontmatter: map[string]any{"activation": "always"},
		}
	}
	denies := policy.New(&policy.Options{Profiles: map[string]policy.Profile{"": {Deny: []string{"demo/moor-*"}}}})
	plain := answers(nil)
	if diff := cmp.Diff(plain, answers(nil, zeppelins(false))); diff != "" {
		t.Errorf("for persons: %s", diff)
	}
	if diff := cmp.Diff(plain, answers(policy.NewFilter(denies, identity.Principal{Kind: identity.Model}), zeppelins(true))); diff != "" {
		t.Errorf("denied: %s", diff)
	}
	if slices.Equal(plain, answers(nil, zeppelins(true))) {
		t.Error("no query finds the skill")
	}
}

// hidden returns the answers to queries for a skill that may be hidden.
func (b *bench) hidden() (got []string) {
	for _, query := range []string{"zeppelin mooring", "zeppelin", "moor-zeppelins", "demo/moor-zeppelins", "thing", "runs a thing", "moor-zepelins", "how to moor a zeppelin and run a thing", "does"} {
		got = append(got, b.ask("tools/call", fmt.Sprintf(`{"name": "search_skills", "arguments": {"query": %q, "alternatives": ["airship dock"], "limit": 3}}`, query)))
		got = append(got, b.ask("tools/call", fmt.Sprintf(`{"name": "match_skills", "arguments": {"message": %q}}`, query)))
	}
	return folderless(got)
}

// folderless returns answers without the names of temporary folders.
func folderless(answers []string) (all []string) {
	folder := regexp.MustCompile(`Base directory for this skill: [^\\]*`)
	for _, a := range answers {
		all = append(all, folder.ReplaceAllString(a, ""))
	}
	return all
}

// The index is built when publications have settled, and no goroutine outlives Close.
func TestIndexInBackground(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		published := &view{catalog: &skills.Catalog{Skills: []*skills.Skill{{Name: "a", ModelInvocable: true}}}}
		var indexed atomic.Int32
		s := &searcher{index: search.New(nil)}
		s.start(func() *view { indexed.Add(1); return published })
		for range 10 {
			s.published()
			time.Sleep(indexDelay / 2)
		}
		synctest.Wait()
		if indexed.Load() > 0 {
			t.Error("it is built while the catalog changes")
		}
		time.Sleep(indexDelay)
		synctest.Wait()
		if n := indexed.Load(); n != 1 {
			t.Errorf("it is built %d times", n)
		}
		s.published()
		time.Sleep(2 * indexDelay)
		s.published()
		s.close() // while a catalog waits
	})
}

// Of skills that fit as well, those that are used or that the workspace has files for come
// first, but not for the files that a stranger claims. A better fit stays before both.
func TestBoost(t *testing.T) {
	twin := func(name string, change func(*skills.Skill)) *skills.Skill {
		s := &skills.Skill{Name: name, Description: "Polish brass doorknobs.", ModelInvocable: true}
		change(s)
		return s
	}
	none := func(*skills.Skill) {}
	all := []*skills.Skill{
		twin("zz-a", none), twin("zz-b", none), twin("zz-c", none), twin("zz-d", none),
		twin("zz-stranger", func(s *skills.Skill) { s.Workspace = "/cloned" }),
		{Name: "zz-wax", Description: "Wax floors.", ModelInvocable: true},
	}
	b := newBenchWith(t, ends(0, "", ""), Options{Expose: exposure.Options{Uses: map[string]int{"zz-c": 40, "zz-stranger": 900, "zz-wax": 900}}})
	b.publishWith(all...)
	b.Activate(map[string]bool{"zz-d": true, "zz-stranger": true})
	names, _ := b.found(`{"query": "polish brass doorknobs", "limit": 5}`)
	if want := []string{"zz-d", "zz-c", "zz-a", "zz-b", "zz-stranger"}; !slices.Equal(names, want) {
		t.Errorf("%q, want %q", names, want)
	}
}
