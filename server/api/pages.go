package api

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"slices"

	"github.com/skillsmcp/skills-mcp/server/run"
)

// A listing selects a page of a list.
type listing struct {
	of     any    // the list: what selects its items
	cursor string // of the page before; "" is the first page
	most   int    // items of a page
}

// limit returns the number of items of a page: that of a query, within bounds.
func limit(asked, usual, most int) int {
	if asked <= 0 {
		return usual
	}
	return min(asked, most)
}

// A position is the content of a cursor: the page begins after the item with this number
// and name.
type position struct {
	Of   []byte `json:"of"` // a digest of the list
	At   int    `json:"at"`
	Name string `json:"name"`
}

// digest identifies the list.
func (l listing) digest() []byte {
	text, _ := json.Marshal(l.of) // strings can be encoded
	sum := sha256.Sum256(text)
	return sum[:8]
}

// pageOf returns a page of items, whose names differ, and the cursor of the next one. Where
// items have come or gone since the page before, the page begins after its last item, or if
// that is gone, at its number.
func pageOf[T any](l listing, items []T, name func(T) string) (page []T, next string, err error) {
	from := 0
	if l.cursor != "" {
		var p position
		text, err := base64.RawURLEncoding.DecodeString(l.cursor)
		if err != nil || json.Unmarshal(text, &p) != nil || !slices.Equal(p.Of, l.digest()) || p.At < 1 {
			return nil, "", &run.Error{Code: run.InvalidParam, Message: `"cursor" is none of this list's; repeat the query as it was, or leave it out to begin`}
		}
		from = p.after(len(items), func(i int) string { return name(items[i]) })
	}
	end := min(from+l.most, len(items))
	if end < len(items) {
		text, _ := json.Marshal(position{l.digest(), end, name(items[end-1])}) // likewise
		next = base64.RawURLEncoding.EncodeToString(text)
	}
	return items[from:end], next, nil
}

// after returns the number of the items before the page, of n in all.
func (p *position) after(n int, name func(int) string) int {
	if p.At <= n && name(p.At-1) == p.Name {
		return p.At
	}
	for i := range n {
		if name(i) == p.Name {
			return i + 1
		}
	}
	return min(p.At-1, n)
}
