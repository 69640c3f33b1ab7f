package skillfs

import (
	"archive/zip"
	"bytes"
	"cmp"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
)

// An archive is an open package. Its file system has files of the modes 0o444 and
// 0o555 and folders of 0o555. A package with a link is refused, so no path leads out
// of it.
type archive struct {
	*zip.Reader
	root  string // the folder with SKILL.md: ".", or one at the top
	close func() error
}

// A packageFile is an open package, such as an [os.File]. ReadAt must allow concurrent
// calls.
type packageFile interface {
	fs.File
	io.ReaderAt
}

// newArchive reads the list of a package's entries, and no more of a ZIP file. A
// tar.gz file is packed anew as a ZIP file, in memory. close closes the file; after
// an error it is still the caller's. The error is an [*ArchiveError] where the package
// is at fault, and [ErrNoSkill] as well where it has no SKILL.md.
func newArchive(file packageFile, l limits) (*archive, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &ArchiveError{"", "it is not a regular file", "name a ZIP or tar.gz file"}
	}
	if info.Size() > l.packed {
		return nil, &ArchiveError{"", fmt.Sprintf("it is larger than %d MB", l.packed>>20), "leave out what the skill does not need"}
	}
	c := &contents{limits: l, folders: map[string]bool{}}
	files, err := c.read(file, info.Size())
	var root string
	if err == nil {
		root, err = c.root()
	}
	if err != nil {
		return nil, c.unmeant(err)
	}
	return &archive{files, root, file.Close}, nil
}

// read reads the entries of the file.
func (c *contents) read(file packageFile, size int64) (*zip.Reader, error) {
	list, err := ReadArchive(file, size, c.limits.unpacked, c.visit)
	switch err = cmp.Or(c.refused, err); {
	case err != nil:
		return nil, err
	case list != nil:
		list.File = c.zipped
		return list, nil
	case c.repacked == nil:
		return &zip.Reader{}, nil
	}
	if err := c.repacked.Close(); err != nil {
		return nil, err
	}
	return zip.NewReader(bytes.NewReader(c.memory.Bytes()), int64(c.memory.Len()))
}

// visit adds an entry. Behind one that is refused it looks for a SKILL.md, within the limits
// that hold for all entries.
func (c *contents) visit(e *PackedEntry) error {
	c.meant = c.meant || strings.EqualFold(path.Base(e.Name), "SKILL.md")
	c.entries++
	if c.refused == nil {
		c.refused = c.addEntry(e)
	}
	if c.refused != nil && (c.meant || c.entries > maxEntries) {
		return c.refused
	}
	return nil
}

func (c *contents) addEntry(e *PackedEntry) (err error) {
	var name string
	switch kind := e.Mode.Type(); {
	case c.entries > maxEntries:
		return &ArchiveError{shorten(e.Name), fmt.Sprintf("the package has more than %d entries", maxEntries), "leave out what the skill does not need"}
	case kind == fs.ModeDir:
		name, err = c.addDir(e.Name)
	case kind == 0:
		name, err = c.addFile(e.Name, e.Size)
	case kind == fs.ModeSymlink, kind == fs.ModeIrregular:
		return &ArchiveError{shorten(e.Name), "it is a link", "pack the file that it leads to in its place (zip -r and tar -h do)"}
	default:
		return &ArchiveError{shorten(e.Name), "it is neither a file nor a folder", "leave it out"}
	}
	switch {
	case err != nil || name == "":
		return err
	case e.zipped != nil:
		e.zipped.Name = name
		if kind := e.Mode.Type(); kind == 0 {
			e.zipped.SetMode(mode(e.Mode))
		}
		c.zipped = append(c.zipped, e.zipped)
		return nil
	case c.unpacked > c.limits.repacked:
		return &ArchiveError{"", fmt.Sprintf("a tar.gz file with more than %d MB is not read in place", c.limits.repacked>>20), "pack it as a ZIP file"}
	case c.repacked == nil:
		c.repacked = zip.NewWriter(&c.memory)
	}
	return c.repack(name, e)
}

// repack adds a file or folder of a tar.gz file.
func (c *contents) repack(name string, e *PackedEntry) error {
	header := &zip.FileHeader{Name: name, Method: zip.Store, Modified: e.Modified}
	if !e.Mode.IsDir() {
		header.SetMode(mode(e.Mode))
	}
	to, err := c.repacked.CreateHeader(header)
	if err != nil || e.Mode.IsDir() {
		return err
	}
	content, err := e.Open()
	if err != nil {
		return err
	}
	_, err = io.Copy(to, io.LimitReader(content, e.Size)) // which sizes the buffer of a small file
	return err
}
