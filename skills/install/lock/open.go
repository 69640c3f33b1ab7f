package lock

import (
	"context"
	"errors"
	"io/fs"
)

var errLater = errors.New("not written yet")

// A Lock is a lock file that no other process changes. It is for one goroutine.
type Lock struct {
	// File is the content. The holder changes it and calls Write.
	File *File
}

// Open reads the lock file in the host folder dir, and waits until no other process has
// it open. The state folder, slash-separated in dir, has the file that processes wait for;
// Open creates it. No link out of dir is followed. The caller closes the lock.
func Open(ctx context.Context, dir, state string) (*Lock, error) { return nil, errLater }

// Write replaces the file, and returns when the disk has it.
func (l *Lock) Write() error { return errLater }

// Close lets other processes open the lock.
func (l *Lock) Close() error { return nil }

// Read returns the content of the lock file in the host folder dir, without waiting for
// others. A folder without the file has no entries.
func Read(dir string) (*File, error) { return nil, errLater }

// Decode returns the content of a lock file. The error says what to do.
func Decode(data []byte) (*File, error) { return nil, errLater }

// Encode returns the file as JSON: the same bytes for the same content, and a line for
// each file of an entry, so that version control can merge it.
func (f *File) Encode() ([]byte, error) { return nil, errLater }

// Files returns the state of each file and link of a folder, for [State.Files]. It leaves
// out .git. The error is one of reading, or of a device or pipe.
func Files(ctx context.Context, folder fs.FS) (map[string]FileState, error) { return nil, errLater }
