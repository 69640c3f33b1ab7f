package approval

import (
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skillsmcp/skills-mcp/server/seal"
)

// Each signature names the way by which the yes came.
func TestWays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		people, proved := newKeys(t)
		delete(people, seal.Person)
		a := newApprovals(t, &Options{Key: seal.New(filepath.Join(t.TempDir(), "key"), people)})
		asked := proposed((&person{answers: []string{choose(Once)}, after: 2 * time.Second}).client())
		if err := a.Approve(t.Context(), asked); err != nil {
			t.Fatal(err)
		}
		of := map[Way]string{ByForm: asked.Approval}
		for _, way := range []Way{ByTerminal, ByPage, ByScript} {
			p := proposed(nil)
			p.Args = map[string]any{"path": string(way)}
			r := deferred(t, a, p)
			if err := a.Confirm(proved[seal.Script], r, Local(), way, Once); err != nil {
				t.Fatal(err)
			}
			of[way] = r.ID
		}
		words := map[string]bool{}
		for way, id := range of {
			r, err := a.Find(t.Context(), id)
			if err != nil || len(r.Signatures) != 1 || r.Signatures[0].Way != way {
				t.Errorf("%s: %+v, %v", way, r, err)
			}
			words[r.Signatures[0].String()] = true
		}
		if len(words) != len(of) {
			t.Errorf("the ways are in words: %v", words)
		}
	})
}
