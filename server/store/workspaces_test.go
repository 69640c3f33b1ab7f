package store

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// Trust belongs to a path and the folder there, and another process sees each change.
func TestWorkspaces(t *testing.T) {
	s, other := newStore(t)
	trusted := func(path, folder string) bool {
		t.Helper()
		ok, err := other.Trusted(t.Context(), path, folder)
		if err != nil {
			t.Fatal(err)
		}
		return ok
	}
	if found, err := s.Untrust(t.Context(), "/a"); found || err != nil || trusted("/a", "1") || s.Exists() {
		t.Errorf("an empty store: found %v, %v", found, err)
	}
	w := Workspace{Path: "/a", Folder: "1", At: time.Unix(0, 12345)}
	if err := s.Trust(t.Context(), w); err != nil {
		t.Fatal(err)
	}
	before, err := other.Generation(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		path, folder string
		want         bool
	}{{"/a", "1", true}, {"/a", "2", false}, {"/a/b", "1", false}, {"/", "1", false}, {"/A", "1", false}, {"/a", "", false}} {
		if got := trusted(test.path, test.folder); got != test.want {
			t.Errorf("%s %s: %v", test.path, test.folder, got)
		}
	}
	all, err := other.Workspaces(t.Context())
	if diff := cmp.Diff([]Workspace{w}, all); diff != "" || err != nil {
		t.Error(diff, err)
	}
	if found, err := s.Untrust(t.Context(), "/a"); !found || err != nil || trusted("/a", "1") {
		t.Errorf("found %v, %v", found, err)
	}
	if after, err := other.Generation(t.Context()); after <= before || err != nil {
		t.Errorf("generation %d, then %d, %v", before, after, err)
	}
}
