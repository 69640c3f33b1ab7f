package replica

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/skillsmcp/skills-mcp/server/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// start returns a server of a store at an address.
func start(t *testing.T, file, address string) *Set {
	t.Helper()
	s := store.New(file, nil)
	set := New(s, address, nil, nil)
	if err := set.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		set.Close()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return set
}

// Servers find each other by IDs, from their start to their end, and not themselves.
func TestHome(t *testing.T) {
	file := filepath.Join(t.TempDir(), "state.db")
	a := start(t, file, "http://127.0.0.1:1")
	b := start(t, file, "http://127.0.0.1:2")
	id := b.Name("x")
	for _, test := range []struct {
		set  *Set
		ids  []string
		want string
	}{
		{a, []string{id}, nameOf(b.number)}, // which has started since a looked
		{b, []string{id}, ""},
		{a, []string{"", "x", "x-", "x-?", a.Name("x")}, ""},
		{a, []string{a.Name("x"), id}, nameOf(b.number)},
		{nil, []string{id}, ""},
	} {
		if got := test.set.Home(t.Context(), test.ids...); got != test.want {
			t.Errorf("%q is of %q, want %q", test.ids, got, test.want)
		}
	}
	a.stop()
	a.reads.Wait() // it looks no more by itself
	c := start(t, file, "http://127.0.0.1:3")
	a.looked = time.Now().Add(time.Hour)
	if got := a.Home(t.Context(), c.Name("x")); got != "" {
		t.Errorf("it has looked twice in a row: %q", got)
	}
	before := time.Now()
	a.looked = before.Add(-pause)
	if got := a.Home(t.Context(), c.Name("x")); got != nameOf(c.number) || a.looked.Before(before) {
		t.Errorf("it has not looked again: %q", got)
	}
	b.Close()
	if err := a.look(t.Context()); err != nil || a.Home(t.Context(), id) != "" {
		t.Errorf("one that has ended is found: %v", err)
	}
	if alone := (*Set)(nil); alone.Name("x") != "x" || alone.Secret() != nil {
		t.Error("a server alone has a name")
	}
}

// A request is passed once, as it is, and without the headers of its connection.
func TestAround(t *testing.T) {
	file := filepath.Join(t.TempDir(), "state.db")
	var got *http.Request
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r
		w.WriteHeader(http.StatusTeapot)
	}))
	defer other.Close()
	a, b := start(t, file, "http://127.0.0.1:1"), start(t, file, other.URL)
	here := 0
	h := a.Around(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { here++ }), func(r *http.Request) []string { return []string{r.URL.Query().Get("id")} })
	ask := func(id string, header ...string) *httptest.ResponseRecorder {
		r := httptest.NewRequest("POST", "/v1/x?id="+id, strings.NewReader("body"))
		r.Host = "skills.example.com"
		r.Header.Set("Te", "trailers")
		r.Header.Set("Idempotency-Key", "x")
		r.Header.Set("X-Idempotency-Key", "x")
		r.Header.Set("Forwarded", "for=10.0.0.1;host=evil.example.com") // which the other may believe this server
		for _, name := range header {
			r.Header.Set(name, "x")
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w
	}
	if w := ask(b.Name("run")); w.Code != http.StatusTeapot || here != 0 || got.Host != "skills.example.com" || got.Header.Get("Te")+got.Header.Get("Forwarded")+got.Header.Get("Idempotency-Key")+got.Header.Get("X-Idempotency-Key") != "" || !Passed(got) || got.URL.Query().Get("id") != b.Name("run") || got.Header.Get("X-Forwarded-Host") != "skills.example.com" {
		t.Errorf("%d, %d here, %+v", w.Code, here, got)
	}
	ask(b.Name("run"), PassedHeader) // which the other has passed
	ask(a.Name("run"))
	ask("run")
	if here != 3 {
		t.Errorf("%d are handled here", here)
	}
	a.client.CloseIdleConnections() // one may close while it is written to: then the request is lost
	other.Close()
	if ask(b.Name("run")); here != 4 { // it cannot be reached: the request is whole still
		t.Error("it is lost")
	}
	if err := a.Pass(httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil), nil, "unknown"); !errors.Is(err, ErrUnsent) {
		t.Error(err)
	}
}
