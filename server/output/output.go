// Package output caches the outputs of runs in memory, so that a client can read those
// that were too large for a result. Start with [New].
package output

import (
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/skillsmcp/skills-mcp/server/identity"
)

// limits bound a [Store].
type limits struct {
	bytes int64         // of all items
	count int           // items
	age   time.Duration // of an item
}

// A Store is a cache of items that evicts the oldest. It may be used concurrently.
type Store struct {
	limits limits

	mu      sync.Mutex // guards the fields below
	entries []entry    // oldest first; few enough to be searched one by one
	bytes   int64
}

type entry struct {
	owner identity.Key // nobody else finds it
	uri   string
	Item
	put time.Time
}

// An Item is one output. Its data must not be changed.
type Item struct {
	MIMEType string
	Data     []byte
}

// New returns an empty store, of at most 512 items and 64 MiB, each for 30 minutes.
func New() *Store {
	return &Store{limits: limits{bytes: 64 << 20, count: 512, age: 30 * time.Minute}}
}

// URI names a piece of a run: "stdout", "stderr", or "out/" and the path of a
// file.
func URI(runID, piece string) string {
	names := strings.Split(piece, "/")
	for i, name := range names {
		names[i] = url.PathEscape(name)
	}
	return prefix() + runID + "/" + strings.Join(names, "/")
}

// Template is the URI template of all items (RFC 6570).
const Template = "skills-mcp://runs/{run_id}/{+piece}"

// A Page is a part of an item.
type Page struct {
	Data []byte
	From int
	Next int // where the next page begins; 0 where there is none
}

// Page returns at most size bytes from an offset. A character of UTF-8 is not
// divided between two pages.
func (i Item) Page(offset, size int) Page {
	from := min(offset, len(i.Data))
	end := min(from+size, len(i.Data))
	for back := end; end < len(i.Data) && back > max(from, end-utf8.UTFMax); back-- {
		if utf8.RuneStart(i.Data[back]) {
			end = back
			break
		}
	}
	p := Page{Data: i.Data[from:end], From: from}
	if end < len(i.Data) {
		p.Next = end
	}
	return p
}

// Scheme is the scheme of all URIs, and of no others.
const Scheme = "skills-mcp:"

// prefix returns the common beginning of all URIs.
func prefix() string { return Template[:strings.Index(Template, "{")] }

// canonical returns a URI in the same escaping as all equal ones.
func canonical(uri string) string {
	if plain, err := url.PathUnescape(uri); err == nil {
		return plain
	}
	return uri
}

// Put stores an item for its owner, and evicts the oldest if there is no room. It reports
// false for an item that is larger than the store.
func (s *Store) Put(owner identity.Key, uri string, item Item) bool {
	if int64(len(item.Data)) > s.limits.bytes {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := entry{owner, canonical(uri), item, time.Now()}
	s.remove(func(e *entry) bool { return e.owner == now.owner && e.uri == now.uri })
	s.entries = append(s.entries, now)
	s.bytes += int64(len(item.Data))
	left, bytes := len(s.entries), s.bytes
	s.remove(func(e *entry) bool {
		if left <= s.limits.count && bytes <= s.limits.bytes {
			return false
		}
		left, bytes = left-1, bytes-int64(len(e.Data))
		return true
	})
	s.expire()
	return true
}

// Get returns an owner's item. ok is false if it has expired or was never stored.
func (s *Store) Get(owner identity.Key, uri string) (item Item, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expire()
	uri = canonical(uri)
	at := slices.IndexFunc(s.entries, func(e entry) bool { return e.owner == owner && e.uri == uri })
	if at < 0 {
		return Item{}, false
	}
	return s.entries[at].Item, true
}

// Forget removes an owner's items.
func (s *Store) Forget(owner identity.Key) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.remove(func(e *entry) bool { return e.owner == owner })
}

// expire removes items that are too old.
func (s *Store) expire() {
	s.remove(func(e *entry) bool { return time.Since(e.put) >= s.limits.age })
}

// remove removes the items that which chooses, asked oldest first.
func (s *Store) remove(which func(*entry) bool) {
	s.entries = slices.DeleteFunc(s.entries, func(e entry) bool {
		gone := which(&e)
		if gone {
			s.bytes -= int64(len(e.Data))
		}
		return gone
	})
}
