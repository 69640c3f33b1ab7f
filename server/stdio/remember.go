package stdio

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

// memory keeps the last answer to tools/list. Encoding one of 40 tools takes
// mcp-go a third of a millisecond, and it is the same for every request until
// the tools change.
type memory struct {
	state func() uint64 // as [Options.State]; nil remembers nothing

	mu     sync.Mutex // guards what follows
	of     asked
	result json.RawMessage // what was answered; nil before the first
}

// asked is what an answer to tools/list depends on.
type asked struct {
	state   uint64
	version string // of the protocol, as the client initialized it; modern requests have it in params
	params  string
}

// ask returns what an answer to a request will depend on. ok is false where it
// must not be remembered, nor answered from memory.
func (r *memory) ask(m message, p *peer) (a asked, ok bool) {
	if r.state == nil || m.method != string(mcp.MethodToolsList) || len(m.params) > maxRemembered {
		return asked{}, false
	}
	a = asked{r.state(), p.ProtocolVersion(), string(m.params)}
	return a, a.state%2 == 0
}

// answer returns the remembered answer to a request as a line, or nil.
func (r *memory) answer(id json.RawMessage, a asked) []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.result == nil || r.of != a {
		return nil
	}
	return slices.Concat(head(id), r.result, []byte(tail))
}

// keep remembers an answer that was made after the request was asked. Where the
// tools have changed meanwhile, so has the state, and nobody asks for it.
func (r *memory) keep(id json.RawMessage, a asked, line []byte) {
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
	r.of, r.result = a, result
}

// What is around the result in a line of [encodeReply].
func head(id json.RawMessage) []byte {
	return slices.Concat([]byte(`{"jsonrpc":"2.0","id":`), id, []byte(`,"result":`))
}

const tail = "}\n"
