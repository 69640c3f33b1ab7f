package skillshost

import (
	"bytes"
	"encoding/json"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"
)

// A tree is a read-only file system of the skills of all servers, in the form that a scan
// reads as plugins: LABEL/plugin.json, and LABEL/skills/VERSION/PREFIX/NAME/SKILL.md. A
// skill that was not fetched has a SKILL.md made of its entry, and nothing else. It is
// not changed once it is made.
type tree struct {
	nodes  map[string]*node   // by path; "." is the top
	skills map[string]*listed // by the folder of the skill
}

// A listed is a skill of a tree.
type listed struct {
	server  *Server
	entry   *Entry
	fetched bool
}

// A node is a file or folder of a tree. It is its own information.
type node struct {
	name     string
	children []fs.DirEntry // of a folder, by name
	folder   bool
	size     int64
	mode     fs.FileMode
	read     func() ([]byte, error) // of a file
}

func newTree() *tree {
	return &tree{map[string]*node{".": {name: ".", folder: true, mode: fs.ModeDir | 0o555}}, map[string]*listed{}}
}

// add adds a node, and the folders above it.
func (t *tree) add(name string, n *node) {
	n.name = path.Base(name)
	t.nodes[name] = n
	above := path.Dir(name)
	if t.nodes[above] == nil {
		t.add(above, &node{folder: true, mode: fs.ModeDir | 0o555})
	}
	parent := t.nodes[above]
	at, _ := slices.BinarySearchFunc(parent.children, n.name, func(e fs.DirEntry, name string) int { return strings.Compare(e.Name(), name) })
	parent.children = slices.Insert(parent.children, at, fs.DirEntry(fs.FileInfoToDirEntry(n)))
}

// addText adds a file that is made up.
func (t *tree) addText(name, text string) {
	t.add(name, &node{size: int64(len(text)), mode: 0o444, read: func() ([]byte, error) { return []byte(text), nil }})
}

// addServer adds a server with the skills that it lists.
func (t *tree) addServer(s *shelf, server *Server, l *Listing) {
	about, _ := json.Marshal(map[string]string{"name": server.Label, "description": "Skills of the MCP server " + server.Address.String()}) // of texts
	t.addText(path.Join(server.Label, "plugin.json"), string(about))
	for _, e := range l.Entries {
		dir := path.Join(server.Label, "skills", blobName(e.Set())[:12], folderOf(e), e.name)
		skill := &listed{server, e, s.complete(server.Label, e) && s.consented(server, e)}
		t.skills[dir] = skill
		if !skill.fetched {
			t.addText(path.Join(dir, skillFile), stub(server, e))
			continue
		}
		for i := range e.Files {
			t.addFile(s, server.Label, path.Join(dir, e.Files[i].name), &e.Files[i])
		}
	}
}

// folderOf returns a folder that tells skills of one name apart.
func folderOf(e *Entry) string {
	if e.prefix == "" {
		return "top"
	}
	return strings.ReplaceAll(e.prefix, "/", "-")
}

// addFile adds a file that was fetched. It is verified whenever it is read.
func (t *tree) addFile(s *shelf, label, name string, r *Resource) {
	mode := fs.FileMode(0o444)
	if data, err := s.blob(label, r); err == nil && bytes.HasPrefix(data, []byte("#!")) {
		mode = 0o555 // the extension has no modes
	}
	t.add(name, &node{size: r.Size, mode: mode, read: func() ([]byte, error) { return s.blob(label, r) }})
}

// stubFields are the fields that a skill has before it is fetched: those that tell what
// it is for, and none that it could run with.
func stubFields() []string {
	return []string{"name", "description", "license", "compatibility", "when_to_use", "argument-hint", "disable-model-invocation", "user-invocable"}
}

// stub returns the SKILL.md of a skill that was not fetched.
func stub(server *Server, e *Entry) string {
	front := map[string]any{}
	for _, key := range stubFields() {
		if value, ok := e.Frontmatter[key]; ok {
			front[key] = value
		}
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text) // JSON is YAML
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(front) // of JSON, so it is some
	return "---\n" + text.String() + "---\n\nThis skill is on the MCP server " + server.Label + " (version " + blobName(e.Set())[:12] + "). Its files are fetched when it is loaded, after a person's yes.\n"
}

// Open implements fs.FS.
func (t *tree) Open(name string) (fs.File, error) {
	n := t.nodes[name]
	switch {
	case !fs.ValidPath(name):
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	case n == nil:
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	case n.folder:
		return &openFolder{node: n}, nil
	}
	data, err := n.read()
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return &openFile{n, bytes.NewReader(data)}, nil
}

// The methods of fs.FileInfo.

func (n *node) Name() string       { return n.name }
func (n *node) Size() int64        { return n.size }
func (n *node) Mode() fs.FileMode  { return n.mode }
func (n *node) ModTime() time.Time { return time.Time{} }
func (n *node) IsDir() bool        { return n.folder }
func (n *node) Sys() any           { return nil }

// An openFile is a file of a tree.
type openFile struct {
	node *node
	*bytes.Reader
}

// Stat implements fs.File.
func (f *openFile) Stat() (fs.FileInfo, error) { return f.node, nil }

// Close implements fs.File.
func (f *openFile) Close() error { return nil }

// An openFolder is a folder of a tree.
type openFolder struct {
	node *node
	at   int
}

// Stat implements fs.File.
func (f *openFolder) Stat() (fs.FileInfo, error) { return f.node, nil }

// Read implements fs.File.
func (f *openFolder) Read([]byte) (int, error) {
	return 0, &fs.PathError{Op: "read", Path: f.node.name, Err: fs.ErrInvalid}
}

// Close implements fs.File.
func (f *openFolder) Close() error { return nil }

// ReadDir implements fs.ReadDirFile.
func (f *openFolder) ReadDir(n int) ([]fs.DirEntry, error) {
	rest := f.node.children[f.at:]
	if n > 0 {
		if len(rest) == 0 {
			return nil, io.EOF
		}
		rest = rest[:min(n, len(rest))]
	}
	f.at += len(rest)
	return slices.Clone(rest), nil
}
