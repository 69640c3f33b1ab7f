package store

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// Trust belongs to a path, and another process sees each change.
func TestWorkspaces(t *testing.T) {
	s, other := newStore(t)
	trusted := func(path string) bool {
		t.Helper()
		_, ok, err := other.Workspace(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		return ok
	}
	if found, err := s.Untrust(t.Context(), "/a"); found || err != nil || trusted("/a") || s.Exists() {
		t.Errorf("an empty store: found %v, %v", found, err)
	}
	w := Workspace{Path: "/a", Folder: "1", At: time.Unix(0, 12345), MAC: []byte{1, 2}}
	if err := s.Trust(t.Context(), w); err != nil {
		t.Fatal(err)
	}
	before, err := other.Generation(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{"/a": true, "/a/b": false, "/": false, "/A": false, "": false} {
		if got := trusted(path); got != want {
			t.Errorf("%s: %v", path, got)
		}
	}
	all, err := other.Workspaces(t.Context())
	if diff := cmp.Diff([]Workspace{w}, all); diff != "" || err != nil {
		t.Error(diff, err)
	}
	if found, err := s.Untrust(t.Context(), "/a"); !found || err != nil || trusted("/a") {
		t.Errorf("found %v, %v", found, err)
	}
	if after, err := other.Generation(t.Context()); after <= before || err != nil {
		t.Errorf("generation %d, then %d, %v", before, after, err)
	}
}
