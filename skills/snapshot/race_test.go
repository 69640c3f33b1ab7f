package snapshot

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/skillsmcp/skills-mcp/skills/skillfs"
	"github.com/skillsmcp/skills-mcp/skills/snapshot/edittest"
)

// raceContent returns a file that has its version in each line, up to 20 KB.
func raceContent(_ string, version int) []byte {
	return bytes.Repeat(fmt.Appendf(nil, "%d\n", version), 1+version*577%4000)
}

// versionsIn returns the versions of files in a snapshot, -1 for one that is missing or
// not whole.
func versionsIn(dir string, files []string) []int {
	var versions []int
	for _, name := range files {
		data, err := os.ReadFile(filepath.Join(dir, name))
		line, _, _ := bytes.Cut(data, []byte("\n"))
		version, invalid := strconv.Atoi(string(line))
		if err != nil || invalid != nil || !bytes.Equal(data, raceContent(name, version)) {
			version = -1
		}
		versions = append(versions, version)
	}
	return versions
}

// TestEditRace takes snapshots while a folder is written in every way: each has to be
// of one version, and none may be older than the last that ended 200 ms before.
func TestEditRace(t *testing.T) {
	certainly(t)
	dir, files := exampleFolder(t), []string{"SKILL.md", "scripts/run.sh", "scripts/lib/a", "scripts/lib/b"}
	editor, err := edittest.NewEditor(dir, t.TempDir(), files, raceContent)
	if err != nil {
		t.Fatal(err)
	}
	var left atomic.Int64
	left.Store(1000)
	var takers sync.WaitGroup
	for i := range 4 {
		s := New(t.TempDir())
		for range 2 {
			takers.Go(func() {
				for left.Add(-1) >= 0 {
					began := time.Now()
					least := editor.Least(began)
					snap, err := s.Take(t.Context(), skillfs.DirFS(dir), Use{Skill: fmt.Sprint(i), Lease: time.Hour})
					gaveUp := time.Since(began) >= settleTimeout // waiting for the end of the edits
					if err != nil {
						t.Error(err)
					} else if fault := editor.Fault(versionsIn(snap.Dir, files), least); fault != "" && !gaveUp {
						t.Error(fault)
					}
				}
			})
		}
	}
	for version := 1; left.Load() > 0; version++ {
		if err := editor.Edit(version); err != nil {
			t.Error(err)
			break
		}
	}
	takers.Wait()
}
