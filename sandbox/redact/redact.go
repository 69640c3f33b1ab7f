// Package redact replaces secret values in texts and streams, in each spelling in which
// they commonly travel: as they are, in base64 and hexadecimal, escaped for a URL, and
// escaped for JSON.
//
// A [Replacer] of values that are replaced by texts of their length and alphabet keeps the
// length of what passes. It finds a value over the borders of chunks, and holds back only
// the bytes that a value may begin with.
package redact

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/url"
	"slices"
	"strings"
	"sync"
)

// MinLength is the length in bytes below which a value is not replaced: it would be found
// in texts that have nothing to do with it.
const MinLength = 8

// A Replacer replaces values. The nil Replacer replaces nothing. It may be used
// concurrently.
type Replacer struct {
	starts  [256][]pattern // by the first byte, longest first
	longest int
}

// A pattern is one spelling of a value.
type pattern struct{ from, to []byte }

// New returns a Replacer of each key of values by its text. A text of the value's length
// stands in the value's spelling, any other as it is. New returns nil where no value has
// [MinLength] bytes.
func New(values map[string]string) *Replacer {
	r := &Replacer{}
	seen := map[string]bool{}
	for value, text := range values {
		if len(value) < MinLength {
			continue
		}
		to := spellings(text)
		for i, from := range spellings(value) {
			if seen[from] {
				continue
			}
			seen[from] = true
			spelled := text
			if len(text) == len(value) {
				spelled = to[i]
			}
			r.starts[from[0]] = append(r.starts[from[0]], pattern{[]byte(from), []byte(spelled)})
			r.longest = max(r.longest, len(from))
		}
	}
	if r.longest == 0 {
		return nil
	}
	for _, patterns := range r.starts {
		slices.SortFunc(patterns, func(a, b pattern) int { return len(b.from) - len(a.from) })
	}
	return r
}

// spellings returns a text in each spelling, always in one order.
func spellings(text string) []string {
	quoted, _ := json.Marshal(text) // a string has a spelling
	query := url.QueryEscape(text)
	all := []string{
		text, string(quoted[1 : len(quoted)-1]),
		query, url.PathEscape(text), strings.ReplaceAll(query, "+", "%20"), lowerEscapes(query),
		hex.EncodeToString([]byte(text)), strings.ToUpper(hex.EncodeToString([]byte(text))),
	}
	// In base64 a text has three spellings, by where it begins in a group of three bytes. The
	// digits at its ends also have bits of its neighbours, and are left out.
	for before := range 3 {
		padded := append(make([]byte, before), text...)
		first, last := (before*8+5)/6, len(padded)*8/6
		all = append(all,
			base64.RawStdEncoding.EncodeToString(padded)[first:last],
			base64.RawURLEncoding.EncodeToString(padded)[first:last])
	}
	return all
}

// lowerEscapes writes the digits of a URL's escapes in lower case.
func lowerEscapes(text string) string {
	b := []byte(text)
	for i := 0; i+2 < len(b); i++ {
		if b[i] == '%' {
			copy(b[i+1:i+3], bytes.ToLower(b[i+1:i+3]))
		}
	}
	return string(b)
}

// String returns s with every value replaced.
func (r *Replacer) String(s string) string {
	if r == nil || !r.contains(s) {
		return s
	}
	done, _ := r.replace(nil, []byte(s), true)
	return string(done)
}

// contains reports whether s has a value.
func (r *Replacer) contains(s string) bool {
	for i := range len(s) {
		for _, p := range r.starts[s[i]] {
			if strings.HasPrefix(s[i:], string(p.from)) {
				return true
			}
		}
	}
	return false
}

// replace appends in, with every value replaced, to out. It returns how much of in it has
// used: unless it is the last, the rest may be the beginning of a value.
func (r *Replacer) replace(out, in []byte, last bool) ([]byte, int) {
	kept := 0 // in[kept:i] is to be copied
	for i := 0; i < len(in); {
		at := in[i:]
		match := -1
		for k, p := range r.starts[at[0]] {
			if bytes.HasPrefix(at, p.from) {
				match = k
				break
			}
			if !last && len(at) < len(p.from) && bytes.HasPrefix(p.from, at) {
				return append(out, in[kept:i]...), i
			}
		}
		if match < 0 {
			i++
			continue
		}
		p := r.starts[at[0]][match]
		out = append(append(out, in[kept:i]...), p.to...)
		i += len(p.from)
		kept = i
	}
	return append(out, in[kept:]...), len(in)
}

// Writer returns a writer that writes to w what it is written, with every value replaced.
// Close writes the bytes that were held back; it does not close w.
func (r *Replacer) Writer(w io.Writer) io.WriteCloser {
	return &writer{r: r, to: w}
}

type writer struct {
	mu        sync.Mutex // a sandbox may still write when it is closed
	r         *Replacer
	to        io.Writer
	held, out []byte
}

func (w *writer) Write(p []byte) (int, error) {
	if w.r == nil {
		return w.to.Write(p)
	}
	if err := w.flush(p, false); err != nil {
		return 0, err
	}
	return len(p), nil
}

func (w *writer) Close() error {
	if w.r == nil {
		return nil
	}
	return w.flush(nil, true)
}

func (w *writer) flush(p []byte, last bool) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	in := p
	if len(w.held) > 0 {
		w.held = append(w.held, p...)
		in = w.held
	}
	var used int
	w.out, used = w.r.replace(w.out[:0], in, last)
	w.held = append(w.held[:0], in[used:]...)
	if len(w.out) == 0 {
		return nil
	}
	_, err := w.to.Write(w.out)
	return err
}

// Reader returns a reader of what from has, with every value replaced.
func (r *Replacer) Reader(from io.Reader) io.Reader {
	if r == nil {
		return from
	}
	return &reader{r: r, from: from, in: make([]byte, 32<<10)}
}

type reader struct {
	r    *Replacer
	from io.Reader
	in   []byte
	held int    // bytes of in that may begin a value
	out  []byte // that Read has not returned
	room []byte // of out
	err  error  // of from
}

func (r *reader) Read(p []byte) (int, error) {
	for len(r.out) == 0 {
		if r.err != nil {
			return 0, r.err
		}
		if r.held+r.r.longest > len(r.in) {
			r.in = append(r.in, make([]byte, len(r.in))...)
		}
		n, err := r.from.Read(r.in[r.held:])
		r.err = err
		all := r.in[:r.held+n]
		var used int
		r.room, used = r.r.replace(r.room[:0], all, err != nil)
		r.out = r.room
		r.held = copy(r.in, all[used:])
	}
	n := copy(p, r.out)
	r.out = r.out[n:]
	return n, nil
}
