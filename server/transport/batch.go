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

	mu      sync.Mutex     // guards the fields below
	waits   map[*call]bool // for their ends
	sealed  bool           // no more are added
	replies [][]byte
}

func (b *batch) add(c *call) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.waits[c] = true
}

// done adds the reply to c, nil for none. Later calls for the same c do nothing.
func (b *batch) done(c *call, reply []byte) {
	b.mu.Lock()
	if b.waits[c] {
		delete(b.waits, c)
		b.reply(reply)
	}
	b.send()
}

// refuse adds the error of a request that was not started.
func (b *batch) refuse(f *rpcError) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.reply(f.encode())
}

// seal marks the batch as complete: no request is added any more.
func (b *batch) seal() {
	b.mu.Lock()
	b.sealed = true
	b.send()
}

// reply adds one. The caller holds mu.
func (b *batch) reply(line []byte) {
	if line != nil {
		b.replies = append(b.replies, bytes.TrimSuffix(line, []byte("\n")))
	}
}

// send writes the replies when all are there. It unlocks mu, which the caller holds.
func (b *batch) send() {
	ready := b.sealed && len(b.waits) == 0 && len(b.replies) > 0
	replies := b.replies
	if ready {
		b.replies = nil
	}
	b.mu.Unlock()
	if ready {
		b.write(fmt.Appendf(nil, "[%s]\n", bytes.Join(replies, []byte(","))))
	}
}
