package store

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// The longest times for which a number counts whose stamp is the same.
const (
	// A decision whose process ended before it wrote the stamp is noticed after it.
	generationAge = time.Second
	// A decision on another machine writes no stamp here. A call asks seven times, so it
	// has one query in place of seven.
	sharedAge = 25 * time.Millisecond
)

// A generationCache holds the generation of an open file while the stamp is the same: two
// calls of stat take the place of a query, which took 0.08 ms on a busy machine, several
// times in each call.
type generationCache struct {
	mu    sync.Mutex
	n     int64
	stamp fs.FileInfo // nil: there was none
	until time.Time
}

// get returns the number, which it reads anew if the stamp has changed.
func (c *generationCache) get(stamp string, age time.Duration, read func() (int64, error)) (int64, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	info, _ := os.Stat(stamp) // before the number: a change that comes between is noticed the next time
	if now.Before(c.until) && sameStamp(info, c.stamp) {
		return c.n, nil
	}
	n, err := read()
	if err == nil {
		c.n, c.stamp, c.until = n, info, now.Add(age)
	}
	return n, err
}

// sameStamp reports whether a stamp was not written since; nil is none.
func sameStamp(a, b fs.FileInfo) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return a.Size() == b.Size() && a.ModTime().Equal(b.ModTime()) && os.SameFile(a, b)
}

// writeStamp changes a stamp. Times of files may be as coarse as 4 ms, so its size tells
// two changes apart.
func writeStamp(file string) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	return os.WriteFile(file, []byte(strings.Repeat(".", 1+int(time.Now().UnixNano()/100%4093))), 0o600)
}
