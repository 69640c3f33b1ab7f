// Package output keeps what runs left, in memory and for a while, so that a
// client can read what was too much for a result. Start with [New].
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
	Bytes int64         // of all that is kept; 64 MiB
	Count int           // pieces; 512
	Age   time.Duration // how long one is kept at the most; 30 minutes
}

// A Store keeps the newest of what it is given. It may be used concurrently.
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

// An Item is what is kept. Its data is not to be changed.
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

// Template is the form of all URIs, as RFC 6570 writes it.
const Template = "skills-mcp://runs/{run_id}/{+piece}{?offset}"

// AtOffset is the URI of the page of a piece that begins at a byte.
func AtOffset(uri string, offset int) string { return fmt.Sprintf("%s?offset=%d", uri, offset) }

// Split takes the offset of a page from a URI. paged is false for that of a
// whole piece.
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

// Scheme is what all URIs begin with, and no others.
const Scheme = "skills-mcp:"

// prefix is what all URIs begin with.
func prefix() string { return Template[:strings.Index(Template, "{")] }

// canonical is one of the ways in which a URI may be escaped.
func canonical(uri string) string {
	if plain, err := url.PathUnescape(uri); err == nil {
		return plain
	}
	return uri
}

// Put keeps an item for its owner, in place of the oldest where there is no more
// room. It reports false for one that is larger than all the room.
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

// Get returns an owner's item, while it is kept.
func (s *Store) Get(owner identity.Key, uri string) (Item, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expire()
	element, ok := s.items[key{owner, canonical(uri)}]
	if !ok {
		return Item{}, false
	}
	return element.Value.(*entry).Item, true
}

// A Piece is what is kept of a run: see [URI].
type Piece struct{ Run, Name string }

// Pieces returns what is kept for its owner, in no order.
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

// Forget drops what is kept for an owner.
func (s *Store) Forget(owner identity.Key) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for k, element := range s.items {
		if k.owner == owner {
			s.remove(element)
		}
	}
}

// expire drops what is too old.
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
