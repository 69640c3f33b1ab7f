package skillfs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/skillsmcp/skills-mcp/skills/truncate"
)

// The limits of a package. Source of MaxPackage: LinX's limit for packages.
const (
	MaxPackage  = 50 << 20  // bytes of the package itself
	MaxEntries  = 10_000    // files and folders
	MaxFile     = 64 << 20  // bytes of one file
	MaxUnpacked = 256 << 20 // bytes of all files together
	MaxDepth    = 20        // folders, one in the other
	maxPath     = 1024      // bytes of one path
	maxName     = 255       // bytes of one component of it
)

// An ArchiveError is the reason why a package is refused.
type ArchiveError struct {
	// Entry is the name of the file as the package has it; "" is the whole
	// package.
	Entry   string
	Message string
	Remedy  string // an imperative
}

func (e *ArchiveError) Error() string {
	if e.Entry == "" {
		return e.Message + "; " + e.Remedy
	}
	return fmt.Sprintf("%q: %s; %s", e.Entry, e.Message, e.Remedy)
}

// limits are bytes of a package, of one file and of all files. Tests have small
// ones.
type limits struct{ packed, file, unpacked int64 }

// A tree is the content of a package by path, as a file system.
type tree struct {
	limits   limits
	nodes    map[string]*node
	unpacked int64 // bytes of all files
	meant    bool  // there is a SKILL.md somewhere
}

// A node is a file or a folder. It is its own [fs.FileInfo] and [fs.DirEntry].
type node struct {
	name     string // without folders
	dir      bool
	mode     fs.FileMode
	size     int64
	time     time.Time
	content  func() (io.ReadCloser, error) // of a file
	children []*node                       // of a folder, sorted by name
}

func (n *node) Name() string               { return n.name }
func (n *node) IsDir() bool                { return n.dir }
func (n *node) Mode() fs.FileMode          { return n.mode }
func (n *node) Type() fs.FileMode          { return n.mode.Type() }
func (n *node) Size() int64                { return n.size }
func (n *node) ModTime() time.Time         { return n.time }
func (n *node) Sys() any                   { return nil }
func (n *node) Info() (fs.FileInfo, error) { return n, nil }
func (n *node) String() string             { return fs.FormatDirEntry(n) }

var (
	_ fs.ReadDirFS = (*tree)(nil)
	_ fs.StatFS    = (*tree)(nil)
)

func (t *tree) find(op, name string) (*node, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	n := t.nodes[name]
	if n == nil {
		return nil, &fs.PathError{Op: op, Path: name, Err: fs.ErrNotExist}
	}
	return n, nil
}

// Stat implements [fs.StatFS].
func (t *tree) Stat(name string) (fs.FileInfo, error) {
	n, err := t.find("stat", name)
	if err != nil {
		return nil, err
	}
	return n, nil
}

// ReadDir implements [fs.ReadDirFS].
func (t *tree) ReadDir(name string) ([]fs.DirEntry, error) {
	n, err := t.find("readdir", name)
	if err != nil {
		return nil, err
	}
	if !n.dir {
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: errNotDir}
	}
	return n.entries(), nil
}

func (n *node) entries() []fs.DirEntry {
	entries := make([]fs.DirEntry, len(n.children))
	for i, child := range n.children {
		entries[i] = child
	}
	return entries
}

// Open implements [fs.FS].
func (t *tree) Open(name string) (fs.File, error) {
	n, err := t.find("open", name)
	if err != nil {
		return nil, err
	}
	if n.dir {
		return &openDir{node: n, path: name, left: n.entries()}, nil
	}
	content, err := n.content()
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return &openFile{content, n}, nil
}

// openFile is a file that is being read.
type openFile struct {
	io.ReadCloser
	node *node
}

func (f *openFile) Stat() (fs.FileInfo, error) { return f.node, nil }

// openDir is a folder that is being read.
type openDir struct {
	node *node
	path string
	left []fs.DirEntry
}

func (d *openDir) Stat() (fs.FileInfo, error) { return d.node, nil }
func (d *openDir) Close() error               { return nil }

func (d *openDir) Read([]byte) (int, error) {
	return 0, &fs.PathError{Op: "read", Path: d.path, Err: errIsDir}
}

// ReadDir implements [fs.ReadDirFile].
func (d *openDir) ReadDir(n int) ([]fs.DirEntry, error) {
	if n > 0 && len(d.left) == 0 {
		return nil, io.EOF
	}
	if n <= 0 || n > len(d.left) {
		n = len(d.left)
	}
	entries := slices.Clone(d.left[:n])
	d.left = d.left[n:]
	return entries, nil
}

// addFile adds a file of a package. The entry is its name there.
func (t *tree) addFile(entry string, mode fs.FileMode, size int64, modified time.Time, content func() (io.ReadCloser, error)) error {
	name, err := cleanName(entry)
	if err != nil {
		return err
	}
	if name == "." {
		return &ArchiveError{entry, "a file has no name", "pack the skill anew"}
	}
	if size < 0 || size > t.limits.file {
		return &ArchiveError{entry, fmt.Sprintf("it is larger than %d MB", t.limits.file>>20), "leave it out"}
	}
	if t.unpacked += size; t.unpacked > t.limits.unpacked {
		return &ArchiveError{entry, fmt.Sprintf("the package holds more than %d MB", t.limits.unpacked>>20), "leave out what the skill does not need"}
	}
	if t.nodes[name] != nil {
		return &ArchiveError{entry, "the package has two entries of this name", "pack it anew from one folder"}
	}
	return t.add(entry, name, &node{mode: 0o444 | mode&0o111, size: size, time: modified, content: content})
}

// addDir adds a folder. One may be there twice.
func (t *tree) addDir(entry string, modified time.Time) error {
	name, err := cleanName(entry)
	if err != nil {
		return err
	}
	switch n := t.nodes[name]; {
	case n == nil:
		return t.add(entry, name, &node{dir: true, time: modified})
	case !n.dir:
		return &ArchiveError{entry, "the package has a file and a folder of this name", "pack it anew from one folder"}
	default:
		n.time = modified
		return nil
	}
}

// add puts a node into the tree, and the folders above it.
func (t *tree) add(entry, name string, n *node) error {
	if t.nodes == nil {
		t.nodes = map[string]*node{}
	}
	for {
		if n.name = path.Base(name); n.dir {
			n.mode = fs.ModeDir | 0o555
		}
		t.nodes[name] = n
		if len(t.nodes) > MaxEntries {
			return &ArchiveError{entry, fmt.Sprintf("the package has more than %d files and folders", MaxEntries), "leave out what the skill does not need"}
		}
		if name == "." {
			return nil
		}
		name = path.Dir(name)
		if above := t.nodes[name]; above != nil {
			if !above.dir {
				return &ArchiveError{entry, "a file of the package is a folder of this one", "pack it anew from one folder"}
			}
			return nil
		}
		n = &node{dir: true, time: n.time}
	}
}

// finish fills the folders once all entries are known, and returns the one with
// SKILL.md.
func (t *tree) finish() (root string, err error) {
	if len(t.nodes) == 0 {
		return "", &ArchiveError{"", "it is empty", "pack the folder of a skill"}
	}
	for name, n := range t.nodes {
		if name != "." {
			above := t.nodes[path.Dir(name)]
			above.children = append(above.children, n)
		}
	}
	for _, n := range t.nodes {
		slices.SortFunc(n.children, func(a, b *node) int { return strings.Compare(a.name, b.name) })
	}
	return t.findRoot()
}

// cleanName returns the path that an entry's name means, or an error where it
// is one that a skill does not need and that an attack may.
func cleanName(entry string) (string, error) {
	fault := func(message, remedy string) error { return &ArchiveError{shorten(entry), message, remedy} }
	switch {
	case len(entry) > maxPath:
		return "", fault(fmt.Sprintf("its path is longer than %d bytes", maxPath), "shorten it")
	case !utf8.ValidString(entry) || strings.ContainsFunc(entry, unicode.IsControl):
		return "", fault("its name is not UTF-8, or has control characters", "rename it")
	case strings.Contains(entry, `\`):
		return "", fault("its path has a backslash", "pack the skill with a program that writes /")
	case path.IsAbs(entry) || driveLetter(entry):
		return "", fault("its path is absolute", "pack the skill's folder with paths inside of it")
	}
	parts := strings.Split(strings.TrimRight(entry, "/"), "/")
	for _, part := range parts {
		switch {
		case part == "..":
			return "", fault("its path leads out of the package", "pack the skill's folder with paths inside of it")
		case len(part) > maxName:
			return "", fault(fmt.Sprintf("its name is longer than %d bytes", maxName), "shorten it")
		}
	}
	if len(parts) > MaxDepth {
		return "", fault(fmt.Sprintf("it lies more than %d folders deep", MaxDepth), "pack the skill with fewer")
	}
	return path.Clean(strings.Join(parts, "/")), nil
}

// driveLetter reports whether a path begins as absolute ones of Windows do.
func driveLetter(name string) bool {
	return len(name) > 1 && name[1] == ':' && (name[0]|0x20) >= 'a' && (name[0]|0x20) <= 'z'
}

// shorten returns a name for a message: it may have any bytes, and any number.
func shorten(name string) string { return truncate.String(strings.ToValidUTF8(name, ""), maxName) }

// findRoot returns the folder that has SKILL.md, at the top or one level down.
func (t *tree) findRoot() (string, error) {
	top := t.nodes["."]
	if top.hasManifest() {
		return ".", nil
	}
	var found []string
	for _, n := range top.children {
		if n.hasManifest() {
			found = append(found, n.name)
		}
	}
	switch len(found) {
	case 0:
		return "", &ArchiveError{"", "it has no SKILL.md, neither at its top nor in a folder there", "pack the folder that has SKILL.md"}
	case 1:
		return found[0], nil
	}
	return "", &ArchiveError{"", fmt.Sprintf("it has %d skills, such as %q and %q", len(found), found[0], found[1]), "pack each alone"}
}

func (n *node) hasManifest() bool {
	return slices.ContainsFunc(n.children, func(c *node) bool {
		return !c.dir && (c.name == "SKILL.md" || c.name == "skill.md" || c.name == "Skill.md")
	})
}

// maxNotes bounds [Archive.Notes].
const maxNotes = 10

// sameButCase notes the names that differ in nothing but case.
func (t *tree) sameButCase() []string {
	first := map[string]string{}
	var notes []string
	for _, name := range t.sorted() {
		folded := strings.ToLower(name)
		other, ok := first[folded]
		if !ok {
			first[folded] = name
			continue
		}
		if path.Dir(other) != path.Dir(name) { // the folders were noted
			continue
		}
		if notes = append(notes, fmt.Sprintf("%q and %q differ only in case: on some machines they are one", other, name)); len(notes) == maxNotes {
			break
		}
	}
	return notes
}

func (t *tree) sorted() []string {
	names := make([]string, 0, len(t.nodes))
	for name := range t.nodes {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// ErrNoSkill is wrapped, beside an [*ArchiveError], by the error for a file
// without a SKILL.md: it was not meant to be a skill.
var ErrNoSkill = errors.New("no skill")

// noSkill is an [*ArchiveError] that is [ErrNoSkill], too.
type noSkill struct{ fault *ArchiveError }

func (n noSkill) Error() string        { return n.fault.Error() }
func (n noSkill) Unwrap() error        { return n.fault }
func (n noSkill) Is(target error) bool { return target == ErrNoSkill }

// unmeant marks an error about a package without a SKILL.md.
func (t *tree) unmeant(err error) error {
	var fault *ArchiveError
	if !t.meant && errors.As(err, &fault) {
		return noSkill{fault}
	}
	return err
}

// isManifest reports whether an entry is a SKILL.md, wherever it lies.
func isManifest(entry string) bool { return strings.EqualFold(path.Base(entry), "SKILL.md") }
