package store

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Rules are inserted, replaced and removed, each change counts, and a change that fails
// is none.
func TestRules(t *testing.T) {
	s := New(filepath.Join(t.TempDir(), "s.db"), nil)
	defer s.Close()
	if all, err := s.Rules(t.Context()); err != nil || all != nil || s.Exists() {
		t.Fatalf("an empty store: %v, %v", all, err)
	}
	change := func(key string, next *Rule) *Rule {
		t.Helper()
		var was *Rule
		if err := s.ChangeRule(t.Context(), key, func(now *Rule) (*Rule, error) {
			was = now
			return next, nil
		}); err != nil {
			t.Fatal(err)
		}
		return was
	}
	one, two := &Rule{"a", []byte("1"), []byte("m")}, &Rule{"a", []byte("2"), []byte("n")}
	if was := change("a", one); was != nil {
		t.Errorf("was %+v", was)
	}
	before, _ := s.Generation(t.Context())
	if diff := cmp.Diff(one, change("a", two)); diff != "" {
		t.Error(diff)
	}
	change("b", &Rule{"b", []byte{}, []byte{}})
	change("b", nil)
	no := errors.New("no")
	if err := s.ChangeRule(t.Context(), "a", func(*Rule) (*Rule, error) { return nil, no }); !errors.Is(err, no) {
		t.Error(err)
	}
	all, err := s.Rules(t.Context())
	if diff := cmp.Diff([]Rule{*two}, all); diff != "" || err != nil {
		t.Error(diff, err)
	}
	if after, _ := s.Generation(t.Context()); after <= before {
		t.Errorf("generation %d after %d", after, before)
	}
}
