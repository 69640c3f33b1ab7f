package oci

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/install/source"
)

// The bounds of an image. A file that is kept is bounded by the quarantine as well.
const (
	maxEntries  = 200_000 // of all layers
	maxNodes    = 400_000 // files and folders, also those that only a path names
	maxUnpacked = 2 << 30 // bytes of all layers
	maxShared   = 8 << 20 // bytes of a file with several names
)

// An image is the tree of files that layers make, in which no file has been written. An
// entry below a link or a file replaces it by a folder, so that no link is followed.
type image struct {
	root    *node
	entries int
	nodes   int
	left    int64 // bytes that may still be unpacked
}

// A node is a file, link or folder of an image.
type node struct {
	children map[string]*node // of a folder; nil otherwise
	at       position         // of a regular file's bytes
	regular  bool
	exec     bool
	link     string // the target of a symbolic link
	problem  string // why the node is not accepted in a skill
}

// A position is that of an entry in the layers.
type position struct{ layer, entry int }

func newImage() *image { return &image{root: newFolder(), left: maxUnpacked} }

func newFolder() *node { return &node{children: map[string]*node{}} }

// unpackImage writes the skills of an image below folder.
func (p *pull) unpackImage(ctx context.Context, found *manifest, layers []*layerFile, folder string) ([]source.Tree, error) {
	i := newImage()
	for number, layer := range layers {
		if err := i.apply(ctx, number, layer); err != nil {
			return nil, err
		}
	}
	start, ok := i.root, true
	if within := p.request.Source.Path; within != "" {
		start, ok = i.find(within)
	}
	var roots []string
	if ok {
		roots = start.skills(path.Join(".", p.request.Source.Path))
	}
	if len(roots) == 0 {
		return nil, found.noSkill()
	}
	roots, err := p.chooseRoots(roots)
	if err != nil {
		return nil, err
	}
	wanted := &extraction{pull: p, folder: folder, files: map[position][]extracted{}}
	for _, root := range roots {
		n, _ := i.find(root)
		if err := wanted.add(n, root); err != nil {
			return nil, err
		}
	}
	for number, layer := range layers {
		if err := wanted.write(ctx, number, layer); err != nil {
			return nil, err
		}
	}
	var trees []source.Tree
	for _, root := range roots {
		trees = append(trees, source.Tree{Path: join(folder, root), In: strings.TrimPrefix(root, ".")})
	}
	return trees, nil
}

// chooseRoots returns the folders that the request wants. Their names are those of the
// skills by the standard.
func (p *pull) chooseRoots(roots []string) ([]string, error) {
	if len(roots) == 1 {
		return roots, nil
	}
	var choices []source.Choice
	for _, root := range roots {
		choices = append(choices, source.Choice{Name: path.Base(root), Kind: "skill", Path: root})
	}
	chosen, err := choose(p.request, choices)
	var wanted []string
	for _, i := range chosen {
		wanted = append(wanted, roots[i])
	}
	return wanted, err
}

// A stream reads the entries of one layer.
type stream struct {
	*tar.Reader
	number int // of the entry that Next returned last
}

// openLayer returns the entries of a layer, which may be compressed with gzip.
func openLayer(layer *layerFile, left *int64) (*stream, error) {
	from := bufio.NewReader(io.NewSectionReader(layer, 0, layer.layer.Size))
	magic, _ := from.Peek(4) // a shorter layer is none of them
	var unpacked io.Reader = from
	switch {
	case bytes.HasPrefix(magic, []byte("\x1f\x8b")): // RFC 1952, 2.3.1
		zipped, err := gzip.NewReader(from)
		if err != nil {
			return nil, err
		}
		unpacked = zipped
	case bytes.Equal(magic, []byte("\x28\xb5\x2f\xfd")): // RFC 8878, 3.1.1
		return nil, &source.RefusedError{Reason: "a layer of the image is compressed with zstd, which this program does not read", Remedy: "ask its author for layers with gzip"}
	}
	return &stream{Reader: tar.NewReader(&bounded{unpacked, left}), number: -1}, nil
}

// next returns the next entry with its path, whose components are neither empty nor dots.
func (s *stream) next() (*tar.Header, []string, error) {
	header, err := s.Next()
	if err != nil && !errors.Is(err, tar.ErrInsecurePath) { // names are checked here
		return nil, nil, err
	}
	s.number++
	parts, err := split(header.Name)
	return header, parts, err
}

// split returns the components of a path in an image, from its root. One that leads out
// is refused.
func split(name string) ([]string, error) {
	var parts []string
	for part := range strings.SplitSeq(name, "/") {
		switch part {
		case "", ".":
		case "..":
			return nil, &source.RefusedError{Reason: fmt.Sprintf("the image has a path that leads out of it: %q", name)}
		default:
			parts = append(parts, part)
		}
	}
	return parts, nil
}

// bounded is an error where more is read than left counts.
type bounded struct {
	io.Reader
	left *int64
}

func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if *b.left -= int64(n); *b.left < 0 {
		return 0, tooLarge(fmt.Sprintf("layers that unpack to more than %d GiB", maxUnpacked>>30))
	}
	return n, err
}

// apply adds a layer. Its whiteouts are about the layers below it, wherever they stand in
// it (OCI image specification, "Layer Filesystem Changeset").
func (i *image) apply(ctx context.Context, number int, layer *layerFile) error {
	entries, err := openLayer(layer, &i.left)
	if err != nil {
		return broken(err)
	}
	type addition struct {
		parts []string
		node  *node
		hard  string // the target of a hard link
	}
	var added []addition
	for ctx.Err() == nil {
		header, parts, err := entries.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return broken(err)
		}
		if i.entries++; i.entries > maxEntries {
			return tooLarge(fmt.Sprintf("more than %d files", maxEntries))
		}
		if len(parts) == 0 || header.Typeflag == tar.TypeXGlobalHeader {
			continue
		}
		if done, err := i.whiteout(parts); err != nil {
			return err
		} else if done {
			continue
		}
		a := addition{parts: parts, node: newNode(header, position{number, entries.number})}
		if header.Typeflag == tar.TypeLink {
			a.hard = header.Linkname
		}
		added = append(added, a)
	}
	for _, a := range added {
		if a.hard != "" {
			a.node = i.target(a.hard)
		}
		if err := i.add(a.parts, a.node); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// broken returns the error for an archive that cannot be read.
func broken(err error) error {
	if refused := (*source.RefusedError)(nil); errors.As(err, &refused) {
		return err
	}
	return &source.RefusedError{Reason: "a layer of the image is no whole tar file: " + err.Error(), Remedy: "ask its author to push it again"}
}

func newNode(header *tar.Header, at position) *node {
	switch header.Typeflag {
	case tar.TypeDir:
		return newFolder()
	case tar.TypeReg:
		return &node{at: at, regular: true, exec: header.Mode&0o111 != 0}
	case tar.TypeSymlink:
		return &node{link: header.Linkname}
	}
	return &node{problem: "is a device, a pipe or another special file"}
}

// whiteout removes what a whiteout says, and reports whether the entry is one.
func (i *image) whiteout(parts []string) (bool, error) {
	name, is := strings.CutPrefix(parts[len(parts)-1], ".wh.")
	if !is {
		return false, nil
	}
	folder, ok := i.root.walk(parts[:len(parts)-1])
	switch {
	case name == "" || name == "." || name == "..":
		return true, &source.RefusedError{Reason: fmt.Sprintf("the image has a whiteout of nothing: %q", path.Join(parts...))}
	case !ok || folder.children == nil:
	case name == ".wh..opq":
		clear(folder.children)
	default:
		delete(folder.children, name)
	}
	return true, nil
}

// add puts a node at a path. A folder that is there keeps its files.
func (i *image) add(parts []string, n *node) error {
	folder := i.root
	for _, part := range parts[:len(parts)-1] {
		next := folder.children[part]
		if next == nil || next.children == nil {
			next = newFolder()
			if err := i.put(folder, part, next); err != nil {
				return err
			}
		}
		folder = next
	}
	name := parts[len(parts)-1]
	if there := folder.children[name]; there != nil && there.children != nil && n.children != nil {
		return nil
	}
	return i.put(folder, name, n)
}

func (i *image) put(folder *node, name string, n *node) error {
	if i.nodes++; i.nodes > maxNodes {
		return tooLarge(fmt.Sprintf("more than %d files and folders", maxNodes))
	}
	folder.children[name] = n
	return nil
}

// target returns a node with the content that a hard link leads to.
func (i *image) target(name string) *node {
	if n, ok := i.find(name); ok && n.children == nil {
		again := *n
		return &again
	}
	return &node{problem: "is a hard link to no file of the image"}
}

func (i *image) find(name string) (*node, bool) {
	parts, err := split(name)
	if err != nil {
		return nil, false
	}
	return i.root.walk(parts)
}

func (n *node) walk(parts []string) (*node, bool) {
	for _, part := range parts {
		next := n.children[part]
		if next == nil {
			return nil, false
		}
		n = next
	}
	return n, true
}

// skills returns the paths of the topmost folders with a SKILL.md, in order. name is the
// path of n.
func (n *node) skills(name string) []string {
	if file := n.children["SKILL.md"]; file != nil && file.children == nil {
		return []string{name}
	}
	var found []string
	for child, below := range n.children {
		if below.children != nil {
			found = append(found, below.skills(path.Join(name, child))...)
		}
	}
	slices.Sort(found)
	return found
}

// An extraction writes chosen files of an image into the quarantine.
type extraction struct {
	*pull
	folder string
	files  map[position][]extracted // several are hard links of one file
}

type extracted struct {
	name string
	exec bool
}

// add notes the files below n, whose path is name, and makes its links.
func (e *extraction) add(n *node, name string) error {
	switch {
	case n.problem != "":
		return &source.RefusedError{Reason: fmt.Sprintf("%q in the image %s", name, n.problem)}
	case n.regular:
		e.files[n.at] = append(e.files[n.at], extracted{join(e.folder, name), n.exec})
		return nil
	case n.children == nil:
		return e.into.Link(join(e.folder, name), n.link)
	}
	for _, child := range slices.Sorted(maps.Keys(n.children)) {
		if err := e.add(n.children[child], path.Join(name, child)); err != nil {
			return err
		}
	}
	return nil
}

// write writes the noted files of a layer.
func (e *extraction) write(ctx context.Context, number int, layer *layerFile) error {
	left := int64(maxUnpacked)
	entries, err := openLayer(layer, &left)
	if err != nil {
		return broken(err)
	}
	for ctx.Err() == nil {
		_, _, err := entries.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return broken(err)
		}
		if err := e.writeFile(e.files[position{number, entries.number}], entries); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// writeFile writes one content to all its paths.
func (e *extraction) writeFile(paths []extracted, content io.Reader) error {
	if len(paths) == 1 {
		return e.into.Create(paths[0].name, paths[0].exec, content)
	}
	if len(paths) == 0 {
		return nil
	}
	shared, err := io.ReadAll(io.LimitReader(content, maxShared+1))
	if err != nil {
		return broken(err)
	}
	if len(shared) > maxShared {
		return tooLarge(fmt.Sprintf("a file of more than %d MiB with several names", maxShared>>20))
	}
	for _, to := range paths {
		if err := e.into.Create(to.name, to.exec, bytes.NewReader(shared)); err != nil {
			return err
		}
	}
	return nil
}
