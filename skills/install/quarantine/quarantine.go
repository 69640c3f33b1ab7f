// Package quarantine holds the files of a stranger before anybody has decided about
// them: below one private folder, bounded in number and size, with names and links that
// no file system takes for others.
//
// Start with [New]; write with [Folder.Create], [Folder.Link] and [Folder.Unpack]; end
// with [Folder.Seal].
package quarantine

import (
	"context"
	"errors"
	"io"
	"os"
)

// Limits bound a quarantine. Zero values are the defaults.
type Limits struct {
	Files int   // files, folders and links; 20,000
	File  int64 // bytes of one file; 64 MiB
	Total int64 // bytes of all files; 256 MiB
	Depth int   // folders in each other; 32
}

// An Error is the reason why a file is not accepted.
type Error struct {
	Name    string // as the source has it; print it with codes for invisible characters
	Message string
	Remedy  string // an imperative
}

// Error implements error.
func (e *Error) Error() string { return "" }

// A Folder is a quarantine. Its methods are called by one goroutine at a time.
type Folder struct {
	dir  string
	root *os.Root // closed by Close
}

var errLater = errors.New("not written yet")

// New makes an empty quarantine below parent, an absolute host path, which it creates.
// Only this user may enter it. Nil limits are the defaults.
func New(parent string, limits *Limits) (*Folder, error) { return nil, errLater }

// Path returns the absolute host path of the folder.
func (f *Folder) Path() string { return f.dir }

// Create writes a regular file. name is slash-separated and relative. The mode becomes
// 0644, or 0755 if executable. The error is an [*Error] for a name or size that is not
// accepted, and then the file does not exist.
func (f *Folder) Create(name string, executable bool, content io.Reader) error { return errLater }

// Link notes a symbolic link, whose target is relative to its folder. Links are made
// by Seal, so that no file is written through one.
func (f *Folder) Link(name, target string) error { return errLater }

// Unpack writes the files of a ZIP or tar.gz file below the folder into, by its first
// bytes. The error is an [*Error] where the archive is at fault.
func (f *Folder) Unpack(ctx context.Context, archive io.ReaderAt, size int64, into string) error {
	return errLater
}

// Copy copies a host folder into the quarantine. It leaves out .git, and does not
// follow links out of the folder.
func (f *Folder) Copy(ctx context.Context, dir string) error { return errLater }

// Seal makes the links, and returns an [*Error] if one leads out of the quarantine, to
// nothing, or in a circle. Nothing is written after it.
func (f *Folder) Seal() error { return errLater }

// Close removes the quarantine with all that is in it.
func (f *Folder) Close() error { return errLater }
