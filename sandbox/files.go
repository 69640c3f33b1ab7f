package sandbox

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
	"unicode/utf8"
)

// The limits of the files taken from [OutDir]. [Files.Left] names the rest.
const (
	MaxOutFiles = 64       // files
	MaxOutBytes = 16 << 20 // bytes of all of them
	// maxOutEntries bounds the entries that are looked at, and maxOutLeft those that
	// Left names.
	maxOutEntries = 4096
	maxOutLeft    = 16
	maxOutName    = 1024 // bytes of a path
)

// Files holds a command's files in [OutDir]: regular files only, within
// [MaxOutFiles] and [MaxOutBytes], in the order in which they were found.
type Files struct {
	Taken []File
	// Left names the files that were not taken, each with the reason, for people.
	Left []string
}

// A File is one that a command left.
type File struct {
	Name string // its slash-separated path below OutDir, valid UTF-8 without control characters
	Data []byte
}

// errEnough ends a collection that is not to look at more.
var errEnough = errors.New("there is more than is looked at")

// collector takes files until there are enough.
type collector struct {
	files Files
	seen  int
	bytes int64
}

// leave notes a file that is not taken.
func (c *collector) leave(name, why string) {
	switch n := len(c.files.Left); {
	case n < maxOutLeft:
		c.files.Left = append(c.files.Left, fmt.Sprintf("%.200q: %s", name, why))
	case n == maxOutLeft:
		c.files.Left = append(c.files.Left, "and more")
	}
}

// add looks at one entry. open is called for a file that is to be taken, which
// may have changed since its mode and size were seen.
func (c *collector) add(name string, mode fs.FileMode, size int64, open func() (io.ReadCloser, error)) error {
	if c.seen++; c.seen > maxOutEntries {
		c.leave("…", fmt.Sprintf("only the first %d entries are looked at", maxOutEntries))
		return errEnough
	}
	switch {
	case mode.IsDir():
	case !mode.IsRegular():
		c.leave(name, "it is no regular file")
	case !plainName(name):
		c.leave(name, "its name is not plain text")
	case len(c.files.Taken) == MaxOutFiles:
		c.leave(name, fmt.Sprintf("at most %d files are taken", MaxOutFiles))
	case c.bytes+size > MaxOutBytes:
		c.leave(name, fmt.Sprintf("at most %s are taken", Bytes(MaxOutBytes)))
	default:
		c.take(name, open)
	}
	return nil
}

func (c *collector) take(name string, open func() (io.ReadCloser, error)) {
	file, err := open()
	if err != nil {
		c.leave(name, err.Error())
		return
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, MaxOutBytes-c.bytes+1))
	switch {
	case err != nil:
		c.leave(name, err.Error())
	case int64(len(data)) > MaxOutBytes-c.bytes:
		c.leave(name, fmt.Sprintf("at most %s are taken", Bytes(MaxOutBytes)))
	default:
		c.bytes += int64(len(data))
		c.files.Taken = append(c.files.Taken, File{name, data})
	}
}

// plainName reports whether a path can be shown and used as it is.
func plainName(name string) bool {
	return len(name) <= maxOutName && fs.ValidPath(name) && utf8.ValidString(name) &&
		!strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f || r == '\\' })
}

// CollectFS takes the files of fsys, which must open regular files only: no
// symbolic link is followed out of it, and nothing blocks.
func CollectFS(fsys fs.FS) Files {
	c := &collector{}
	_ = fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			c.leave(name, err.Error())
			if c.seen++; c.seen > maxOutEntries {
				return errEnough
			}
			return nil
		}
		if name == "." {
			return nil
		}
		info, err := d.Info()
		if err != nil {
			c.leave(name, err.Error())
			return nil
		}
		return c.add(name, info.Mode(), info.Size(), func() (io.ReadCloser, error) { return fsys.Open(name) })
	})
	return c.files
}

// CollectTar takes the files of a tar stream below the folder root, which is left out of
// the names. The error is about the stream; files that were taken before it are returned
// with it.
func CollectTar(stream io.Reader, root string) (Files, error) {
	c := &collector{}
	archive := tar.NewReader(stream)
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return c.files, nil
		}
		if err != nil {
			return c.files, err
		}
		name := strings.TrimPrefix(path.Clean(strings.TrimPrefix(header.Name, "/")), root+"/")
		if name == root || name == "." {
			continue
		}
		mode := header.FileInfo().Mode()
		if header.Typeflag == tar.TypeLink { // a second name, without content
			mode |= fs.ModeIrregular
		}
		err = c.add(name, mode, header.Size, func() (io.ReadCloser, error) { return io.NopCloser(archive), nil })
		if errors.Is(err, errEnough) {
			return c.files, nil
		}
	}
}
