package store

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// trust makes a decision.
func trust(ctx context.Context, s *Store, path string) error {
	return change(ctx, s, Announced, Decision{Kind: "workspace", Key: path})
}

func change(ctx context.Context, s *Store, care Care, d Decision) error {
	return s.ChangeDecisions(ctx, care, d.Kind, func(tx *Decisions) error { return tx.Put(d) })
}

// trusted returns whether a decision is there.
func trusted(ctx context.Context, s *Store, path string) (bool, error) {
	found, err := s.Decisions(ctx, "workspace", DecisionFilter{Key: path})
	return len(found) > 0, err
}

// Decisions are inserted, replaced and removed, another process sees each change, and a
// change that fails is none.
func TestDecisions(t *testing.T) { eachBackend(t, testDecisions) }

func testDecisions(t *testing.T, newStore opener) {
	s, other := newStore(t)
	if all, err := s.Decisions(t.Context(), "rule", DecisionFilter{}); err != nil || all != nil || s.Exists() != s.Shared() {
		t.Fatalf("an empty store: %v, %v", all, err)
	}
	one := Decision{Kind: "rule", Key: "a", Owner: "me", About: "s", State: "on", Expires: time.Unix(1e9, 0), Body: []byte("1"), Notes: []byte("n"), Proofs: [][]byte{[]byte("p"), nil}, MAC: []byte("m")}
	two := Decision{Kind: "rule", Key: "b", About: "s"}
	for _, d := range []Decision{one, two, {Kind: "other", Key: "a"}} {
		if err := change(t.Context(), s, Durable, d); err != nil {
			t.Fatal(err)
		}
	}
	one.Body = []byte("2") // it keeps its place
	if err := change(t.Context(), s, Durable, one); err != nil {
		t.Fatal(err)
	}
	no := errors.New("no")
	if err := s.ChangeDecisions(t.Context(), Quiet, "rule", func(tx *Decisions) error {
		return errors.Join(tx.Remove("a"), no)
	}); !errors.Is(err, no) {
		t.Error(err)
	}
	for filter, want := range map[DecisionFilter][]Decision{{}: {two, one}, {About: "s"}: {two, one}, {Key: "a", State: "on"}: {one}, {Key: "a", State: "off"}: nil, {Key: "A"}: nil} {
		all, err := other.Decisions(t.Context(), "rule", filter)
		if diff := cmp.Diff(want, all, cmpopts.EquateEmpty()); diff != "" || err != nil {
			t.Errorf("%+v: %s %v", filter, diff, err)
		}
	}
	if err := s.ChangeDecisions(t.Context(), Quiet, "rule", func(tx *Decisions) error { return tx.RemoveExpired(time.Unix(1e9+1, 0)) }); err != nil {
		t.Fatal(err)
	}
	if keys, err := other.DecisionKeys(t.Context(), "rule"); len(keys) != 1 || !keys["b"] || err != nil {
		t.Errorf("%v, %v", keys, err)
	}
}

// The decisions that others cache change the generation, and no others.
func TestGenerationCounts(t *testing.T) { eachBackend(t, testGenerationCounts) }

func testGenerationCounts(t *testing.T, newStore opener) {
	s, _ := newStore(t)
	last := int64(0)
	for _, step := range []struct {
		name   string
		change func(*Decisions) error
		kind   string
		want   bool
	}{
		{"a rule", func(tx *Decisions) error { return tx.Put(Decision{Key: "a"}) }, "rule", true},
		{"another rule", func(tx *Decisions) error { return tx.Put(Decision{Key: "a", State: "x"}) }, "rule", true},
		{"no rule", func(tx *Decisions) error { return tx.Remove("a") }, "rule", true},
		{"an approval", func(tx *Decisions) error { return tx.Put(Decision{Key: "a"}) }, "approval", false},
		{"a pin", func(tx *Decisions) error { return tx.Put(Decision{Key: "a"}) }, "pin", false},
		{"a pin that moves", func(tx *Decisions) error { return tx.Put(Decision{Key: "a", Notes: []byte("1")}) }, "pin", false},
		{"a pin that blocks", func(tx *Decisions) error { return tx.Put(Decision{Key: "a", State: "blocked"}) }, "pin", true},
		{"its end", func(tx *Decisions) error { return tx.Remove("a") }, "pin", true},
	} {
		if err := s.ChangeDecisions(t.Context(), Announced, step.kind, step.change); err != nil {
			t.Fatal(err)
		}
		n, err := s.Generation(t.Context())
		if changed := n > last; err != nil || changed != step.want {
			t.Errorf("%s: generation %d after %d, %v", step.name, n, last, err)
		}
		last = n
	}
}

// A file of another version is refused, with a remedy, and stays as it is.
func TestOtherVersion(t *testing.T) {
	for _, version := range []string{"1", "2", "99"} {
		file := filepath.Join(t.TempDir(), "skills-mcp.db")
		s := New(file, nil)
		if _, err := NewRuns(s).Add(t.Context(), &Run{ID: "r"}); err != nil {
			t.Fatal(err)
		}
		if err := s.transact(t.Context(), Durable, "", func(tx *transaction) error {
			_, err := tx.Exec("PRAGMA user_version = " + version)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		s = New(file, nil)
		_, err1 := s.Decisions(t.Context(), "rule", DecisionFilter{})
		_, err2 := NewRuns(s).Add(t.Context(), &Run{})
		for _, err := range []error{err1, err2} {
			if err == nil || !strings.Contains(err.Error(), "move the file away") {
				t.Errorf("version %s: %v", version, err)
			}
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		db, err := sql.Open("sqlite", address(file, true))
		if err != nil {
			t.Fatal(err)
		}
		var left string
		if err := db.QueryRow("SELECT user_version || ' ' || (SELECT group_concat(id) FROM runs) FROM pragma_user_version").Scan(&left); err != nil || left != version+" r" {
			t.Errorf("left %q, %v", left, err)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
}
