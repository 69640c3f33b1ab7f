package transport

import (
	"context"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
)

// A drain counts the calls of tools, and refuses further ones while the server stops. Other
// requests are still served: a client answers questions of its calls by them, and fetches
// results of its tasks.
type drain struct {
	mu    sync.Mutex
	calls int
	begun bool
	empty chan struct{} // closed when it has begun and no call is left
}

func newDrain() *drain { return &drain{empty: make(chan struct{})} }

// enter reports whether a request may start. If so, leave must be called at its end.
func (d *drain) enter(m message) bool {
	if m.method != string(mcp.MethodToolsCall) {
		return true
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.begun {
		return false
	}
	d.calls++
	return true
}

func (d *drain) leave(m message) {
	if m.method != string(mcp.MethodToolsCall) {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.calls--; d.begun && d.calls == 0 {
		close(d.empty)
	}
}

// wait refuses further calls, and returns when none is left or ctx has ended.
func (d *drain) wait(ctx context.Context) {
	d.mu.Lock()
	if !d.begun {
		if d.begun = true; d.calls == 0 {
			close(d.empty)
		}
	}
	d.mu.Unlock()
	select {
	case <-d.empty:
	case <-ctx.Done():
	}
}
