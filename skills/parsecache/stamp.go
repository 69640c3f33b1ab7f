package parsecache

import (
	"io/fs"
	"time"
)

// A stamp tells a file from what it was before, as far as the system tells. The
// zero stamp is that of nothing.
type stamp struct {
	dev, ino, size, mode uint64
	changed, modified    int64 // ns since 1970; changed is 0 where the system does not tell
}

// settledFor is how long ago a file must have changed last for its stamp to tell
// it from what it becomes. Within one tick of a file system's clock, which is up
// to 2 s, two changes have the same time.
const settledFor = 2 * time.Second

// settled reports whether a change after now will change the stamp.
func (s stamp) settled(now time.Time) bool {
	return max(s.changed, s.modified) < now.Add(-settledFor).UnixNano()
}

// portable is what every system tells.
func portable(info fs.FileInfo) stamp {
	return stamp{size: uint64(info.Size()), mode: uint64(info.Mode()), modified: info.ModTime().UnixNano()}
}

func appendStamp(b []byte, s stamp) []byte {
	for _, n := range []uint64{s.dev, s.ino, s.size, s.mode, uint64(s.changed), uint64(s.modified)} {
		b = appendUint(b, n)
	}
	return b
}

func (r *reader) stamp() stamp {
	return stamp{r.uint(), r.uint(), r.uint(), r.uint(), int64(r.uint()), int64(r.uint())}
}
