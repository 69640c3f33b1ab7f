// Package edittest edits a folder in each way in which programs do, for tests that
// want a reader to see edits whole or not at all.
//
// Start with [NewEditor]; call [Editor.Edit] for each version, and [Editor.Fault] for
// each reading.
package edittest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"
)

// An Editor writes one version of a folder's files after another. Edit is called by one
// goroutine, the other methods by any.
type Editor struct {
	dir, aside string
	files      []string
	content    func(name string, version int) []byte
	random     *rand.Rand

	mu      sync.Mutex
	ended   map[int]time.Time // by version; guarded by mu
	slow    map[int]bool      // versions written with a pause that ends an edit; guarded by mu
	version int               // that is written; guarded by mu
	began   time.Time         // when the step of the edit began; zero between edits, and while a file is open on purpose; guarded by mu
}

// settled is the time without a change after which a reader may take an edit for
// ended.
const settled = 50 * time.Millisecond

// NewEditor returns an editor of files, slash-separated paths in dir. It writes version 0
// of each. aside is an empty folder of the same file system.
func NewEditor(dir, aside string, files []string, content func(name string, version int) []byte) (*Editor, error) {
	e := &Editor{
		dir: dir, aside: aside, files: files, content: content, random: rand.New(rand.NewPCG(1, 2)),
		ended: map[int]time.Time{}, slow: map[int]bool{},
	}
	for _, name := range files {
		if err := os.MkdirAll(filepath.Dir(e.path(name)), 0o755); err != nil {
			return nil, err
		}
		if err := e.inPlace(name, content(name, 0)); err != nil {
			return nil, err
		}
	}
	return e, nil
}

// Edit writes a version: a burst over all files, on Linux with one of them written a
// byte at a time now and then. Then it rests for up to 150 ms.
func (e *Editor) Edit(version int) error {
	fast := []func(string, []byte) error{e.inPlace, e.byRename, e.byLink, e.byOtherName}
	bytewise := -1
	if runtime.GOOS == "linux" && e.random.IntN(4) == 0 {
		bytewise = e.random.IntN(len(e.files))
	}
	for i, name := range e.files {
		way := fast[e.random.IntN(len(fast))]
		if i == bytewise {
			way = e.byByte
		}
		content := e.content(name, version)
		if i == 0 {
			e.begin(version)
		}
		if err := way(name, content); err != nil {
			return err
		}
		e.step(time.Now())
	}
	e.end()
	time.Sleep(time.Duration(e.random.IntN(150)) * time.Millisecond)
	return nil
}

func (e *Editor) begin(version int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.version, e.began = version, time.Now()
}

// step ends a step of the edit: what lies between two changes that a reader can see is at
// most two steps. The next one begins at a time; zero is none.
func (e *Editor) step(next time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.slow[e.version] = e.slow[e.version] || e.late()
	e.began = next
}

func (e *Editor) end() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.ended[e.version], e.began = time.Now(), time.Time{}
}

// late reports whether the step under way lasts so long that a reader may take the edit
// for two.
func (e *Editor) late() bool { return !e.began.IsZero() && time.Since(e.began) > settled/3 }

func (e *Editor) path(name string) string { return filepath.Join(e.dir, filepath.FromSlash(name)) }

// other returns the path for a file that is not in the folder yet. There is none.
func (e *Editor) other(name string) string {
	path := filepath.Join(e.aside, strings.ReplaceAll(name, "/", "-"))
	_ = os.Remove(path)
	return path
}

func (e *Editor) inPlace(name string, content []byte) error {
	return os.WriteFile(e.path(name), content, 0o755)
}

func (e *Editor) byRename(name string, content []byte) error {
	other := e.other(name)
	return errors.Join(os.WriteFile(other, content, 0o755), os.Rename(other, e.path(name)))
}

func (e *Editor) byLink(name string, content []byte) error {
	other := e.other(name)
	return errors.Join(os.WriteFile(other, content, 0o755), os.Remove(e.path(name)), os.Link(other, e.path(name)))
}

func (e *Editor) byOtherName(name string, content []byte) error {
	other := e.other(name)
	return errors.Join(os.Link(e.path(name), other), os.WriteFile(other, content, 0o755))
}

// byByte rests in the middle for longer than a folder takes to settle. No time counts while
// the file is open: a reader knows by that.
func (e *Editor) byByte(name string, content []byte) error {
	file, err := os.OpenFile(e.path(name), os.O_WRONLY|os.O_TRUNC, 0o755)
	if err != nil {
		return err
	}
	defer file.Close()
	e.step(time.Time{})
	defer func() { e.step(time.Now()) }()
	for i := range content {
		if _, err := file.Write(content[i : i+1]); err != nil {
			return err
		}
		if i == len(content)/2 {
			time.Sleep(3 * settled)
		}
	}
	return nil
}

// Least returns the oldest version that a reader may see who begins at a time: the last
// one that ended 200 ms before.
func (e *Editor) Least(at time.Time) (version int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for v, ended := range e.ended {
		if ended.Before(at.Add(-200 * time.Millisecond)) {
			version = max(version, v)
		}
	}
	return version
}

// Fault describes what is wrong with the versions in which a reader saw the files, or
// returns "". A version of -1 is none of the files' versions. Nothing is wrong if this
// process stood still in the middle of an edit for so long that nobody could have
// known it for one.
func (e *Editor) Fault(versions []int, least int) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	wrong := len(versions) != len(e.files) && !e.late()
	for _, version := range versions {
		wrong = wrong || (version != versions[0] || version < least) && !e.late()
	}
	for version, slow := range e.slow {
		wrong = wrong && !(slow && version > least)
	}
	if !wrong {
		return ""
	}
	return fmt.Sprintf("the files have the versions %v; all should have one, %d or later", versions, least)
}
