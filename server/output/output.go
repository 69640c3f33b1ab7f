// Package output caches the outputs of runs, so that a client can read those that were too
// large for a result. Start with [New].
package output

import (
	"net/url"
	"os"
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
	size int      // of the data
	file *os.File // has the data of a large item; else nil
	put  time.Time
}

// leastFile is the size of items that are kept in a file: 64 MB of outputs would stay in
// memory for half an hour.
const leastFile = 64 << 10

// newEntry returns an entry of now. Where there is no room for a file, or a file without a
// name is not possible, the data stays in memory.
func newEntry(owner identity.Key, uri string, item Item) entry {
	e := entry{owner: owner, uri: canonical(uri), Item: item, size: len(item.Data), put: time.Now()}
	if e.size < leastFile {
		return e
	}
	file, err := os.CreateTemp("", "skills-mcp-output-*")
	if err != nil {
		return e
	}
	if err = os.Remove(file.Name()); err == nil {
		_, err = file.Write(item.Data)
	}
	if err == nil {
		e.file, e.Data = file, nil
		return e
	}
	_ = file.Close()
	_ = os.Remove(file.Name())
	return e
}

// item returns the item with its data.
func (e *entry) item() (Item, error) {
	if e.file == nil {
		return e.Item, nil
	}
	data := make([]byte, e.size)
	_, err := e.file.ReadAt(data, 0)
	return Item{e.MIMEType, data}, err
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
	now := newEntry(owner, uri, item)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.remove(func(e *entry) bool { return e.owner == now.owner && e.uri == now.uri })
	s.entries = append(s.entries, now)
	s.bytes += int64(now.size)
	left, bytes := len(s.entries), s.bytes
	s.remove(func(e *entry) bool {
		if left <= s.limits.count && bytes <= s.limits.bytes {
			return false
		}
		left, bytes = left-1, bytes-int64(e.size)
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
	item, err := s.entries[at].item()
	return item, err == nil
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
			s.bytes -= int64(e.size)
			if e.file != nil {
				_ = e.file.Close()
			}
		}
		return gone
	})
}
