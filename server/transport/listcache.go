package transport

import (
	"bytes"
	"encoding/json"
	"slices"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
)

// maxRemembered is the longest params of a request whose answer is remembered,
// in bytes.
const maxRemembered = 4 << 10

// maxAnswers is how many answers are remembered. What they depend on differs
// between generations of clients, and between pages.
const maxAnswers = 16

// memory keeps the answers to tools/list. Encoding one of 40 tools takes
// mcp-go a third of a millisecond, and it is the same for every request until
// the tools change.
type listCache struct {
	state func() uint64 // as [Backend.State]; nil remembers nothing

	mu      sync.Mutex // guards what follows
	of      uint64     // the state that the answers are of
	answers map[listKey]json.RawMessage

	spare sync.Pool // *[]byte: lines that have been written
}

// question is what an answer to tools/list depends on.
type listKey struct {
	state   uint64
	version string // of the protocol, as the client initialized it; modern requests have it in params
	params  string
}

// ask returns what an answer to a request will depend on. ok is false where it
// must not be remembered, nor answered from memory.
func (r *listCache) ask(m message, p *peer) (q listKey, ok bool) {
	if r.state == nil || m.method != string(mcp.MethodToolsList) || len(m.params) > maxRemembered {
		return listKey{}, false
	}
	q = listKey{r.state(), p.ProtocolVersion(), string(m.params)}
	return q, q.state%2 == 0
}

// recall returns the remembered answer to a request as a line, or nil.
func (r *listCache) recall(m message, p *peer) []byte {
	q, ok := r.ask(m, p)
	if !ok {
		return nil
	}
	return r.answer(m.id, q)
}

// answer returns the remembered answer to a request as a line, or nil.
func (r *listCache) answer(id json.RawMessage, q listKey) []byte {
	r.mu.Lock()
	result := r.answers[q]
	r.mu.Unlock()
	if result == nil {
		return nil
	}
	var line []byte
	if spare, ok := r.spare.Get().(*[]byte); ok {
		line = (*spare)[:0]
	}
	line = slices.Grow(line, len(headOpen)+len(id)+len(headClose)+len(result)+len(tail))
	return append(append(appendHead(line, id), result...), tail...)
}

// Lines between these are worth to be written again, in bytes.
const minSpare, maxSpare = 4 << 10, 64 << 10

// recycle takes a line that has been written, and that nobody looks at any more,
// for a later answer: thousands of a second would keep the collector busy.
func (r *listCache) recycle(line []byte) {
	if r.state != nil && cap(line) >= minSpare && cap(line) <= maxSpare {
		r.spare.Put(&line)
	}
}

// keep remembers an answer that was made after the request was asked. Where the
// tools have changed meanwhile, so has the state, and nobody asks for it.
func (r *listCache) keep(id json.RawMessage, q listKey, line []byte) {
	result, ok := bytes.CutPrefix(line, head(id))
	if !ok { // an error
		return
	}
	result, ok = bytes.CutSuffix(result, []byte(tail))
	if !ok {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.answers == nil || r.of != q.state || len(r.answers) >= maxAnswers {
		r.of, r.answers = q.state, map[listKey]json.RawMessage{}
	}
	r.answers[q] = bytes.Clone(result) // the line will be another
}
