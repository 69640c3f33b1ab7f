// Package redact replaces secret values in texts and streams, in each spelling in which
// they commonly travel: as they are, in base64 and hexadecimal, escaped for a URL, for JSON
// and for HTML.
//
// A [Replacer] of values that are replaced by texts of their length and alphabet keeps the
// length of what passes. It finds a value over the borders of chunks, and holds back the end
// of one that a value of such characters may begin with.
package redact

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"html"
	"io"
	"maps"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
)

// MinLength is the length in bytes below which a value is not replaced: it would be found
// in texts that have nothing to do with it.
const MinLength = 8

// A Replacer replaces values. The nil Replacer replaces nothing. It may be used
// concurrently.
type Replacer struct {
	starts  [256][]pattern // by the first byte, longest first
	within  [256]bool      // the characters of values, and all letters and digits
	longest int
}

// A pattern is one spelling of a value.
type pattern struct{ from, to []byte }

// New returns a Replacer of each key of values by its text. A text of the value's length
// stands in the value's spelling, any other as it is. New returns nil where no value has
// [MinLength] bytes.
func New(values map[string]string) *Replacer {
	found := map[string]string{} // texts by spellings
	for value, text := range values {
		if len(value) < MinLength {
			continue
		}
		to := Spellings(text)
		for i, from := range Spellings(value) {
			if _, seen := found[from]; seen {
				continue
			}
			found[from] = text
			if len(text) == len(value) {
				found[from] = to[i]
			}
		}
	}
	if len(found) == 0 {
		return nil
	}
	r := &Replacer{}
	for _, c := range []byte("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz+/-_") {
		r.within[c] = true
	}
	for _, from := range slices.SortedFunc(maps.Keys(found), func(a, b string) int { return len(b) - len(a) }) {
		for _, c := range []byte(from + found[from]) {
			r.within[c] = true
		}
		r.starts[from[0]] = append(r.starts[from[0]], pattern{[]byte(from), []byte(found[from])})
		r.longest = max(r.longest, len(from))
	}
	return r
}

// Spellings returns a text in each spelling, itself first, always in one order.
func Spellings(text string) []string {
	quoted, _ := json.Marshal(text) // a string has a spelling
	json := strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text)
	query := url.QueryEscape(text)
	all := []string{
		text, string(quoted[1 : len(quoted)-1]),
		query, url.PathEscape(text), strings.ReplaceAll(query, "+", "%20"), lowerEscapes(query),
		strings.ReplaceAll(strings.ReplaceAll(query, "+", "%20"), "%2F", "/"), // Python's quote
		json, strings.ReplaceAll(json, "/", `\/`), // others' JSON, and PHP's
		strings.ReplaceAll(html.EscapeString(text), "+", "&#43;"), // Go's html/template
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
	if r == nil {
		return s
	}
	replaced, _ := r.replace(nil, []byte(s), len(s))
	return string(replaced)
}

// replace appends in, with every value that begins before in[end] replaced, to out. It
// returns how much of in it has used.
func (r *Replacer) replace(out, in []byte, end int) ([]byte, int) {
	kept := 0 // in[kept:i] is to be copied
	i := 0
	for i < end {
		at := in[i:]
		patterns := r.starts[at[0]]
		match := slices.IndexFunc(patterns, func(p pattern) bool { return bytes.HasPrefix(at, p.from) })
		if match < 0 {
			i++
			continue
		}
		p := patterns[match]
		out = append(append(out, in[kept:i]...), p.to...)
		i += len(p.from)
		kept = i
	}
	return append(out, in[kept:i]...), i
}

// settled returns where the end of in begins that may be the beginning of a value, by its
// characters and its length alone.
func (r *Replacer) settled(in []byte) int {
	i := len(in)
	for i > 0 && len(in)-i < r.longest-1 && r.within[in[i-1]] {
		i--
	}
	return i
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
	w.held = append(w.held, p...)
	used := len(w.held)
	if !last {
		used = w.r.settled(w.held)
	}
	w.out, used = w.r.replace(w.out[:0], w.held, used)
	w.held = w.held[:copy(w.held, w.held[used:])]
	if len(w.out) == 0 {
		return nil
	}
	_, err := w.to.Write(w.out)
	return err
}

// flushDelay is the time that a reader waits for the rest of what may be a value: longer than the
// packets of one message are apart.
const flushDelay = 500 * time.Millisecond

// Reader returns a reader of what from has, with every value replaced. It closes from, and
// reads nothing of it before it is read itself: a request that is refused has a body that
// nobody reads or closes.
//
// Which bytes wait for others depends on no value: who sees them wait, and can have a host
// send texts of his choice, would find a value out character by character.
func (r *Replacer) Reader(from io.ReadCloser) io.ReadCloser {
	if r == nil {
		return from
	}
	return &reader{r: r, from: from, reads: make(chan []byte), closed: make(chan struct{})}
}

type reader struct {
	r      *Replacer
	from   io.ReadCloser
	reads  chan []byte // of from; closed by fetch
	err    error       // of from, when reads is closed
	begun  sync.Once   // by Read with fetch, or by Close without
	once   sync.Once
	closed chan struct{} // by Close, which waits for fetch
	in     []byte        // not replaced
	out    []byte        // that Read has not returned
	room   []byte        // of out
}

// fetch reads from until it ends or the reader is closed. It has two buffers: Read uses the
// one while it fills the other.
func (r *reader) fetch() {
	defer close(r.reads)
	for buffers := [2][]byte{make([]byte, 32<<10), make([]byte, 32<<10)}; r.err == nil; buffers[0], buffers[1] = buffers[1], buffers[0] {
		var n int
		n, r.err = r.from.Read(buffers[0])
		select {
		case r.reads <- buffers[0][:n]:
		case <-r.closed:
			r.err = io.ErrClosedPipe
			return
		}
	}
}

func (r *reader) Read(p []byte) (int, error) {
	r.begun.Do(func() { go r.fetch() })
	for len(r.out) == 0 {
		var late <-chan time.Time
		if len(r.in) > 0 {
			late = time.After(flushDelay)
		}
		end := len(r.in)
		select {
		case read, open := <-r.reads:
			if r.in = append(r.in, read...); open {
				end = r.r.settled(r.in)
			} else if len(r.in) == 0 {
				return 0, r.err
			}
		case <-late:
		}
		r.room, end = r.r.replace(r.room[:0], r.in, end)
		r.out, r.in = r.room, r.in[:copy(r.in, r.in[end:])]
	}
	n := copy(p, r.out)
	r.out = r.out[n:]
	return n, nil
}

// Close ends the reading under way.
func (r *reader) Close() error {
	r.once.Do(func() { close(r.closed) })
	r.begun.Do(func() {
		r.err = io.ErrClosedPipe
		close(r.reads)
	})
	err := r.from.Close()
	for range r.reads {
	}
	return err
}
