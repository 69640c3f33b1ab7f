package policy

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skillsmcp/skills-mcp/sandbox/egress"
	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/server/seal"
	"github.com/skillsmcp/skills-mcp/server/store"
	"github.com/skillsmcp/skills-mcp/skills"
)

// newStore returns an empty store, and a function that opens its book as a process of its
// own does.
func newStore(t *testing.T) (*store.Store, func() *Book) {
	t.Helper()
	dir := t.TempDir()
	open := func() *store.Store {
		s := store.New(filepath.Join(dir, "skills-mcp.db"), nil)
		t.Cleanup(func() {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
		return s
	}
	return open(), func() *Book { return NewBook(open(), seal.New(filepath.Join(dir, "key"), nil), nil) }
}

func hosts(t *testing.T, names ...string) []egress.Rule {
	t.Helper()
	all := []egress.Rule{}
	for _, name := range names {
		host, err := egress.ParseRule(name)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, host)
	}
	return all
}

func skillAt(name, dir string) *skills.Skill {
	return &skills.Skill{Name: name, Dir: dir, Source: skills.SourceUser, Class: skills.Safe, ModelInvocable: true, Entry: &skills.Entry{Script: "run.sh"}}
}

// decide returns the decision about a model's call of a skill with a digest.
func decide(t *testing.T, p *Policy, skill *skills.Skill, digest string) *run.Decision {
	t.Helper()
	d, err := p.Decide(t.Context(), &run.Proposal{Action: run.ActionSkill, Skill: skill, Digest: digest, Principal: identity.Principal{Kind: identity.Model}})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// A rule is seen by every process at once, is of one origin, and can be withdrawn.
func TestBook(t *testing.T) {
	_, open := newStore(t)
	here, there := open(), open()
	p := New(&Options{Book: there})
	skill := skillAt("a", "/home/a")
	if d := decide(t, p, skill, ""); d.Grant.Hosts != nil {
		t.Errorf("before: %+v", d)
	}
	rule := Rule{Pattern: "a", Origin: skill.Origin().String(), Hosts: hosts(t, "x.example", "10.0.0.1"), Env: []string{"KEY"}, Approve: Always}
	if err := here.Put(t.Context(), rule); err != nil {
		t.Fatal(err)
	}
	d := decide(t, p, skill, "")
	if diff := cmp.Diff([]string{"x.example"}, d.Grant.Hosts); diff != "" || d.Class != skills.Mutating || !d.Always || d.Rule != "your rule for a" || len(d.Variables) != 1 {
		t.Errorf("%+v %s", d, diff) // and no address that is not public
	}
	if d := decide(t, p, skillAt("a", "/home/b"), ""); d.Grant.Hosts != nil || d.Signatures != 0 {
		t.Errorf("of another origin: %+v", d)
	}
	if got := there.Of(t.Context(), skill); got == nil || got.Approve != Always {
		t.Errorf("the rule: %+v", got)
	}
	if err := here.Put(t.Context(), Rule{Pattern: "a", Origin: rule.Origin}); err != nil {
		t.Fatal(err)
	}
	if d := decide(t, p, skill, ""); d.Grant.Hosts != nil || there.Rules(t.Context()) != nil {
		t.Errorf("after: %+v", d)
	}
}

// A row that was written, copied or changed by hand does not count.
func TestForgedRule(t *testing.T) {
	s, open := newStore(t)
	skill := skillAt("a", "/home/a")
	rule := Rule{Pattern: "a", Origin: skill.Origin().String(), Write: new(true)}
	if err := open().Put(t.Context(), rule); err != nil {
		t.Fatal(err)
	}
	rows, err := s.Decisions(t.Context(), ruleRow, store.DecisionFilter{})
	if err != nil || len(rows) != 1 {
		t.Fatal(rows, err)
	}
	copied, changed, unsealed, resealed := rows[0], rows[0], rows[0], rows[0]
	copied.Key, resealed.Key = rowKey("b", rule.Origin), rowKey("b", rule.Origin)
	changed.Body = append([]byte(" "), changed.Body...)
	unsealed.MAC = nil
	if err := open().tables[ruleRow].Seal(&resealed); err != nil { // as a program can that reads the key
		t.Fatal(err)
	}
	for name, forged := range map[string]store.Decision{"copied": copied, "copied and sealed": resealed, "changed": changed, "no MAC": unsealed} {
		put(t, s, forged)
		all := open().Rules(t.Context())
		if !strings.HasPrefix(name, "copied") {
			if len(all) != 0 {
				t.Errorf("%s: %+v", name, all)
			}
			put(t, s, rows[0])
		} else if len(all) != 1 || all[0].Pattern != "a" {
			t.Errorf("%s: %+v", name, all)
		}
	}
}

func put(t *testing.T, s *store.Store, row store.Decision) {
	t.Helper()
	if err := s.ChangeDecisions(t.Context(), store.Announced, row.Kind, func(tx *store.Decisions) error { return tx.Put(row) }); err != nil {
		t.Fatal(err)
	}
}

// A rule of the configuration belongs to the first skill of a name that a call of it was
// decided for, also in later processes; a plan decides nothing. The person can let it
// count for another.
func TestBinding(t *testing.T) {
	_, open := newStore(t)
	newPolicy := func() *Policy {
		return New(&Options{Book: open(), Rules: []Rule{{Pattern: "a", Name: "rule", Write: new(true)}}})
	}
	first, second := skillAt("a", "/home/a"), skillAt("a", "/home/b")
	plan := &run.Proposal{Action: run.ActionSkill, Skill: second, DryRun: true}
	if d, err := newPolicy().Decide(t.Context(), plan); err != nil || !d.Grant.Write {
		t.Errorf("a plan: %+v, %v", d, err)
	}
	if d := decide(t, newPolicy(), first, ""); !d.Grant.Write {
		t.Errorf("the first: %+v", d)
	}
	p := newPolicy()
	if d := decide(t, p, second, ""); d.Grant.Write {
		t.Errorf("the second: %+v", d)
	}
	if diff := cmp.Diff([]string{"rule belongs to own:/home/a"}, p.Foreign(t.Context(), second)); diff != "" {
		t.Error(diff)
	}
	if err := p.Adopt(t.Context(), second); err != nil {
		t.Fatal(err)
	}
	p = newPolicy()
	if d := decide(t, p, second, ""); !d.Grant.Write || p.Foreign(t.Context(), second) != nil {
		t.Errorf("the second, adopted: %+v", d)
	}
	if d := decide(t, p, first, ""); d.Grant.Write {
		t.Errorf("the first, after that: %+v", d)
	}
}

// A rule that narrows holds for every skill of the name, and one without a book for all.
func TestNarrowingIsOfAnyOrigin(t *testing.T) {
	_, open := newStore(t)
	for name, book := range map[string]*Book{"with a book": open(), "without": nil} {
		p := New(&Options{Book: book, Rules: []Rule{{Pattern: "a", Name: "rule", Write: new(true), Approve: Each}}})
		decide(t, p, skillAt("a", "/home/a"), "")
		d := decide(t, p, skillAt("a", "/home/b"), "")
		if d.Grant.Write != (book == nil) || !d.Each || d.Signatures != 1 {
			t.Errorf("%s: %+v", name, d)
		}
	}
}

// A grant of another version of a skill that somebody else publishes counts only if
// nothing was gained since.
func TestGrantOfOtherVersion(t *testing.T) {
	_, open := newStore(t)
	book := open()
	plugin, own := skillAt("a", "/p/a"), skillAt("b", "/home/b")
	plugin.Plugin = "p"
	for _, skill := range []*skills.Skill{plugin, own} {
		rule := Rule{Pattern: skill.QualifiedName(), Origin: skill.Origin().String(), Digest: "1", Write: new(true)}
		if err := book.Put(t.Context(), rule); err != nil {
			t.Fatal(err)
		}
	}
	p := New(&Options{Book: book})
	for _, test := range []struct {
		skill  *skills.Skill
		digest string
		want   bool
	}{{plugin, "1", true}, {plugin, "2", false}, {own, "1", true}, {own, "2", true}} {
		if d := decide(t, p, test.skill, test.digest); d.Grant.Write != test.want {
			t.Errorf("%s of digest %s: %+v", test.skill.QualifiedName(), test.digest, d)
		}
	}
}
