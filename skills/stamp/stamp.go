// Package stamp detects changes of a host file without reading it, by its inode,
// size, mode and times.
//
// Start with [Of].
package stamp

import (
	"io/fs"
	"time"
)

// A Stamp identifies one state of a file, as precisely as the system allows. The
// zero value stands for no file.
type Stamp struct {
	Dev, Ino, Size, Mode uint64
	Changed, Modified    int64 // ns since 1970; Changed is 0 if the system has no such time
}

// settledFor is the age from which a last change is certain to differ in time from
// the next. Within one tick of a file system's clock, which is up to 2 s, two
// changes have the same time.
const settledFor = 2 * time.Second

// Settled reports whether a change after now will change the stamp.
func (s Stamp) Settled(now time.Time) bool {
	return max(s.Changed, s.Modified) < now.Add(-settledFor).UnixNano()
}

// Certain reports whether a file that still has this stamp after now is certain to be
// unchanged: the system has a time of the last change, which nobody can set, and the
// stamp is settled.
func (s Stamp) Certain(now time.Time) bool { return s.Changed != 0 && s.Settled(now) }

// portable returns a stamp of the values that every system has.
func portable(info fs.FileInfo) Stamp {
	return Stamp{Size: uint64(info.Size()), Mode: uint64(info.Mode()), Modified: info.ModTime().UnixNano()}
}
