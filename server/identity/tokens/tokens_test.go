package tokens_test

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/identity/tokens"
	"github.com/skillsmcp/skills-mcp/server/seal"
	"github.com/skillsmcp/skills-mcp/server/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// open returns the tokens in a folder, as each process has them.
func open(t *testing.T, dir string) (*tokens.Tokens, *seal.Table) {
	t.Helper()
	s := store.New(filepath.Join(dir, "state.db"), nil)
	t.Cleanup(func() { _ = s.Close() })
	key := seal.New(filepath.Join(dir, "key"), nil)
	rows := seal.NewTable(tokens.TokenRow, s, key, nil)
	return tokens.New(rows, seal.NewTable(tokens.LinkRow, s, key, nil), s.Generation), rows
}

// Two people have a token each. A server of another process knows both at once, and none
// that is revoked, has expired, or was copied to another name.
func TestTokens(t *testing.T) {
	ctx, dir := t.Context(), t.TempDir()
	command, rows := open(t, dir)
	server, _ := open(t, dir)
	ann, err := command.Add(ctx, tokens.Token{Name: "ann", Profiles: []string{"dev", "ops"}, Scopes: []identity.Scope{identity.ScopeRun}})
	if err != nil || !strings.HasPrefix(ann, tokens.Prefix) || len(ann) < len(tokens.Prefix)+26 {
		t.Fatalf("%q, %v", ann, err)
	}
	bob, err := command.Add(ctx, tokens.Token{Name: "bob"})
	if err != nil || bob == ann {
		t.Fatalf("%q, %v", bob, err)
	}
	if _, err := command.Add(ctx, tokens.Token{Name: "ann"}); err != tokens.ErrTaken {
		t.Errorf("a second ann: %v", err)
	}
	for _, name := range []string{"", "a b", "a/b", "ä", strings.Repeat("a", 65)} {
		if _, err := command.Add(ctx, tokens.Token{Name: name}); err == nil {
			t.Errorf("%q is a name", name)
		}
	}
	late, err := command.Add(ctx, tokens.Token{Name: "late", Expires: time.Now().Add(-time.Second)})
	if err != nil {
		t.Fatal(err)
	}
	holder := func(text string) string {
		t.Helper()
		p, ok, err := server.Principal(ctx, text)
		if err != nil || ok != (p.Kind == identity.Token) {
			t.Errorf("%+v, %v, %v", p, ok, err)
		}
		return p.ID
	}
	for text, want := range map[string]string{ann: "ann", bob: "bob", late: "", ann + "x": "", strings.ToLower(ann): "", tokens.Prefix: "", "": ""} {
		if got := holder(text); got != want {
			t.Errorf("%q is of %q, want %q", text, got, want)
		}
	}
	if p, _, _ := server.Principal(ctx, ann); p.Profile != "dev" || len(p.Profiles) != 2 || !p.May(identity.ScopeRead) || p.May(identity.ScopeAdmin) {
		t.Errorf("ann is %+v", p)
	}
	if p, _, _ := server.Principal(ctx, bob); p.May(identity.ScopeRead) { // a token without scopes has none, not all
		t.Errorf("bob is %+v", p)
	}

	all, err := rows.List(ctx, store.DecisionFilter{Key: "ann"})
	if err != nil || len(all) != 1 || strings.Contains(string(all[0].Body), ann) {
		t.Fatalf("%v, %v", all, err)
	}
	if err := rows.Change(ctx, store.Announced, "eve", func(*store.Decision) (*store.Decision, error) { return &store.Decision{Body: all[0].Body}, nil }); err != nil {
		t.Fatal(err)
	}
	if _, ok := server.Named(ctx, "eve"); ok {
		t.Error("a copied row counts")
	}
	watch := func(name string) func(context.Context) bool {
		counts := server.Watch(ctx, name)
		return func(ctx context.Context) bool {
			now, err := counts(ctx)
			return now && err == nil
		}
	}
	counts := watch("ann")
	if !counts(ctx) || watch("late")(ctx) || watch("eve")(ctx) {
		t.Error("ann's token alone counts")
	}
	if found, err := command.Revoke(ctx, "ann"); !found || err != nil {
		t.Error(found, err)
	}
	if counts(ctx) {
		t.Error("a revoked token counts")
	}
	if _, err := command.Add(ctx, tokens.Token{Name: "ann"}); err != nil || counts(ctx) {
		t.Errorf("another token of the name: %v", err)
	}
	if _, err := command.Revoke(ctx, "ann"); err != nil {
		t.Error(err)
	}
	if got := holder(ann); got != "" {
		t.Error("a revoked token counts")
	}
	if holder(bob) != "bob" {
		t.Error("bob has lost the token, too")
	}
	if found, err := command.Revoke(ctx, "ann"); found || err != nil {
		t.Error(found, err)
	}
}

// A token that cannot be looked at is neither valid nor revoked, and one that could be looked
// at before is watched.
func TestWatchUnread(t *testing.T) {
	ctx := t.Context()
	s := store.New(filepath.Join(t.TempDir(), "state.db"), nil)
	defer s.Close()
	rows := &busyRows{Table: seal.NewTable(tokens.TokenRow, s, seal.New(filepath.Join(t.TempDir(), "key"), nil), nil)}
	var generation error
	all := tokens.New(rows, rows, func(ctx context.Context) (int64, error) {
		now, err := s.Generation(ctx)
		return now, cmp.Or(generation, err)
	})
	text, err := all.Add(ctx, tokens.Token{Name: "ann"})
	if err != nil {
		t.Fatal(err)
	}
	if _, ok, err := all.Principal(ctx, text); !ok || err != nil {
		t.Fatal(ok, err)
	}
	before, errBusy := all.Watch(ctx, "ann"), errors.New("the store is busy")
	for _, step := range []struct {
		do               func() error
		generation, rows error
		want             bool // the token counts, if there is no error
	}{
		{nil, nil, nil, true},
		{nil, errBusy, nil, true},
		{func() error { _, err := all.Add(ctx, tokens.Token{Name: "bob"}); return err }, nil, errBusy, true}, // rows are read after changes
		{nil, nil, nil, true},
		{func() error { _, err := all.Revoke(ctx, "ann"); return err }, errBusy, nil, true},
		{nil, nil, errBusy, true},
		{nil, nil, nil, false},
	} {
		generation, rows.err = nil, nil
		if step.do != nil {
			if err := step.do(); err != nil {
				t.Fatal(err)
			}
		}
		generation, rows.err = step.generation, step.rows
		for name, counts := range map[string]func(context.Context) (bool, error){"before": before, "now": all.Watch(ctx, "ann")} {
			if got, err := counts(ctx); !errors.Is(err, cmp.Or(step.generation, step.rows)) || got != step.want {
				t.Errorf("%+v: %s: %t, %v", step, name, got, err)
			}
		}
	}
}

// busyRows are rows that cannot be listed while there is an error.
type busyRows struct {
	*seal.Table
	err error
}

func (r *busyRows) List(ctx context.Context, f store.DecisionFilter) ([]store.Decision, error) {
	if r.err != nil {
		return nil, r.err
	}
	return r.Table.List(ctx, f)
}

// A link signs in once, for the holder of its token alone; a new one and the end of the
// token end it.
func TestLinks(t *testing.T) {
	ctx, dir := t.Context(), t.TempDir()
	command, _ := open(t, dir)
	server, _ := open(t, dir)
	for _, name := range []string{"ann", "bob"} {
		if _, err := command.Add(ctx, tokens.Token{Name: name, Scopes: []identity.Scope{identity.ScopeRun}}); err != nil {
			t.Fatal(err)
		}
	}
	link := func(name string) string {
		t.Helper()
		text, err := command.NewLink(ctx, name)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	old, ann, bob := link("ann"), link("ann"), link("bob")
	for _, step := range []struct{ text, want string }{{old, ""}, {"", ""}, {ann, "ann"}, {ann, ""}, {bob, "bob"}} {
		p, ok := server.UseLink(ctx, step.text)
		if p.ID != step.want || ok != (step.want != "") || ok && !(p.May(identity.ScopeApprove) && p.May(identity.ScopeRun)) {
			t.Errorf("%+v, %v, want %q", p, ok, step.want)
		}
	}
	if p, ok := server.Named(ctx, "ann"); !ok || p.May(identity.ScopeApprove) {
		t.Errorf("the token itself is %+v, %v", p, ok)
	}
	gone := link("ann")
	if _, err := command.Revoke(ctx, "ann"); err != nil {
		t.Fatal(err)
	}
	if _, ok := server.UseLink(ctx, gone); ok {
		t.Error("a link of a revoked token counts")
	}
}
