package scan

import (
	"errors"
	"io/fs"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/skillfs"
	"github.com/skillsmcp/skills-mcp/skills/stamp"
)

// A memory records the folders and candidates of a scan, for the next scan. Its
// paths are host paths without links.
type memory struct {
	looked     time.Time // when all was read, or looked at last
	places     []location
	listings   map[string]listing       // by folder
	ahead      func(folder string) bool // of the options
	watched    *sync.Map                // folders of the first scan that are watched since before they were read
	probed     map[string]bool          // other paths of the walk, such as manifests of plugins
	candidates map[string][]*candidate  // by folder, or package
	catalog    *skills.Catalog
	trusted    map[string]bool // the workspaces that have a root, and whether they are trusted
	partial    bool            // candidates were not read
	cache      Cache           // of a partial scan, for the next one
}

// A location is the host folder of a root, as given and without links.
type location struct{ given, real string }

// newMemory returns an empty memory of a scan that goes on from before, or of one that
// reads all.
func newMemory(before *memory) *memory {
	m := &memory{looked: time.Now(), watched: &sync.Map{}, listings: map[string]listing{}, probed: map[string]bool{}, candidates: map[string][]*candidate{}}
	if before != nil {
		m.looked, m.watched = before.looked, before.watched
	}
	return m
}

// changed returns the paths that changed since shortly before the last look: roots,
// folders, their entries, and what else the walk looked at. It looks at no watched folder
// and its files if they are trusted to be noticed.
func (m *memory) changed(trusted *sync.Map) (paths []string) {
	for _, p := range m.places {
		real, err := filepath.EvalSymlinks(p.given)
		if there := m.listings[p.real] != nil; there != (err == nil) || there && real != p.real {
			paths = append(paths, p.given)
		}
	}
	for dir, entries := range m.listings {
		_, watched := trusted.Load(dir)
		if !watched && m.changedAt(dir) {
			paths = append(paths, filepath.Join(dir, "an entry"))
		}
		for _, entry := range entries {
			if watched && entry.Type()&fs.ModeSymlink == 0 {
				continue
			}
			name := filepath.Join(dir, entry.Name())
			if m.listings[name] == nil && m.changedAt(name) {
				paths = append(paths, name)
			}
		}
	}
	for name := range m.probed {
		if _, err := os.Lstat(name); err == nil && m.changedAt(name) {
			paths = append(paths, name)
		}
	}
	return paths
}

// changedAt reports whether a file or folder is gone, or may have changed since the last
// look. Of a link that leads nowhere, the link counts.
func (m *memory) changedAt(name string) bool {
	info, err := os.Stat(name)
	if err != nil {
		info, err = os.Lstat(name)
	}
	return err != nil || !stamp.Of(info).Settled(m.looked)
}

// listing returns the listing of a folder, or nil.
func (m *memory) listing(dir string) listing {
	if m == nil || dir == "" {
		return nil
	}
	return m.listings[dir]
}

func (m *memory) add(given, read Root) {
	if given.Dir != "" {
		m.places = append(m.places, location{filepath.Clean(given.Dir), filepath.Clean(read.Dir)})
	}
}

func (m *memory) take(candidates []*candidate) {
	for _, c := range candidates {
		if errors.Is(c.err, errUnread) {
			m.partial = true
		} else if at := c.place(); at != "" {
			m.candidates[at] = append(m.candidates[at], c)
		}
	}
}

// locate returns paths as they are without links above them, each once, without
// those that lie in no root. It is not simple where a root itself may have come,
// gone or moved.
func (m *memory) locate(paths []string) (changed []string, simple bool) {
	for _, name := range paths {
		name = filepath.Clean(name)
		for _, p := range m.places {
			for _, root := range []string{p.given, p.real} {
				if skillfs.Inside(name, root) {
					return nil, false
				}
				if skillfs.Inside(root, name) {
					changed = append(changed, filepath.Join(p.real, name[len(root):]))
				}
			}
		}
	}
	slices.Sort(changed)
	return slices.Compact(changed), true
}

// forget drops the listings and candidates at and below paths, and of the folders
// that they are in.
func (m *memory) forget(paths []string) {
	for _, name := range paths {
		delete(m.listings, filepath.Dir(name))
		for dir := range upwards(name) {
			delete(m.candidates, dir)
		}
		below := name + string(filepath.Separator)
		covered := func(at string) bool { return at == name || strings.HasPrefix(at, below) }
		maps.DeleteFunc(m.listings, func(dir string, _ listing) bool { return covered(dir) })
		maps.DeleteFunc(m.candidates, func(dir string, _ []*candidate) bool { return covered(dir) })
	}
}

// upwards yields name and the folders that it lies in.
func upwards(name string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for yield(name) {
			up := filepath.Dir(name)
			if up == name {
				return
			}
			name = up
		}
	}
}

// recall fills in c from the same candidate of the scan before. It reports
// whether there was one.
func (m *memory) recall(c *candidate) bool {
	if m == nil || c.place() == "" {
		return false
	}
	for _, known := range m.candidates[c.place()] {
		if known.is(c) {
			c.skill, c.err = known.skill, known.err
			return true
		}
	}
	return false
}

// probe returns a view of a root that notes each path which is looked at, except
// for the entries of folders: listings know those. Looks in a skill's own folder
// belong to the skill.
func (m *memory) probe(files fs.FS, host func(name string) string) fs.FS {
	return &skillfs.View{FS: files, Looked: func(op, name string) {
		if at := host(name); at != "" && name != "." && op != "readdir" && op != "sub" {
			m.probed[at] = true
		}
	}}
}
