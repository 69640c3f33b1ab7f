package transport

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
)

// Batches of JSON-RPC are of one revision only, in which servers must take them.
const (
	batched  = "2025-03-26"
	maxBatch = 100 // messages
)

func isBatch(line []byte) bool {
	return bytes.HasPrefix(bytes.TrimLeft(line, " \t\r\n"), []byte("["))
}

// parts returns the messages of a batch, for a client of a revision.
func parts(line []byte, version string) ([]json.RawMessage, *rpcError) {
	var all []json.RawMessage
	switch err := json.Unmarshal(line, &all); {
	case err != nil:
		return nil, &rpcError{code: mcp.PARSE_ERROR, message: "not valid JSON: " + err.Error()}
	case version != batched:
		return nil, invalid(nil, "batches are not supported: send one message a line")
	case len(all) == 0 || len(all) > maxBatch:
		return nil, invalid(nil, fmt.Sprintf("a batch has 1 to %d messages", maxBatch))
	}
	return all, nil
}

// parsePart parses a message of a batch, which cannot be one that lasts.
func parsePart(part []byte) (message, *rpcError) {
	m, f := parse(part)
	if f == nil && m.kind == request && (m.isLasting() || m.modern) {
		f = invalid(m.id, "this request cannot be in a batch: "+m.method)
	}
	return m, f
}

// A batch collects the replies to its requests, and writes them as one line.
type batch struct {
	write func(line []byte)

	mu      sync.Mutex // guards the fields below
	waits   int        // for the ends of requests, and for that of the batch
	replies [][]byte
}

// add returns the end of another request, which is called with its reply, nil for
// none. Later calls do nothing.
func (b *batch) add() (done func(reply []byte)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.waits++
	var once sync.Once
	return func(reply []byte) { once.Do(func() { b.end(reply) }) }
}

// end adds a reply, and writes all when it is the last.
func (b *batch) end(reply []byte) {
	b.mu.Lock()
	if reply != nil {
		b.replies = append(b.replies, bytes.TrimSuffix(reply, []byte("\n")))
	}
	b.waits--
	last := b.waits == 0 && len(b.replies) > 0
	b.mu.Unlock()
	if last {
		b.write(fmt.Appendf(nil, "[%s]\n", bytes.Join(b.replies, []byte(","))))
	}
}
