package watch

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// Whatever was done to the folders, and however fast, once all of it is
// reported every folder is watched: a file written in any of them is reported,
// under each root it is in.
func TestEveryFolderIsWatchedAfterAnything(t *testing.T) {
	for seed := range uint64(12) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			base := tempDir(t)
			root := mkdir(t, base, "root")
			p := newProbeWith(t, &Options{Depth: 50}, root, filepath.Join(root, "a"), filepath.Join(root, "b", "c"))
			m := mischief{rand.New(rand.NewPCG(seed, 0)), base, root}
			for range 4 {
				p.touchedBy(func() {
					for range 60 {
						m.act()
					}
				})
				p.expectEveryFolder(root)
			}
			if got := p.logs.all(); len(got) > 0 {
				t.Errorf("log: %q", got)
			}
		})
	}
}

func (p *probe) expectEveryFolder(root string) {
	p.Helper()
	var want []string
	got := p.touchedBy(func() {
		must(p.T, filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			if err == nil && entry.IsDir() {
				want = append(want, write(p.T, path, "probe"))
			}
			return err
		}))
	})
	for _, file := range want {
		if !slices.Contains(got, file) {
			p.Errorf("not reported: %s", file)
		}
	}
}

// mischief does at random what folders are subjected to, with few names, so
// that they meet.
type mischief struct {
	*rand.Rand
	base, root string
}

// somewhere returns a path below the root, or sometimes out of it, at most four
// levels down.
func (m *mischief) somewhere() string {
	path := m.root
	if m.IntN(8) == 0 {
		path = filepath.Join(m.base, "outside")
	}
	for range 1 + m.IntN(4) {
		path = filepath.Join(path, string(rune('a'+m.IntN(3))))
	}
	return path
}

// act does one thing. What is impossible just now fails, and that is fine.
func (m *mischief) act() {
	path := m.somewhere()
	switch m.IntN(7) {
	case 0, 1, 2:
		_ = os.MkdirAll(path, 0o755)
	case 3:
		_ = os.WriteFile(filepath.Join(path, "file"), nil, 0o644)
	case 4:
		_ = os.RemoveAll(path)
	case 5:
		_ = os.Rename(path, m.somewhere())
	case 6: // exchange
		aside := filepath.Join(m.base, "aside")
		other := m.somewhere()
		_ = os.Rename(path, aside)
		_ = os.Rename(other, path)
		_ = os.Rename(aside, other)
		_ = os.RemoveAll(aside)
	}
}
