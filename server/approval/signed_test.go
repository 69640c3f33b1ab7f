package approval

import (
	"context"
	"crypto/ed25519"
	"path/filepath"
	"testing"

	"github.com/skillsmcp/skills-mcp/server/seal"
	"github.com/skillsmcp/skills-mcp/server/store"
)

// newKeys returns the people of a configuration with a passphrase, a script and bea, and
// contexts by name in which their answers are signed.
func newKeys(t *testing.T) (seal.People, map[string]context.Context) {
	t.Helper()
	people, proved := seal.People{}, map[string]context.Context{}
	for _, name := range []string{seal.Person, seal.Script, Named("bea").ID} {
		public, private, err := ed25519.GenerateKey(nil)
		if err != nil {
			t.Fatal(err)
		}
		agent := &seal.Agent{}
		agent.Unlock(private)
		people[name], proved[name] = public, seal.NewContext(t.Context(), agent)
	}
	return people, proved
}

// signedBy has two processes with one store and the people's keys.
func newProcesses(t *testing.T, people seal.People) (a, b *Approvals, key string) {
	t.Helper()
	key = filepath.Join(t.TempDir(), "approvals.key")
	a = newApprovals(t, &Options{Key: seal.New(key, people)})
	return a, New(a.store, &Options{Key: seal.New(key, people)}), key
}

// putRow writes a row as it is.
func putRow(t *testing.T, a *Approvals, row store.Decision) {
	t.Helper()
	if err := a.store.ChangeDecisions(t.Context(), store.Quiet, kind, func(tx *store.Decisions) error { return tx.Put(row) }); err != nil {
		t.Fatal(err)
	}
}

// with returns a call with an argument.
func with(t *testing.T, a *Approvals, path string) (*Record, func(*Approvals) string) {
	t.Helper()
	p := proposed(nil)
	p.Args = map[string]any{"path": path}
	r := deferred(t, a, p)
	return r, func(by *Approvals) string {
		again := proposed(nil)
		again.Args = p.Args
		return outcome(by.Approve(t.Context(), again))
	}
}

// Where the person has a key, no answer counts that was made without it: by somebody else
// who is configured, nor one whose row a program has written that can read the files.
func TestNeedsTheKey(t *testing.T) {
	people, proved := newKeys(t)
	a, b, file := newProcesses(t, people)
	for name, ctx := range map[string]context.Context{"nobody": t.Context(), "bea": proved[Named("bea").ID], "a script": proved[seal.Script]} {
		r, _ := with(t, a, name)
		if err := a.Confirm(ctx, r, Local(), ByTerminal, Once); err == nil {
			t.Errorf("%s has signed as the person", name)
		}
	}
	forger := New(a.store, &Options{Key: seal.New(file, nil)})
	for _, scope := range []Scope{Once, Always} {
		r, call := with(t, a, string(scope))
		r.Proofs = "" // as the forger's configuration has no passphrase
		if err := forger.book.change(t.Context(), r, forger.confirmed(Local(), ByTerminal, scope, Given)); err != nil {
			t.Fatal(err)
		}
		for _, p := range []string{forger.options.Key.ID(), a.options.Key.ID()} {
			if err := forger.book.change(t.Context(), r, func(r *Record) { r.Proofs = p }); err != nil {
				t.Fatal(err)
			}
			for _, by := range []*Approvals{a, b} {
				if got := call(by); got != "APPROVAL_REQUIRED+id!" {
					t.Errorf("a forged %s: %s", scope, got)
				}
			}
		}
		if found, err := a.Find(t.Context(), r.ID); err != nil || found.State != Void {
			t.Errorf("a forged %s is shown as %+v, %v", scope, found, err)
		}
	}
	// What the person has signed for one call, and a program makes of it.
	r, call := with(t, a, "signed")
	if err := a.Confirm(proved[seal.Person], r, Local(), ByTerminal, Once); err != nil {
		t.Fatal(err)
	}
	_, other := with(t, a, "another")
	for name, change := range map[string]func(*Record){
		"of another call": func(r *Record) { r.Binding.Args = digest(`{"path":"another"}`) },
		"of all calls":    func(r *Record) { r.Scope, r.Binding = Always, r.Every },
		"of a later time": func(r *Record) { r.Expires = r.Expires.AddDate(1, 0, 0) },
		"of another way":  func(r *Record) { r.Signatures[0].Way = ByPage },
		"of a script":     func(r *Record) { r.Signatures[0].Way = ByScript },
		"of a subject":    func(r *Record) { r.Signatures[0].Signer = Signer{"oidc:x", "x"} },
	} {
		now, err := forger.Find(t.Context(), r.ID)
		if err != nil {
			t.Fatal(err)
		}
		row := now.row
		now.State = Given
		if err := forger.book.change(t.Context(), now, change); err != nil {
			t.Fatal(err)
		}
		for _, by := range []*Approvals{a, b} {
			if got := other(by) + call(by); got != "APPROVAL_REQUIRED+id!APPROVAL_REQUIRED+id!" {
				t.Errorf("%s: %s", name, got)
			}
		}
		putRow(t, a, row)
	}
	if got := call(b); got != "runs" {
		t.Errorf("the one that was signed: %s", got)
	}
}

// An approval that was used or revoked, and whose row is put back, counts in no process; and
// another one still does.
func TestPutBack(t *testing.T) {
	people, proved := newKeys(t)
	for name, keys := range map[string]seal.People{"a passphrase": people, "none": nil} {
		for how, end := range map[string]func(a *Approvals, r *Record, call func(*Approvals) string){
			"used": func(a *Approvals, _ *Record, call func(*Approvals) string) {
				if got := call(a); got != "runs" {
					t.Errorf("%s: %s", name, got)
				}
			},
			"revoked": func(a *Approvals, r *Record, _ func(*Approvals) string) {
				if _, err := a.Revoke(t.Context(), r.ID); err != nil {
					t.Error(err)
				}
			},
		} {
			t.Run(name+" "+how, func(t *testing.T) {
				a, b, file := newProcesses(t, keys)
				r, call := with(t, a, "one")
				kept, other := with(t, a, "other")
				for _, each := range []*Record{r, kept} {
					if err := a.Confirm(proved[seal.Person], each, Local(), ByTerminal, Once); err != nil {
						t.Fatal(err)
					}
				}
				given := r.row
				end(a, r, call)
				putRow(t, a, given)
				restarted := New(a.store, &Options{Key: seal.New(file, keys)})
				for which, by := range map[string]*Approvals{"the same": a, "another": b, "a new": restarted} {
					if got := call(by); got != "APPROVAL_REQUIRED+id!" {
						t.Errorf("%s process: %s", which, got)
					}
				}
				if got := other(restarted); got != "runs" {
					t.Errorf("the other approval: %s", got)
				}
			})
		}
	}
}

// The answer of a form is the client's word: with a passphrase it counts in its process, for
// the call and the session, and is no approval for another one.
func TestFormWithPassphrase(t *testing.T) {
	people, _ := newKeys(t)
	a, b, _ := newProcesses(t, people)
	for _, scope := range []Scope{Once, Session} {
		asked := proposed((&person{answers: []string{choose(scope)}, after: instant * 4}).client())
		asked.Args = map[string]any{"path": string(scope)}
		if got := outcome(a.Approve(t.Context(), asked)); got != "runs" {
			t.Errorf("%s: %s", scope, got)
		}
	}
	again := proposed(nil)
	if got := outcome(a.Approve(t.Context(), again)); got != "runs" {
		t.Errorf("the session: %s", got)
	}
	if got := outcome(b.Approve(t.Context(), proposed(nil))); got != "APPROVAL_REQUIRED+id!" {
		t.Errorf("another process: %s", got)
	}
	lasting := proposed((&person{answers: []string{choose(Always)}, after: instant * 4}).client())
	lasting.Principal.Session = "2"
	if got := outcome(a.Approve(t.Context(), lasting)); got == "runs" {
		t.Error("a form has approved all later calls")
	}
}

// Two people sign, each with their own key.
func TestTwoKeys(t *testing.T) {
	people, proved := newKeys(t)
	a, b, file := newProcesses(t, people)
	ask := func() *Record {
		p := proposed(nil)
		p.Decision.Signatures = 2
		return deferred(t, a, p)
	}
	call := func(by *Approvals) string {
		p := proposed(nil)
		p.Decision.Signatures = 2
		return outcome(by.Approve(t.Context(), p))
	}
	r := ask()
	if err := a.Confirm(proved[seal.Person], r, Local(), ByTerminal, Once); err != nil {
		t.Fatal(err)
	}
	if err := a.Confirm(proved[seal.Person], r, Named("bea"), ByTerminal, Once); err == nil {
		t.Error("the person has signed as bea")
	}
	forger := New(a.store, &Options{Key: seal.New(file, seal.People{seal.Person: people[seal.Person]})})
	pending := r.row
	if err := forger.book.change(t.Context(), r, forger.confirmed(Signer{"oidc:" + "eve", "eve"}, ByTerminal, Once, Given)); err != nil {
		t.Fatal(err)
	}
	putRow(t, a, pending)
	r, err := a.Find(t.Context(), r.ID)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Confirm(proved[Named("bea").ID], r, Named("bea"), ByPage, Once); err != nil {
		t.Fatal(err)
	}
	if got := call(b); got != "runs" {
		t.Errorf("with two signatures: %s", got)
	}
	if got := call(a); got != "APPROVAL_REQUIRED+id!" {
		t.Errorf("a second time: %s", got)
	}
}
