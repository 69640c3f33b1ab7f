package snapshot

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/skillsmcp/skills-mcp/skills/skillfs"
)

// raceFiles are the files of which each version of the edited skill consists.
var raceFiles = []string{"SKILL.md", "scripts/run.sh", "scripts/lib/a", "scripts/lib/b"}

// contentOf returns the content of each file in a version: its number in each line,
// up to 20 KB.
func contentOf(version int) []byte {
	return bytes.Repeat(fmt.Appendf(nil, "%d\n", version), 1+version*577%4000)
}

// An editor writes one version after another.
type editor struct {
	dir, aside string // the skill's folder, and one for files that are not in it
	random     *rand.Rand

	mu    sync.Mutex
	ended map[int]time.Time // by version; guarded by mu
	// slow are the versions during which this process stood still for so long that
	// nobody could tell one edit from two. Guarded by mu.
	slow map[int]bool
}

func (e *editor) path(name string) string { return filepath.Join(e.dir, name) }

func (e *editor) other(name string) string {
	return filepath.Join(e.aside, strings.ReplaceAll(name, "/", "-"))
}

func (e *editor) inPlace(name string, content []byte) error {
	return os.WriteFile(e.path(name), content, 0o644)
}

func (e *editor) byRename(name string, content []byte) error {
	_ = os.Remove(e.other(name))
	return errors.Join(os.WriteFile(e.other(name), content, 0o644), os.Rename(e.other(name), e.path(name)))
}

func (e *editor) byLink(name string, content []byte) error {
	_ = os.Remove(e.other(name))
	return errors.Join(os.WriteFile(e.other(name), content, 0o644), os.Remove(e.path(name)), os.Link(e.other(name), e.path(name)))
}

func (e *editor) byOtherName(name string, content []byte) error {
	_ = os.Remove(e.other(name))
	return errors.Join(os.Link(e.path(name), e.other(name)), os.WriteFile(e.other(name), content, 0o644))
}

// byByte writes a byte at a time, and rests in the middle for longer than it takes a
// folder to settle.
func (e *editor) byByte(name string, content []byte) error {
	file, err := os.OpenFile(e.path(name), os.O_WRONLY|os.O_TRUNC, 0o644)
	if err != nil {
		return err
	}
	defer file.Close()
	for i := range content {
		if _, err := file.Write(content[i : i+1]); err != nil {
			return err
		}
		if i == len(content)/2 {
			time.Sleep(3 * quiet)
		}
	}
	return nil
}

// edit writes a version: a burst over all files, the first of them a byte at a time
// now and then.
func (e *editor) edit(version int) error {
	fast := []func(string, []byte) error{e.inPlace, e.byRename, e.byLink, e.byOtherName}
	slow := false
	for i, name := range raceFiles {
		way, began := fast[e.random.IntN(len(fast))], time.Now()
		bytewise := i == 0 && runtime.GOOS == "linux" && e.random.IntN(4) == 0
		if bytewise {
			way = e.byByte
		}
		if err := way(name, contentOf(version)); err != nil {
			return err
		}
		slow = slow || !bytewise && time.Since(began) > quiet/3
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.ended[version], e.slow[version] = time.Now(), slow
	return nil
}

// least returns the last version that ended before a time.
func (e *editor) least(at time.Time) (version int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for v, ended := range e.ended {
		if ended.Before(at) {
			version = max(version, v)
		}
	}
	return version
}

// fault describes what is wrong with a snapshot that has to be of one version, and at
// least of some version.
func (e *editor) fault(dir string, least int) string {
	var versions []int
	for _, name := range raceFiles {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return "a file is missing"
		}
		line, _, _ := strings.Cut(string(data), "\n")
		version, err := strconv.Atoi(line)
		if err != nil || !bytes.Equal(data, contentOf(version)) {
			return fmt.Sprintf("%s has part of version %s, %d of %d bytes", name, line, len(data), len(contentOf(version)))
		}
		versions = append(versions, version)
	}
	for _, version := range versions {
		if version != versions[0] || version < least {
			return fmt.Sprintf("the versions of its files are %v, and should be %d or later", versions, least)
		}
	}
	return ""
}

// excused reports whether one of the versions that were written from least on was slow.
func (e *editor) excused(least int) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	for version, slow := range e.slow {
		if version > least && slow {
			return true
		}
	}
	return false
}

// TestEditRace takes snapshots while a folder is written in every way: each has to be
// of one version, and none may be older than the last that ended 200 ms before.
func TestEditRace(t *testing.T) {
	certainly(t)
	e := &editor{
		dir: exampleFolder(t), aside: t.TempDir(), random: rand.New(rand.NewPCG(1, 2)),
		ended: map[int]time.Time{}, slow: map[int]bool{},
	}
	for _, name := range raceFiles {
		if err := e.inPlace(name, contentOf(0)); err != nil {
			t.Fatal(err)
		}
	}
	var left atomic.Int64
	left.Store(1000)
	var takers sync.WaitGroup
	for i := range 4 {
		s := New(t.TempDir())
		for range 2 {
			takers.Go(func() {
				for left.Add(-1) >= 0 {
					least := e.least(time.Now().Add(-200 * time.Millisecond))
					snap, err := s.Take(t.Context(), skillfs.DirFS(e.dir), Use{Skill: fmt.Sprint(i), Lease: time.Hour})
					if err != nil {
						t.Error(err)
						continue
					}
					switch fault := e.fault(snap.Dir, least); {
					case fault != "" && !e.excused(least):
						t.Error(fault)
					case fault != "":
						t.Log("while the editor stood still: ", fault)
					}
				}
			})
		}
	}
	for version := 1; left.Load() > 0; version++ {
		if err := e.edit(version); err != nil {
			t.Error(err)
			break
		}
		time.Sleep(time.Duration(e.random.IntN(150)) * time.Millisecond)
	}
	takers.Wait()
	t.Logf("%d versions", len(e.ended))
}
