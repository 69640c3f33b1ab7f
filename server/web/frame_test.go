package web

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/skillsmcp/skills-mcp/server/identity"
)

// get answers a GET request of a person, or of another principal.
func get(t *testing.T, h http.Handler, kind identity.Kind, path string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequest("GET", path, nil)
	r = r.WithContext(identity.NewContext(r.Context(), identity.Principal{Kind: kind}))
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func newPage() *Page {
	return New(Options{Version: "1.2.3", Logger: slog.New(slog.DiscardHandler)})
}

// A path that does not exist has a screen with the frame, which names nothing of it.
func TestMissing(t *testing.T) {
	h := newPage().Handler()
	w := get(t, h, identity.Token, Path+`nothing"><script>`)
	body := w.Body.String()
	for _, want := range []string{"<h1>Not found</h1>", `href="#main"`, `<main id="main"`, "skills-mcp 1.2.3", "signed in with a token"} {
		if !strings.Contains(body, want) {
			t.Errorf("no %q", want)
		}
	}
	if w.Code != 404 || strings.Contains(body, "<script>") || strings.Count(body, "<h1") != 1 {
		t.Errorf("%d %s", w.Code, body)
	}
	if body := get(t, h, identity.Person, Path+"nothing").Body.String(); strings.Contains(body, "with a token") {
		t.Error("a person is told to sign in")
	}
}

// The files that a screen names are served for good.
func TestAssets(t *testing.T) {
	h := newPage().Handler()
	body := get(t, h, identity.Person, Path+"nothing").Body.String()
	for name, kind := range map[string]string{"page.css": "text/css", "page.js": "text/javascript", "mark.svg": "image/svg+xml"} {
		url := regexp.MustCompile(`/ui/static/` + regexp.QuoteMeta(name) + `\?v=\w+`).FindString(body)
		plain := get(t, h, identity.Person, url)
		if plain.Code != 200 || !strings.HasPrefix(plain.Header().Get("Content-Type"), kind) || plain.Header().Get("Cache-Control") != "public, max-age=31536000, immutable" {
			t.Fatalf("%s: %d %v", url, plain.Code, plain.Header())
		}
		old := get(t, h, identity.Person, Path+"static/"+name+"?v=old")
		if old.Header().Get("Cache-Control") != "no-cache" {
			t.Errorf("%s: of another sum: %v", name, old.Header())
		}
		r := httptest.NewRequest("GET", url, nil)
		r.Header.Set("If-None-Match", old.Header().Get("ETag"))
		w := httptest.NewRecorder()
		if h.ServeHTTP(w, r); w.Code != 304 || w.Body.Len() > 0 {
			t.Errorf("%s: %d for the same sum", name, w.Code)
		}
	}
	if w := get(t, h, identity.Person, Path+"static/../web.go"); w.Code == 200 {
		t.Error("a file outside the folder is served")
	}
}
