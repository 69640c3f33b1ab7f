package approval

import (
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skillsmcp/skills-mcp/server/elicit"
	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/server/seal"
	"github.com/skillsmcp/skills-mcp/server/store"
	"github.com/skillsmcp/skills-mcp/skills"
)

// deferred returns the record of a call that nobody could be asked about.
func deferred(t *testing.T, a *Approvals, p *run.Proposal) *Record {
	t.Helper()
	err := a.Approve(t.Context(), p)
	if got := outcome(err); got != "APPROVAL_REQUIRED+id!" {
		t.Fatalf("%s: %v", got, err)
	}
	r, err := a.Find(t.Context(), run.AsError(err).Approval)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// confirm confirms a record as a person.
func confirm(t *testing.T, a *Approvals, r *Record, who Signer, scope Scope) {
	t.Helper()
	if err := a.Confirm(t.Context(), r, who, ByTerminal, scope); err != nil {
		t.Fatal(err)
	}
}

// changes are calls that differ from the proposed one in one thing each.
func changes() map[string]func(*run.Proposal) {
	return map[string]func(*run.Proposal){
		"other arguments":   func(p *run.Proposal) { p.Args["path"] = "b.docx" },
		"more arguments":    func(p *run.Proposal) { p.Args["more"] = 1 },
		"another digest":    func(p *run.Proposal) { p.Digest = "sha256:ff" },
		"another host":      func(p *run.Proposal) { p.Command.Grant.Hosts = []string{"evil.example:443"} },
		"another workspace": func(p *run.Proposal) { p.Command.Grant.Workspaces = []string{"/home"} },
		"another variable":  func(p *run.Proposal) { p.Variables = []string{"TOKEN"} },
		"a secret":          func(p *run.Proposal) { p.Decision.Secrets = []run.SecretGrant{{Name: "A", Plain: true}} },
		"other rules":       func(p *run.Proposal) { p.Decision.Version = "2" },
		"another class":     func(p *run.Proposal) { p.Decision.Class = skills.Dangerous },
		"another skill":     func(p *run.Proposal) { p.Skill.Name = "docy" },
		"another origin":    func(p *run.Proposal) { p.Skill.Dir = "/elsewhere/docx" },
		"another principal": func(p *run.Proposal) { p.Principal.Kind = identity.Token },
		"a grown skill":     func(p *run.Proposal) { p.Decision.Grown = []string{"+ runs a shell"} },
		"a caller's files":  func(p *run.Proposal) { p.Callers = []string{"sha256:1"} },
		"two signatures":    func(p *run.Proposal) { p.Decision.Signatures = 2 },
	}
}

// An approval of one call covers the same call, once, and no other one.
func TestOnce(t *testing.T) {
	for name, change := range changes() {
		t.Run(name, func(t *testing.T) {
			a := newApprovals(t, nil)
			confirm(t, a, deferred(t, a, proposed(nil)), Local(), Once)
			other := proposed(nil)
			change(other)
			if got := outcome(a.Approve(t.Context(), other)); got != "APPROVAL_REQUIRED+id!" {
				t.Errorf("replayed: %s", got)
			}
			again := proposed(nil)
			again.Principal.Session = "another of the same client"
			if got := outcome(a.Approve(t.Context(), again)); got != "runs" || again.Approval == "" {
				t.Errorf("the same call: %s", got)
			}
			if got := outcome(a.Approve(t.Context(), proposed(nil))); got != "APPROVAL_REQUIRED+id!" {
				t.Errorf("a second time: %s", got)
			}
		})
	}
}

// An approval of all calls covers other arguments, and files that gained nothing, and
// nothing else.
func TestAlways(t *testing.T) {
	all := changes()
	all["each call on its own"] = func(p *run.Proposal) { p.Decision.Each = true }
	all["a descendant"] = func(p *run.Proposal) {
		p.Digest, p.Decision.Ancestors = "sha256:ff", []string{"sha256:ee", proposed(nil).Digest}
	}
	covered := map[string]bool{"other arguments": true, "more arguments": true, "a descendant": true}
	for name, change := range all {
		t.Run(name, func(t *testing.T) {
			a := newApprovals(t, nil)
			confirm(t, a, deferred(t, a, proposed(nil)), Local(), Always)
			p := proposed(nil)
			change(p)
			if got := outcome(a.Approve(t.Context(), p)); (got == "runs") != covered[name] {
				t.Errorf("%s: %v", got, covered[name])
			}
		})
	}
}

// An approval of a session ends with it, and covers no other one.
func TestSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newApprovals(t, nil)
		me := &person{answers: []string{choose(Session)}, after: unread}
		p := proposed(me.client())
		if got := outcome(a.Approve(t.Context(), p)); got != "runs" {
			t.Fatal(got)
		}
		p.Client, p.Args = nil, map[string]any{"path": "other"}
		if got := outcome(a.Approve(t.Context(), p)); got != "runs" {
			t.Errorf("later: %s", got)
		}
		you := proposed(nil)
		you.Principal.Session = "2"
		if got := outcome(a.Approve(t.Context(), you)); got != "APPROVAL_REQUIRED+id!" {
			t.Errorf("another session: %s", got)
		}
		if got := outcome(New(a.store, nil).Approve(t.Context(), p)); got != "APPROVAL_REQUIRED+id!" {
			t.Errorf("another process: %s", got)
		}
		a.Leave(p.Principal.Key())
		if got := outcome(a.Approve(t.Context(), p)); got != "APPROVAL_REQUIRED+id!" {
			t.Errorf("after the session: %s", got)
		}
	})
}

// Two different people confirm a call. The first one cannot be the second.
func TestTwoPeople(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		people, proved := newKeys(t)
		delete(people, seal.Person)
		a := newApprovals(t, &Options{Forms: FormsAll, Key: seal.New(filepath.Join(t.TempDir(), "key"), people)})
		two := func(client *elicit.Client) *run.Proposal {
			p := proposed(client)
			p.Decision.Signatures = 2
			return p
		}
		me := &person{answers: []string{choose(Once)}}
		err := a.Approve(t.Context(), two(me.client()))
		if got := outcome(err); got != "APPROVAL_REQUIRED+id!" || !strings.Contains(err.Error(), "a second person") {
			t.Fatalf("%s: %v", got, err)
		}
		id := run.AsError(err).Approval
		again := a.Approve(t.Context(), two(me.client())) // not asked a second time
		if run.AsError(again).Approval != id || len(me.asked) != 1 {
			t.Errorf("%v, asked %d times", again, len(me.asked))
		}
		if _, err := a.Open(t.Context(), id, Local()); err == nil || !strings.Contains(err.Error(), "has confirmed "+id+" already") {
			t.Errorf("one's own second signature: %v", err)
		}
		token := two((&person{answers: []string{choose(Once)}}).client())
		token.Principal = identity.Principal{Kind: identity.Token, ID: "other"}
		if got := outcome(a.Approve(t.Context(), token)); got == "runs" {
			t.Error("the same person signed through another client")
		}
		r, err := a.Open(t.Context(), id, Named("bea"))
		if err != nil {
			t.Fatal(err)
		}
		if err := a.Confirm(proved[Named("bea").ID], r, Named("bea"), ByTerminal, Once); err != nil {
			t.Fatal(err)
		}
		if got := outcome(a.Approve(t.Context(), two(nil))); got != "runs" {
			t.Errorf("after both: %s", got)
		}
		if got := outcome(a.Approve(t.Context(), two(nil))); got != "APPROVAL_REQUIRED+id!" {
			t.Errorf("a second time: %s", got)
		}
	})
}

// A named principal who makes the same call as another one learns nothing of its question,
// and neither's yes counts for the other.
func TestNamedPrincipals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newApprovals(t, &Options{Forms: FormsAll})
		call := func(id string) (*run.Proposal, *person) {
			who := &person{answers: []string{choose(Once)}}
			p := proposed(who.client())
			p.Principal, p.Decision.Signatures = identity.Principal{Kind: identity.Subject, ID: id, Scopes: []identity.Scope{identity.ScopeApprove}}, 2
			return p, who
		}
		ann, _ := call("ann")
		if got := outcome(a.Approve(t.Context(), ann)); got != "APPROVAL_REQUIRED+id!" {
			t.Fatal(got)
		}
		bea, asked := call("bea")
		if got := outcome(a.Approve(t.Context(), bea)); got != "APPROVAL_REQUIRED+id!" || !strings.Contains(asked.asked[0], "nobody has confirmed it yet") {
			t.Errorf("%s: %q", got, asked.asked)
		}
		model, program := call("ci")
		model.Principal.Scopes = []identity.Scope{identity.ScopeRun, identity.ScopeAdmin}
		if got := outcome(a.Approve(t.Context(), model)); got != "APPROVAL_REQUIRED+id!" || len(program.asked) > 0 {
			t.Errorf("without the scope to answer: %s, %q", got, program.asked)
		}
		all, err := a.List(t.Context(), false)
		if err != nil || len(all) != 3 || all[1].OwnedBy(ann.Principal) || !all[1].OwnedBy(bea.Principal) || all[2].OwnedBy(bea.Principal) {
			t.Fatalf("%v, %v", all, err)
		}
		for _, r := range all[1:] { // each has the yes of its own person
			if _, err := a.Open(t.Context(), r.ID, SignerOf(map[bool]*run.Proposal{true: ann, false: bea}[r.OwnedBy(ann.Principal)].Principal)); err == nil {
				t.Errorf("%s signs twice", r.Owner)
			}
			confirm(t, a, r, Signer{"token:boss", "boss"}, Once)
		}
		for _, p := range []*run.Proposal{ann, bea} {
			if got := outcome(a.Approve(t.Context(), p)); got != "runs" {
				t.Errorf("after two people: %s", got)
			}
		}
	})
}

// Everything expires: questions, approvals of one call, and those of all.
func TestExpiry(t *testing.T) {
	for name, test := range map[string]struct {
		scope Scope // "" is a question without an answer
		after time.Duration
		want  string
	}{
		"once, in time":    {Once, 9 * time.Minute, "runs"},
		"once, too late":   {Once, 11 * time.Minute, "APPROVAL_REQUIRED+id!"},
		"always, in time":  {Always, 89 * 24 * time.Hour, "runs"},
		"always, too late": {Always, 91 * 24 * time.Hour, "APPROVAL_REQUIRED+id!"},
		"a question":       {"", 11 * time.Minute, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := newApprovals(t, nil)
				r := deferred(t, a, proposed(nil))
				if test.scope != "" {
					confirm(t, a, r, Local(), test.scope)
				}
				time.Sleep(test.after)
				if test.scope == "" {
					if _, err := a.Open(t.Context(), r.ID, Local()); err == nil || !strings.Contains(err.Error(), "has expired") {
						t.Errorf("%v", err)
					}
					if again := deferred(t, a, proposed(nil)); again.ID == r.ID {
						t.Error("the same question")
					}
					return
				}
				if got := outcome(a.Approve(t.Context(), proposed(nil))); got != test.want {
					t.Errorf("%s, want %s", got, test.want)
				}
			})
		})
	}
}

// Questions are bounded for each client about a skill, for a client, for a principal, and in
// all but those of named ones: none of them takes the questions of another.
func TestFlooding(t *testing.T) {
	a := newApprovals(t, nil)
	first := deferred(t, a, proposed(nil))
	if again := deferred(t, a, proposed(nil)); again.ID != first.ID {
		t.Errorf("%s and %s", first.ID, again.ID)
	}
	n := 0
	ask := func(profile, session, skill string) string {
		p := proposed(nil)
		n++
		p.Principal.Profile, p.Principal.Session, p.Skill.Name, p.Args["n"] = profile, session, skill, n
		if strings.HasPrefix(profile, "named ") {
			p.Principal.Kind, p.Principal.ID = identity.Token, profile
		}
		return outcome(a.Approve(t.Context(), p))
	}
	flood := func(profile, session string, skills ...string) (asked int) {
		for i := range 20 {
			switch got := ask(profile, session, skills[i%len(skills)]); got {
			case "APPROVAL_REQUIRED+id!":
				asked++
			case "BUSY!":
			default:
				t.Fatal(got)
			}
		}
		return asked
	}
	if got := flood("", "1", "docx"); got != 7 { // and the first
		t.Errorf("%d more of a skill", got)
	}
	if got := ask("", "2", "docx"); got != "APPROVAL_REQUIRED+id!" {
		t.Errorf("the same skill, of another client: %s", got)
	}
	if got := flood("", "1", "a", "b", "c", "d", "e"); got != 8 {
		t.Errorf("%d more of a client", got)
	}
	if got := ask("", "1", "f"); got != "BUSY!" {
		t.Errorf("beyond a client's: %s", got)
	}
	if got := ask("", "2", "f"); got != "APPROVAL_REQUIRED+id!" {
		t.Errorf("another client: %s", got)
	}
	if got := flood("", "3", "g", "h", "i") + flood("", "4", "j", "k", "l"); got != 14 {
		t.Errorf("%d more of a principal", got)
	}
	for _, id := range []string{"a", "b", "c", "d"} {
		for _, session := range []string{"1", "2", "3"} {
			flood(id, session, id+session+"x", id+session+"y")
		}
	}
	if got := ask("e", "1", "z"); got != "BUSY!" {
		t.Errorf("beyond all: %s", got)
	}
	for _, session := range []string{"1", "2", "3"} {
		flood("named ann", session, "x"+session, "y"+session)
	}
	if ann, bea := ask("named ann", "4", "z"), ask("named bea", "1", "z"); ann != "BUSY!" || bea != "APPROVAL_REQUIRED+id!" {
		t.Errorf("beyond ann's own: %s; bea has room of her own: %s", ann, bea)
	}
}

// A no of the command line refuses the same call; a withdrawn approval asks again.
func TestDenyAndRevoke(t *testing.T) {
	a := newApprovals(t, nil)
	if _, err := a.Deny(t.Context(), deferred(t, a, proposed(nil)).ID); err != nil {
		t.Fatal(err)
	}
	if got := outcome(a.Approve(t.Context(), proposed(nil))); got != "APPROVAL_REQUIRED" {
		t.Errorf("denied: %s", got)
	}
	other := proposed(nil)
	other.Args = nil
	r := deferred(t, a, other)
	confirm(t, a, r, Local(), Always)
	if got := outcome(a.Approve(t.Context(), other)); got != "runs" {
		t.Fatal(got)
	}
	if revoked, err := a.Revoke(t.Context(), "docx"); err != nil || len(revoked) != 1 {
		t.Errorf("%v, %v", revoked, err)
	}
	if got := outcome(a.Approve(t.Context(), other)); got != "APPROVAL_REQUIRED+id!" {
		t.Errorf("revoked: %s", got)
	}
	if _, err := a.Revoke(t.Context(), "unknown"); err == nil {
		t.Error("nothing was revoked")
	}
	if err := a.Confirm(t.Context(), r, Local(), ByPage, Once); err == nil {
		t.Error("a revoked one was confirmed")
	}
}

// A row that was not written by this program, or that is put back, does not count.
func TestRows(t *testing.T) {
	a := newApprovals(t, nil)
	r := deferred(t, a, proposed(nil))
	before := r.row
	confirm(t, a, r, Local(), Once)
	given := r.row
	forged := given
	forged.Body = []byte(strings.Replace(string(given.Body), "a.docx", "b.docx", 1))
	if a.book.table.Valid(&forged) {
		t.Error("changed content counts")
	}
	forged = before
	forged.State = given.State
	if a.book.table.Valid(&forged) {
		t.Error("a changed state counts")
	}
	forged.Proofs = given.Proofs
	if err := a.book.table.Seal(&forged); err != nil || a.book.open([]store.Decision{forged})[0].State != Void { // as a program can that reads the key
		t.Error("a proof of another state counts")
	}
	forged, forged.Key = given, "other"
	if err := a.book.table.Seal(&forged); err != nil || len(a.book.open([]store.Decision{forged})) != 0 {
		t.Error("a copy counts")
	}
	if got := outcome(a.Approve(t.Context(), proposed(nil))); got != "runs" {
		t.Fatal(got)
	}
	putRow(t, a, given)
	if got := outcome(a.Approve(t.Context(), proposed(nil))); got != "APPROVAL_REQUIRED+id!" {
		t.Errorf("a used one that was put back: %s", got)
	}
}

// An answer that was given under other passphrases, such as those of a configuration that
// a model wrote, does not count.
func TestOtherProofs(t *testing.T) {
	theirs, _ := newKeys(t)
	a := newApprovals(t, &Options{Key: seal.New(filepath.Join(t.TempDir(), "key"), theirs)})
	forged := New(a.store, nil)
	confirm(t, forged, deferred(t, forged, proposed(nil)), Local(), Always)
	r := deferred(t, a, proposed(nil))
	if _, err := forged.Open(t.Context(), r.ID, Local()); err == nil {
		t.Error("a question was opened under other passphrases")
	}
}
