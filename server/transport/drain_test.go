package transport

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// While the server drains, a call that runs goes on to its end, a further one is refused with
// the time to try again, and everything else is served.
func TestDrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench()
		h := NewHTTP(b.backend(), nil)
		defer h.Close()
		id := initialized(t, h)
		release := make(chan struct{})
		b.AddTool(stay(release))
		answered := make(chan *httptest.ResponseRecorder)
		go func() {
			answered <- direct(h, t.Context(), "POST", id, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"stay"}}`)
		}()
		synctest.Wait()
		drained := make(chan struct{})
		go func() { h.Drain(t.Context()); close(drained) }()
		synctest.Wait()
		call := `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"echo","arguments":{"tag":"x"}}}`
		if w := direct(h, t.Context(), "POST", id, call); w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" || !strings.Contains(w.Body.String(), "shutting down") {
			t.Errorf("a further call: %d %v %s", w.Code, w.Header(), w.Body)
		}
		if w := direct(h, t.Context(), "POST", id, `{"jsonrpc":"2.0","id":4,"method":"tools/list"}`); w.Code != http.StatusOK {
			t.Errorf("a list: %d %s", w.Code, w.Body)
		}
		limited, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		begin := time.Now()
		if h.Drain(limited); time.Since(begin) != 30*time.Second {
			t.Errorf("a second drain took %s", time.Since(begin))
		}
		select {
		case <-drained:
			t.Error("drained while a call runs")
		default:
		}
		close(release)
		<-drained
		if w := <-answered; w.Code != http.StatusOK || !strings.Contains(w.Body.String(), `"id":2,"result"`) {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	})
}
