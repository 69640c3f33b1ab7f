package transport

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/skillsmcp/skills-mcp/server/identity"
)

// direct asks a handler without a network, where time is virtual.
func direct(h *HTTP, ctx context.Context, method, session, body string) *httptest.ResponseRecorder {
	r := httptest.NewRequestWithContext(ctx, method, "http://localhost"+Path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	if session != "" {
		r.Header.Set(SessionHeader, session)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func initialized(t *testing.T, h *HTTP) string {
	t.Helper()
	w := direct(h, t.Context(), "POST", "", hello)
	if w.Code != http.StatusOK {
		t.Fatalf("initialize: %d %s", w.Code, w.Body)
	}
	return w.Header().Get(SessionHeader)
}

const pinging = `{"jsonrpc":"2.0","id":1,"method":"ping"}`

// A session ends when it was silent for long, which mcp-go is told; not while a
// stream or a call is there.
func TestSessionsExpire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hooks, ended := &mcpserver.Hooks{}, make(chan string, 10)
		hooks.AddOnUnregisterSession(func(_ context.Context, s mcpserver.ClientSession) { ended <- s.SessionID() })
		h := NewHTTP(newBench(mcpserver.WithHooks(hooks)).backend(), &Options{bounds: bounds{idle: time.Minute}})
		defer h.Close()
		id := initialized(t, h)
		for range 3 {
			time.Sleep(59 * time.Second)
			if w := direct(h, t.Context(), "POST", id, pinging); w.Code != http.StatusOK {
				t.Fatalf("%d %s", w.Code, w.Body)
			}
		}
		ctx, hangUp := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { direct(h, ctx, "GET", id, ""); close(done) }()
		time.Sleep(time.Hour)
		if w := direct(h, t.Context(), "POST", id, pinging); w.Code != http.StatusOK {
			t.Fatalf("beside a stream: %d %s", w.Code, w.Body)
		}
		hangUp()
		<-done
		time.Sleep(61 * time.Second)
		if got := <-ended; got != id {
			t.Errorf("ended %s, want %s", got, id)
		}
		if w := direct(h, t.Context(), "POST", id, pinging); w.Code != http.StatusNotFound {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	})
}

// There are so many sessions; the one that was silent longest makes room, and
// none that is busy.
func TestSessionsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := NewHTTP(newBench().backend(), &Options{bounds: bounds{sessions: 2}})
		defer h.Close()
		first := initialized(t, h)
		time.Sleep(time.Second)
		second := initialized(t, h)
		ctx, hangUp := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { direct(h, ctx, "GET", first, ""); close(done) }()
		synctest.Wait()
		third := initialized(t, h)
		for id, status := range map[string]int{first: 200, second: 404, third: 200} {
			if w := direct(h, t.Context(), "POST", id, pinging); w.Code != status {
				t.Errorf("%d, want %d", w.Code, status)
			}
		}
		go direct(h, ctx, "GET", third, "")
		synctest.Wait()
		if w := direct(h, t.Context(), "POST", "", hello); w.Code != http.StatusServiceUnavailable {
			t.Errorf("one too many: %d %s", w.Code, w.Body)
		}
		hangUp()
		<-done
	})
}

// A call that takes long becomes a stream, so that nobody between takes the
// connection for dead.
func TestKeepAlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench()
		h := NewHTTP(b.backend(), &Options{bounds: bounds{keepAlive: 10 * time.Second}})
		defer h.Close()
		id := initialized(t, h)
		answered := make(chan *httptest.ResponseRecorder)
		go func() {
			answered <- direct(h, t.Context(), "POST", id, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"block"}}`)
		}()
		<-b.started
		time.Sleep(35 * time.Second)
		b.release <- struct{}{}
		w := <-answered
		if w.Header().Get("Content-Type") != "text/event-stream" || strings.Count(w.Body.String(), ": keep-alive\n\n") != 3 || !strings.Contains(w.Body.String(), "event: message\ndata: {\"jsonrpc\"") {
			t.Errorf("%v %s", w.Header(), w.Body)
		}
	})
}

// Requests beyond the places and the queue are told to come again.
func TestBusyOverHTTP(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench()
		h := NewHTTP(b.backend(), &Options{bounds: bounds{calls: 1, queue: 1, streams: 1}})
		defer h.Close()
		id := initialized(t, h)
		for i := range 2 {
			go direct(h, t.Context(), "POST", id, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"block"}}`, i))
		}
		synctest.Wait()
		w := direct(h, t.Context(), "POST", id, `{"jsonrpc":"2.0","id":3,"method":"tools/list"}`)
		if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" {
			t.Errorf("%d %v", w.Code, w.Header())
		}
		if w := direct(h, t.Context(), "POST", id, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`); w.Code != http.StatusBadRequest {
			t.Errorf("an id in flight: %d %s", w.Code, w.Body)
		}
		go direct(h, t.Context(), "GET", id, "")
		synctest.Wait()
		if w := direct(h, t.Context(), "GET", id, ""); w.Code != http.StatusServiceUnavailable {
			t.Errorf("a stream too many: %d", w.Code)
		}
	})
}

// Close ends streams and calls at once, and waits no longer than its grace for a
// handler that does not end.
func TestCloseOfHTTP(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench()
		h := NewHTTP(b.backend(), nil)
		id := initialized(t, h)
		go direct(h, t.Context(), "GET", id, "")
		answered := make(chan *httptest.ResponseRecorder)
		go func() {
			answered <- direct(h, t.Context(), "POST", id, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"block"}}`)
		}()
		<-b.started
		begin := time.Now()
		if err := h.Close(); err != nil || time.Since(begin) != 0 {
			t.Errorf("%v after %v", err, time.Since(begin))
		}
		if w := <-answered; !strings.Contains(w.Body.String(), "released") {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	})
	t.Run("a handler that does not end", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b := newBench()
			h := NewHTTP(b.backend(), &Options{bounds: bounds{grace: time.Second}})
			id := initialized(t, h)
			release := make(chan struct{})
			defer close(release)
			b.AddTool(stay(release))
			go direct(h, t.Context(), "POST", id, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"stay"}}`)
			synctest.Wait()
			if err := h.Close(); !errors.Is(err, ErrAbandoned) {
				t.Error(err)
			}
		})
	})
}

// Nobody gets into another principal's session.
func TestSessionsAreTheirOwners(t *testing.T) {
	refused := ""
	h := NewHTTP(newBench().backend(), &Options{Refused: func(_ *http.Request, reason string) { refused = reason }})
	defer h.Close()
	ask := func(user, session, body string) *httptest.ResponseRecorder {
		ctx := identity.NewContext(t.Context(), identity.Principal{Kind: identity.Token, ID: user})
		return direct(h, ctx, "POST", session, body)
	}
	id := ask("ann", "", hello).Header().Get(SessionHeader)
	for user, status := range map[string]int{"ann": 200, "bob": 404} {
		refused = ""
		if w := ask(user, id, pinging); w.Code != status || (refused != "") != (status != 200) {
			t.Errorf("%s: %d, want %d; refused %q", user, w.Code, status, refused)
		}
	}
}

// A list that is remembered needs no place.
func TestRememberedOverHTTP(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench()
		h := NewHTTP(Backend{Core: b.MCPServer, State: func() uint64 { return 0 }}, &Options{bounds: bounds{calls: 1, queue: 1}})
		defer h.Close()
		id := initialized(t, h)
		const list = `{"jsonrpc":"2.0","id":7,"method":"tools/list"}`
		first := direct(h, t.Context(), "POST", id, list)
		for i := range 2 {
			go direct(h, t.Context(), "POST", id, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"block"}}`, i))
		}
		synctest.Wait()
		again := direct(h, t.Context(), "POST", id, list)
		if again.Code != http.StatusOK || again.Body.String() != first.Body.String() || !strings.Contains(again.Body.String(), `"id":7,`) {
			t.Errorf("%d %s, at first %s", again.Code, again.Body, first.Body)
		}
		if w := direct(h, t.Context(), "POST", id, `{"jsonrpc":"2.0","id":8,"method":"prompts/list"}`); w.Code != http.StatusServiceUnavailable {
			t.Errorf("one that is not: %d", w.Code)
		}
	})
}
