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
		post := func(body io.Reader) *httptest.ResponseRecorder {
			r := httptest.NewRequestWithContext(context.WithoutCancel(t.Context()), http.MethodPost, Path, body)
			r.Host = "localhost"
			r.Header.Set("Content-Type", "application/json")
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			return w
		}
		slow, sending := io.Pipe()
		for range largeBodies {
			go post(slow)
		}
		synctest.Wait()
		long := []byte(hello + strings.Repeat(" ", smallBody))
		if w := post(bytes.NewReader(long)); w.Code != http.StatusServiceUnavailable {
			t.Errorf("one more: %d %s", w.Code, w.Body)
		}
		if w := post(strings.NewReader(hello)); w.Code != http.StatusOK {
			t.Errorf("a short one: %d %s", w.Code, w.Body)
		}
		sending.Close()
		synctest.Wait()
		if w := post(bytes.NewReader(long)); w.Code != http.StatusOK {
			t.Errorf("when they are gone: %d %s", w.Code, w.Body)
		}
	})
}
