package cache

import (
	"io/fs"
	"sync/atomic"
	"time"

	"github.com/skillsmcp/skills-mcp/skills/scan"
	"github.com/skillsmcp/skills-mcp/skills/stamp"
)

// An entry is one skill or folder of the cache. Its strings are parts of the file's
// text.
type entry struct {
	looks string // the encoded looks
	value string // the encoded skill or folder
	text  *text  // long instructions; nil if they are part of the value
	used  atomic.Bool
}

func (c *codec) stamp(s stamp.Stamp) stamp.Stamp {
	return stamp.Stamp{
		Dev: c.uint(s.Dev), Ino: c.uint(s.Ino), Size: c.uint(s.Size), Mode: c.uint(s.Mode),
		Changed: int64(c.uint(uint64(s.Changed))), Modified: int64(c.uint(uint64(s.Modified))),
	}
}

// encodeLooks returns looks as text, and reports whether all of them had settled
// before now.
func encodeLooks(looks []scan.Look, now time.Time) (text string, settled bool) {
	c := codec{}
	c.uint(uint64(len(looks)))
	for _, l := range looks {
		var s stamp.Stamp
		if l.Info != nil {
			s = stamp.Of(l.Info)
		}
		if !s.Settled(now) {
			return "", false
		}
		c.string(l.Path)
		c.stamp(s)
	}
	return string(c.written), true
}

// current reports whether no look of the entry has changed.
func (e *entry) current() bool {
	c := codec{reading: true, unread: e.looks}
	for range c.uint(0) {
		path, was := c.string(""), c.stamp(stamp.Stamp{})
		if c.err != nil {
			return false
		}
		if is, err := stamp.Look(path); err != nil && !missing(err) || is != was {
			return false
		}
	}
	return c.err == nil
}

// folder writes or reads the names and types of a folder's entries.
func (c *codec) folder(entries []fs.DirEntry) []fs.DirEntry {
	n := c.length(len(entries))
	if !c.reading {
		for _, e := range entries {
			c.string(e.Name())
			c.uint(uint64(e.Type()))
		}
		return entries
	}
	n = max(0, n)
	entries, all := make([]fs.DirEntry, n), make([]scan.Entry, n)
	for i := 0; i < n && c.err == nil; i++ {
		all[i] = scan.NewEntry(c.string(""), fs.FileMode(c.uint(0)))
		entries[i] = &all[i]
	}
	return entries
}
