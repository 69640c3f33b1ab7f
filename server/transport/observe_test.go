package transport

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/skillsmcp/skills-mcp/server/identity"
)

// An observed list has what an [Observer] is told.
type observed struct {
	mu  sync.Mutex // guards all
	all []string
}

func (o *observed) note(line string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.all = append(o.all, line)
}

func (o *observed) Begin(ctx context.Context, r Observed) (context.Context, func(Ended)) {
	line := r.Method
	if r.HasTool("echo") && !r.HasTool("guess") {
		line += " knows echo"
	}
	return ctx, func(e Ended) {
		if e.Code != 0 {
			line += " fails"
		}
		if e.Bytes > 0 {
			o.note(line)
		}
	}
}

func (o *observed) SessionEnded(began time.Time, c Client) {
	if !began.IsZero() && c.Pipe && c.Stream {
		o.note("session of " + c.Version)
	}
}

// Each request is told of once, also one that is answered from the cache, or not at all known.
func TestObserver(t *testing.T) {
	b := newBench()
	backend := b.backend()
	backend.State = func() uint64 { return 2 }
	o := &observed{}
	in := strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}
{"jsonrpc":"2.0","id":2,"method":"tools/list"}
{"jsonrpc":"2.0","id":3,"method":"tools/list"}
{"jsonrpc":"2.0","id":4,"method":"wild"}
{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"echo","arguments":{}}}
`)
	var out strings.Builder
	if err := ServeStdio(t.Context(), backend, in, &out, &Options{Observer: o}); err != nil {
		t.Fatal(err)
	}
	slices.Sort(o.all)
	want := []string{"initialize knows echo", "session of 2025-11-25", "tools/call knows echo", "tools/list knows echo", "tools/list knows echo", "wild knows echo fails"}
	if !slices.Equal(o.all, want) {
		t.Errorf("%q, not %q", o.all, want)
	}
}

// A request that nobody observes costs nothing more.
func TestNoObserver(t *testing.T) {
	e := newEdge(newBench().backend(), Options{})
	p, m := newModernPeer("x", identity.Principal{}), message{method: "tools/list"}
	if allocated := testing.AllocsPerRun(100, func() {
		if _, ended := e.begin(t.Context(), p, m); ended != nil {
			t.Error("it is observed")
		}
	}); allocated > 0 {
		t.Errorf("%v allocations", allocated)
	}
}
