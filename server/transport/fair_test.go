package transport

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/skillsmcp/skills-mcp/server/identity"
)

// sendAs has h answer a modern request of the holder of a named token, which comes on a
// connection of its own.
func sendAs(t *testing.T, h http.Handler, name, method, params string, body io.Reader) *httptest.ResponseRecorder {
	if body == nil {
		body = strings.NewReader(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{%s%s}}`, method, params, modernMeta))
	}
	ctx := identity.NewContext(context.WithoutCancel(t.Context()), identity.Principal{Kind: identity.Token, ID: name, Profile: fmt.Sprint(moderns.Load() % 3)})
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, "http://localhost"+Path, body)
	for name, value := range map[string]string{"Content-Type": "application/json", "Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": method} {
		r.Header.Set(name, value)
	}
	if method == "tools/call" {
		r.Header.Set("Mcp-Name", "wait")
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// A greedy principal with many connections fills neither the slots nor the queue, whichever
// profiles it uses and whichever backend: the calls of another one run in between.
func TestGreedyPrincipal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, release := newBench(), make(chan struct{})
		b.AddTool(mcp.NewTool("wait"), func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			select {
			case <-release:
			case <-ctx.Done():
			}
			return mcp.NewToolResultText("ok"), nil
		})
		h := NewHTTP(b.backend(), &Options{bounds: bounds{calls: 8, queue: 16}})
		defer h.Close()
		beside := h.Beside(b.backend())
		defer beside.Close()
		answers := make(chan *httptest.ResponseRecorder, 100)
		for i := range 50 {
			to := []*HTTP{h, beside}[i%2]
			go func() { answers <- sendAs(t, to, "greedy", "tools/call", `"name":"wait",`, nil) }()
		}
		synctest.Wait()
		if n := len(answers); n != 50-8/4-16/4 {
			t.Errorf("%d of its calls were refused", n)
		}
		for range len(answers) {
			if w := <-answers; w.Code != http.StatusTooManyRequests || !strings.Contains(w.Body.String(), "BUSY: you have too many") || w.Header().Get("Retry-After") != "1" {
				t.Fatalf("a refusal: %d %s", w.Code, w.Body)
			}
		}
		if n := h.calls.count(); n != 2 {
			t.Errorf("%d of its calls run", n)
		}
		for range 3 { // at once, beside those that wait
			if w := sendAs(t, h, "other", "tools/list", "", nil); w.Code != http.StatusOK {
				t.Errorf("the other's list: %d %s", w.Code, w.Body)
			}
		}
		close(release)
		for range 6 {
			if w := <-answers; w.Code != http.StatusOK {
				t.Errorf("a call that waited: %d %s", w.Code, w.Body)
			}
		}
	})
}

// The next slot goes to the principal who has the fewest, in order of arrival.
func TestTurns(t *testing.T) {
	table := newTable(8, 100, 1<<20, 8)
	add := func(sender string) *call {
		c := newCall(t.Context(), message{}, fmt.Sprint(len(table.calls)))
		c.sender = sender
		if err := table.add(c); err != nil {
			t.Fatal(err)
		}
		table.waiting = append(table.waiting, c)
		table.use(c).waiting++
		return c
	}
	for _, sender := range []string{"a", "a", "a", "b", "", "", "b", "c", ""} {
		add(sender)
	}
	var order []string
	for table.startable() {
		c, _ := table.next()
		order = append(order, c.sender)
	}
	if got, want := fmt.Sprintf("%q", order), `["a" "b" "" "c" "a" "" "b" ""]`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	table.running-- // a slot is free, and the last call is the greedy one's
	if table.startable() {
		t.Error("a sender gets more than its share")
	}
}

// A greedy principal cannot end the sessions of another, nor take all streams and all room
// for long messages.
func TestGreedyPrincipalsSessions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := NewHTTP(newBench().backend(), &Options{bounds: bounds{sessions: 8, streams: 4}})
		defer h.Close()
		begin := func(name string) string {
			r := httptest.NewRequestWithContext(identity.NewContext(t.Context(), identity.Principal{Kind: identity.Subject, ID: name}), http.MethodPost, "http://localhost"+Path, strings.NewReader(hello))
			r.Header.Set("Content-Type", "application/json")
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			return w.Header().Get(SessionHeader)
		}
		session := begin("other")
		for range 20 {
			begin("greedy")
		}
		synctest.Wait()
		if all := h.legacy.sessions.byID; len(all) != 3 || all[session] == nil {
			t.Errorf("there are %d sessions, and the other's is %v", len(all), all[session])
		}
		slow, sending := io.Pipe()
		codes := make(chan int, 100)
		for range largeBodies {
			go func() { codes <- sendAs(t, h, "greedy", "ping", "", slow).Code }()
		}
		synctest.Wait()
		if n := len(codes); n != largeBodies-largeBodies/4 {
			t.Errorf("%d long messages were refused", n)
		}
		if w := sendAs(t, h, "other", "ping", "", bytes.NewReader(long())); w.Code == http.StatusTooManyRequests || w.Code == http.StatusServiceUnavailable {
			t.Errorf("the other's long message: %d %s", w.Code, w.Body)
		}
		sending.Close()
		synctest.Wait()
		if len(h.intake.named) != 0 {
			t.Errorf("counted still: %v", h.intake.named)
		}
	})
}

// The end of one backend ends its sessions and requests, and no other's.
func TestBeside(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, other := newBench(), newBench()
		for _, bench := range []*bench{b, other} {
			bench.AddTool(mcp.NewTool("wait"), func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				<-ctx.Done()
				return mcp.NewToolResultText("ok"), nil
			})
		}
		h := NewHTTP(b.backend(), nil)
		beside := h.Beside(other.backend())
		first, second := make(chan *httptest.ResponseRecorder, 1), make(chan *httptest.ResponseRecorder, 1)
		go func() { first <- sendAs(t, h, "one", "tools/call", `"name":"wait",`, nil) }()
		go func() { second <- sendAs(t, beside, "two", "tools/call", `"name":"wait",`, nil) }()
		synctest.Wait()
		if err := beside.Close(); err != nil {
			t.Error(err)
		}
		synctest.Wait()
		if len(second) != 1 || len(first) != 0 {
			t.Errorf("ended: %d of its own, %d of the other's", len(second), len(first))
		}
		if w := sendAs(t, h, "two", "tools/list", "", nil); w.Code != http.StatusOK {
			t.Errorf("then: %d %s", w.Code, w.Body)
		}
		if err := h.Close(); err != nil {
			t.Error(err)
		}
		<-first
	})
}
