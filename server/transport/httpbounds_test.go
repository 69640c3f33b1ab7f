package transport

import (
	"context"
	"errors"
	"fmt"
	"net"
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
		r.Header.Set(sessionHeader, session)
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
	return w.Header().Get(sessionHeader)
}

const pinging = `{"jsonrpc":"2.0","id":1,"method":"ping"}`

// A session ends when it was silent for long, which mcp-go is told; not while a
// stream or a call is there.
func TestSessionsExpire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hooks, ended := &mcpserver.Hooks{}, make(chan string, 10)
		hooks.AddOnUnregisterSession(func(_ context.Context, s mcpserver.ClientSession) { ended <- s.SessionID() })
		h := NewHTTP(newBench(mcpserver.WithHooks(hooks)).backend(), &HTTPOptions{SessionIdle: time.Minute})
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
		h := NewHTTP(newBench().backend(), &HTTPOptions{Sessions: 2})
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
		h := NewHTTP(b.backend(), &HTTPOptions{KeepAlive: 10 * time.Second})
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
		h := NewHTTP(b.backend(), &HTTPOptions{Calls: 1, Queue: 1, Streams: 1})
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
		for _, path := range []string{HealthPath, ReadyPath} {
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
			if w.Code != http.StatusServiceUnavailable {
				t.Errorf("%s: %d", path, w.Code)
			}
		}
	})
	t.Run("a handler that does not end", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b := newBench()
			h := NewHTTP(b.backend(), &HTTPOptions{Grace: time.Second})
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

// Who calls it by which name, and from which page.
func TestGuard(t *testing.T) {
	for name, test := range map[string]struct {
		local, host, origin string
		options             HTTPOptions
		ok                  bool
	}{
		"localhost":             {"127.0.0.1:1", "localhost:1", "", HTTPOptions{}, true},
		"IPv6":                  {"[::1]:1", "[::1]:1", "", HTTPOptions{}, true},
		"no port":               {"127.0.0.1:1", "LOCALHOST", "", HTTPOptions{}, true},
		"rebound":               {"127.0.0.1:1", "evil.example.com:1", "", HTTPOptions{}, false},
		"allowed name":          {"127.0.0.1:1", "mine.example.com", "", HTTPOptions{Hosts: []string{"Mine.example.com"}}, true},
		"like a loopback":       {"127.0.0.1:1", "127.0.0.1.evil.example.com", "", HTTPOptions{}, false},
		"any name elsewhere":    {"10.0.0.1:1", "server.lan", "", HTTPOptions{}, true},
		"one name elsewhere":    {"10.0.0.1:1", "server.lan", "", HTTPOptions{Hosts: []string{"other"}}, false},
		"local page":            {"127.0.0.1:1", "localhost:1", "http://127.0.0.1:6274", HTTPOptions{}, true},
		"local page elsewhere":  {"10.0.0.1:1", "server.lan", "http://localhost", HTTPOptions{}, false},
		"own page":              {"10.0.0.1:1", "10.0.0.1:1", "http://10.0.0.1:1", HTTPOptions{}, true},
		"own page by name":      {"10.0.0.1:1", "server.lan:1", "http://server.lan:1", HTTPOptions{Hosts: []string{"server.lan"}}, true},
		"rebound elsewhere":     {"10.0.0.1:1", "evil.example.com:1", "http://evil.example.com:1", HTTPOptions{}, false},
		"strange page":          {"127.0.0.1:1", "localhost:1", "https://evil.example.com", HTTPOptions{}, false},
		"page like a local one": {"127.0.0.1:1", "localhost:1", "http://localhost.evil.example.com", HTTPOptions{}, false},
		"allowed page":          {"10.0.0.1:1", "server.lan", "https://app.example.com", HTTPOptions{Origins: []string{"https://app.example.com/"}}, true},
		"file":                  {"127.0.0.1:1", "localhost:1", "null", HTTPOptions{}, false},
		"extension":             {"127.0.0.1:1", "localhost:1", "chrome-extension://localhost", HTTPOptions{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			local, err := net.ResolveTCPAddr("tcp", test.local)
			if err != nil {
				t.Fatal(err)
			}
			h := NewHTTP(newBench().backend(), &test.options)
			defer h.Close()
			r := httptest.NewRequest("OPTIONS", Path, nil)
			r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, net.Addr(local)))
			r.Host = test.host
			r.Header.Set("Access-Control-Request-Method", "POST")
			if test.origin != "" {
				r.Header.Set("Origin", test.origin)
			}
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if ok := w.Code != http.StatusForbidden; ok != test.ok {
				t.Errorf("%d %s", w.Code, w.Body)
			}
			if shared := w.Header().Get("Access-Control-Allow-Origin"); test.ok && shared != test.origin || !test.ok && shared != "" {
				t.Errorf("shared with %q", shared)
			}
		})
	}
}

// Nobody gets in without being known, and nobody into another's session.
func TestAuthorize(t *testing.T) {
	h := NewHTTP(newBench().backend(), &HTTPOptions{Authorize: func(r *http.Request) (identity.Principal, bool) {
		name, _, ok := r.BasicAuth()
		return identity.Principal{Kind: identity.Token, ID: name}, ok
	}})
	defer h.Close()
	ask := func(user, session, body string) *httptest.ResponseRecorder {
		r := httptest.NewRequest("POST", "http://localhost"+Path, strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set(sessionHeader, session)
		if user != "" {
			r.SetBasicAuth(user, "")
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w
	}
	if w := ask("", "", hello); w.Code != http.StatusUnauthorized || w.Header().Get("WWW-Authenticate") == "" {
		t.Errorf("unknown: %d %v", w.Code, w.Header())
	}
	id := ask("ann", "", hello).Header().Get(sessionHeader)
	for user, status := range map[string]int{"ann": 200, "bob": 404, "": 401} {
		if w := ask(user, id, pinging); w.Code != status {
			t.Errorf("%s: %d, want %d", user, w.Code, status)
		}
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest("GET", HealthPath, nil))
	if w.Code != http.StatusOK {
		t.Errorf("a probe: %d", w.Code)
	}
}

func TestReady(t *testing.T) {
	h := NewHTTP(newBench().backend(), &HTTPOptions{Ready: func() error { return errors.New("not yet") }})
	defer h.Close()
	for path, status := range map[string]int{HealthPath: 200, ReadyPath: 503} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
		if w.Code != status {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
}

// A list that is remembered needs no place.
func TestRememberedOverHTTP(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench()
		h := NewHTTP(Backend{Core: b.MCPServer, State: func() uint64 { return 0 }}, &HTTPOptions{Calls: 1, Queue: 1})
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
