package transport

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// Whatever is posted is answered as the specification allows, by what is no
// crash: one message, an event stream, or nothing.
func FuzzPost(f *testing.F) {
	f.Add(hello, "", "", "")
	f.Add(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{`+modernMeta+`}}`, "2026-07-28", "tools/list", "")
	f.Add(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo",`+modernMeta+`}}`, "2026-07-28", "tools/call", "echo")
	f.Add(`{"jsonrpc":"2.0","id":"`+strings.Repeat("x", 2000)+`","method":"ping"}`, "", "", "")
	f.Add(`[{}]`, "2025-03-26", "", "")
	f.Add(`{"jsonrpc":"2.0","id":1,"result":{}}`, "", "", "")
	f.Add(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`, "", "", "")
	h := NewHTTP(newBench().backend(), nil)
	f.Cleanup(func() { h.Close() })
	w := httptest.NewRecorder()
	r := httptest.NewRequest("POST", "http://localhost"+Path, strings.NewReader(strings.Replace(hello, "2025-11-25", "2025-03-26", 1)))
	r.Header.Set("Content-Type", "application/json")
	h.ServeHTTP(w, r)
	session := w.Header().Get(SessionHeader)
	f.Fuzz(func(t *testing.T, body, version, method, name string) {
		if strings.Contains(body, "block") || strings.Contains(body, "listen") {
			t.Skip("it would wait")
		}
		r := httptest.NewRequest("POST", "http://localhost"+Path, strings.NewReader(body))
		r.Header = http.Header{
			"Content-Type": {"application/json"}, "Mcp-Session-Id": {session}, "Mcp-Protocol-Version": {version}, "Mcp-Method": {method}, "Mcp-Name": {name},
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		switch kind := w.Header().Get("Content-Type"); kind {
		case "application/json":
			if !json.Valid(w.Body.Bytes()) {
				t.Errorf("%d %q", w.Code, w.Body)
			}
		case "text/event-stream":
		default:
			if w.Body.Len() > 0 {
				t.Errorf("%d %s %q", w.Code, kind, w.Body)
			}
		}
	})
}
