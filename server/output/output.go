// Package output caches the outputs of runs in memory, so that a client can read those
// that were too large for a result. Start with [New].
package output

import (
	"container/list"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/skillsmcp/skills-mcp/server/identity"
)

// Options bound a [Store]. A zero field means its default.
type Options struct {
	Bytes int64         // of all items; 64 MiB
	Count int           // items; 512
	Age   time.Duration // of an item; 30 minutes
}

// A Store is a cache of items that evicts the oldest. It may be used concurrently.
type Store struct {
	options Options

	mu    sync.Mutex
	items map[key]*list.Element
	order *list.List // of *entry, oldest first
	bytes int64
}

// A key finds an item: nobody finds another principal's.
type key struct {
	owner identity.Key
	uri   string
}

type entry struct {
	key
	Item
	put time.Time
}

// An Item is one output. Its data must not be changed.
type Item struct {
	MIMEType string
	Data     []byte
}

// New returns an empty store. Options may be nil.
func New(options *Options) *Store {
	s := &Store{items: map[key]*list.Element{}, order: list.New()}
	if options != nil {
		s.options = *options
	}
	if s.options.Bytes == 0 {
		s.options.Bytes = 64 << 20
	}
	if s.options.Count == 0 {
		s.options.Count = 512
	}
	if s.options.Age == 0 {
		s.options.Age = 30 * time.Minute
	}
	return s
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
const Template = "skills-mcp://runs/{run_id}/{+piece}{?offset}"

// AtOffset returns the URI of the page that begins at a byte.
func AtOffset(uri string, offset int) string { return fmt.Sprintf("%s?offset=%d", uri, offset) }

// Split returns a URI's item and the offset of its page. paged is false for a URI of a
// whole item.
func Split(uri string) (piece string, offset int, paged bool, err error) {
	piece, query, paged := strings.Cut(uri, "?")
	if !paged {
		return piece, 0, false, nil
	}
	text, ok := strings.CutPrefix(query, "offset=")
	offset, err = strconv.Atoi(text)
	if !ok || err != nil || offset < 0 {
		return piece, 0, true, fmt.Errorf("%q is not offset=N, where N is a number of bytes", query)
	}
	return piece, offset, true, nil
}

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
	if int64(len(item.Data)) > s.options.Bytes {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	k := key{owner, canonical(uri)}
	s.remove(s.items[k])
	s.items[k] = s.order.PushBack(&entry{k, item, time.Now()})
	s.bytes += int64(len(item.Data))
	for s.bytes > s.options.Bytes || s.order.Len() > s.options.Count {
		s.remove(s.order.Front())
	}
	s.expire()
	return true
}

// Get returns an owner's item. ok is false if it has expired or was never stored.
func (s *Store) Get(owner identity.Key, uri string) (item Item, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expire()
	element, ok := s.items[key{owner, canonical(uri)}]
	if !ok {
		return Item{}, false
	}
	return element.Value.(*entry).Item, true
}

// A Piece names an item of a run: see [URI].
type Piece struct{ Run, Name string }

// Pieces returns the names of an owner's items, in no order.
func (s *Store) Pieces(owner identity.Key) []Piece {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expire()
	var all []Piece
	for k := range s.items {
		if k.owner != owner {
			continue
		}
		run, name, _ := strings.Cut(strings.TrimPrefix(k.uri, prefix()), "/")
		all = append(all, Piece{run, name})
	}
	return all
}

// Forget removes an owner's items.
func (s *Store) Forget(owner identity.Key) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for k, element := range s.items {
		if k.owner == owner {
			s.remove(element)
		}
	}
}

// expire removes items that are too old.
func (s *Store) expire() {
	for first := s.order.Front(); first != nil && time.Since(first.Value.(*entry).put) >= s.options.Age; first = s.order.Front() {
		s.remove(first)
	}
}

func (s *Store) remove(element *list.Element) {
	if element == nil {
		return
	}
	e := element.Value.(*entry)
	s.order.Remove(element)
	delete(s.items, e.key)
	s.bytes -= int64(len(e.Data))
}
