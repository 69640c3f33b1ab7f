package transport

import (
	"bytes"
	"encoding/json"
	"slices"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/skillsmcp/skills-mcp/server/rpc"
)

// maxCachedParams is the longest params of a request whose answer is cached, in bytes.
const maxCachedParams = 4 << 10

// maxAnswers is the number of cached answers. There is one for each generation of
// clients, and for each page.
const maxAnswers = 16

// A listCache caches the answers to tools/list. Encoding one of 40 tools takes mcp-go
// a third of a millisecond, and it is the same for every request until the tools
// change.
type listCache struct {
	state func() uint64 // as [Backend.State]; nil remembers nothing

	mu      sync.Mutex // guards the fields below
	of      uint64     // the state of the entries
	entries map[listKey]json.RawMessage

	spare sync.Pool // *[]byte: lines that have been written
}

// A listKey is the key of an answer to tools/list: all that it depends on.
type listKey struct {
	state   uint64
	version string // of the protocol, as the client initialized it; modern requests have it in params
	params  string
	client  string // its name, and whether it knows skills by itself: the tools may differ by them
	native  bool
}

// ask returns the key of the answer to a request. ok is false for a request that is not
// cached.
func (r *listCache) ask(m message, p *peer) (q listKey, ok bool) {
	if r.state == nil || m.method != string(mcp.MethodToolsList) || len(m.params) > maxCachedParams {
		return listKey{}, false
	}
	_, native := p.GetClientCapabilities().Extensions[rpc.Skills]
	q = listKey{r.state(), p.ProtocolVersion(), string(m.params), p.GetClientInfo().Name, native}
	return q, q.state%2 == 0
}

// lookup returns the cached answer to a request as a line, or nil.
func (r *listCache) lookup(m message, p *peer) []byte {
	q, ok := r.ask(m, p)
	if !ok {
		return nil
	}
	return r.answer(m.id, q)
}

// answer returns the cached answer of a key as a line with the request's id, or nil.
func (r *listCache) answer(id json.RawMessage, q listKey) []byte {
	r.mu.Lock()
	result := r.entries[q]
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

// Lines between these lengths are reused, in bytes.
const minSpare, maxSpare = 4 << 10, 64 << 10

// recycle reuses the memory of a line that has been written, and that nobody reads any
// more: thousands of lines a second would keep the collector busy.
func (r *listCache) recycle(line []byte) {
	if r.state != nil && cap(line) >= minSpare && cap(line) <= maxSpare {
		r.spare.Put(&line)
	}
}

// store caches an answer that was made after ask returned its key. If the tools have
// changed meanwhile, so has the state, and the entry is never looked up.
func (r *listCache) store(id json.RawMessage, q listKey, line []byte) {
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
	if r.entries == nil || r.of != q.state || len(r.entries) >= maxAnswers {
		r.of, r.entries = q.state, map[listKey]json.RawMessage{}
	}
	r.entries[q] = bytes.Clone(result) // the line will be another
}
