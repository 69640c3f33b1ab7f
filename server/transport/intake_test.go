package transport

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
)

// Few long messages are read at once, whoever is slow to send them; short ones need
// no place.
func TestLongMessagesAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := NewHTTP(newBench().backend(), nil)
		defer h.Close()
		slow, sending := io.Pipe()
		for range largeBodies {
			go deliver(t, h, Path, slow)
		}
		wantFull(t, h)
		if w := deliver(t, h, Path, strings.NewReader(hello)); w.Code != http.StatusOK {
			t.Errorf("a short one: %d %s", w.Code, w.Body)
		}
		sending.Close()
		wantFree(t, h)
	})
}

func deliver(t *testing.T, h *HTTP, target string, body io.Reader) *httptest.ResponseRecorder {
	r := httptest.NewRequestWithContext(context.WithoutCancel(t.Context()), http.MethodPost, target, body)
	r.Host = "localhost"
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// long is a message that needs a place.
func long() []byte { return []byte(hello + strings.Repeat(" ", smallBody)) }

func wantFull(t *testing.T, h *HTTP) {
	t.Helper()
	synctest.Wait()
	if w := deliver(t, h, Path, bytes.NewReader(long())); w.Code != http.StatusServiceUnavailable {
		t.Errorf("one more: %d %s", w.Code, w.Body)
	}
}

func wantFree(t *testing.T, h *HTTP) {
	t.Helper()
	synctest.Wait()
	if w := deliver(t, h, Path, bytes.NewReader(long())); w.Code != http.StatusOK {
		t.Errorf("when they are gone: %d %s", w.Code, w.Body)
	}
}
