package archive

import (
	"io"
	"io/fs"
	"slices"
)

var (
	_ fs.ReadDirFS = (*Archive)(nil)
	_ fs.StatFS    = (*Archive)(nil)
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
