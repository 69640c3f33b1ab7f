package sandbox

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
)

// An Output holds the bytes of one stream of a command: all of them, or the head and
// tail when it was longer than the limit.
type Output struct {
	Head  []byte
	Tail  []byte // empty unless the output was cut
	Total int64  // bytes written, the cut ones included
}

// Truncated reports whether bytes were cut out between Head and Tail.
func (o Output) Truncated() bool { return o.Total > int64(len(o.Head)+len(o.Tail)) }

// Bytes returns the output, with a line that states the cut where there is one.
func (o Output) Bytes() []byte {
	if !o.Truncated() {
		return append(bytes.Clone(o.Head), o.Tail...)
	}
	cut := fmt.Appendf(nil, "\n[… %d of %d bytes cut …]\n", o.Total-int64(len(o.Head)+len(o.Tail)), o.Total)
	return bytes.Join([][]byte{o.Head, o.Tail}, cut)
}

// Cut returns o shortened to at most about limit bytes of head and tail.
func (o Output) Cut(limit int) Output {
	all := append(bytes.Clone(o.Head), o.Tail...)
	if len(all) <= limit {
		return o
	}
	head := limit / 2
	return Output{Head: all[:head], Tail: all[len(all)-(limit-head):], Total: o.Total}
}

// A Head holds the beginning of a text, at most Limit bytes. Its Write takes all of them.
type Head struct {
	strings.Builder
	Limit int
}

func (h *Head) Write(p []byte) (int, error) {
	h.Builder.Write(p[:min(len(p), h.Limit-h.Len())])
	return len(p), nil
}

// capture keeps the head and the tail of a stream in bounded memory, and says
// once when the stream has passed its limit.
type capture struct {
	mu    sync.Mutex // a reader may take the output while a driver still writes
	limit int64
	over  func() // called once, without mu
	head  []byte
	tail  []byte // ring of limit-headLimit bytes
	next  int    // where the ring is written next
	total int64
}

func newCapture(limit int64, over func()) *capture {
	return &capture{limit: limit, over: over}
}

// Write never fails: who wrote too much is ended by the over callback, and
// until then must not block.
func (c *capture) Write(p []byte) (int, error) {
	c.mu.Lock()
	before := c.total
	c.total += int64(len(p))
	passed := before <= c.limit && c.total > c.limit
	c.keep(p)
	c.mu.Unlock()
	if passed {
		c.over()
	}
	return len(p), nil
}

func (c *capture) keep(p []byte) {
	headLimit := int(c.limit - c.limit/2)
	if room := headLimit - len(c.head); room > 0 {
		n := min(room, len(p))
		c.head = append(c.head, p[:n]...)
		p = p[n:]
	}
	tailLimit := int(c.limit / 2)
	if tailLimit == 0 {
		return
	}
	if len(p) > tailLimit {
		p = p[len(p)-tailLimit:]
	}
	for len(p) > 0 {
		if len(c.tail) < tailLimit {
			n := min(tailLimit-len(c.tail), len(p))
			c.tail = append(c.tail, p[:n]...)
			p = p[n:]
			continue
		}
		n := copy(c.tail[c.next:], p)
		c.next = (c.next + n) % tailLimit
		p = p[n:]
	}
}

func (c *capture) output() Output {
	c.mu.Lock()
	defer c.mu.Unlock()
	tail := append(bytes.Clone(c.tail[c.next:]), c.tail[:c.next]...)
	head := bytes.Clone(c.head)
	if c.total == int64(len(head)+len(tail)) {
		head, tail = append(head, tail...), nil
	}
	return Output{Head: head, Tail: tail, Total: c.total}
}
