// Package stamp tells whether a file of the host is as it was, without reading
// it. Start with [Of].
package stamp

import (
	"io/fs"
	"time"
)

// A Stamp tells a file from what it was before, as far as the system tells. The
// zero stamp is that of nothing.
type Stamp struct {
	Dev, Ino, Size, Mode uint64
	Changed, Modified    int64 // ns since 1970; Changed is 0 where the system does not tell
}

// settledFor is how long ago a file must have changed last for its stamp to tell
// it from what it becomes. Within one tick of a file system's clock, which is up
// to 2 s, two changes have the same time.
const settledFor = 2 * time.Second

// Settled reports whether a change after now will change the stamp.
func (s Stamp) Settled(now time.Time) bool {
	return max(s.Changed, s.Modified) < now.Add(-settledFor).UnixNano()
}

// portable is what every system tells.
func portable(info fs.FileInfo) Stamp {
	return Stamp{Size: uint64(info.Size()), Mode: uint64(info.Mode()), Modified: info.ModTime().UnixNano()}
}
