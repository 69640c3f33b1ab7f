package httpd

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skillsmcp/skills-mcp/server/identity"
)

// named lets in everybody, by the name in a header.
type named struct{}

func (named) Authenticate(r *http.Request) (identity.Principal, error) {
	name := r.Header.Get("X-Name")
	if name == "" {
		return identity.Principal{}, nil
	}
	return identity.Principal{Kind: identity.Subject, ID: name, Profile: r.Header.Get("X-Profile")}, nil
}

// A principal that sends too much waits, whatever its profiles; another one does not.
func TestRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(&Options{Authenticator: named{}, Rate: Rate{PerSecond: 2, Burst: 3}})
		s.Handle("/", http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
		ask := func(name, profile string) string {
			r := httptest.NewRequest("POST", "http://localhost/", nil)
			r.Header.Set("X-Name", name)
			r.Header.Set("X-Profile", profile)
			w := httptest.NewRecorder()
			s.ServeHTTP(w, r)
			return fmt.Sprint(w.Code, w.Header().Get("Retry-After"))
		}
		want := func(name, want string) {
			t.Helper()
			if got := ask(name, fmt.Sprint(time.Now().UnixNano()%3)); got != want {
				t.Errorf("%s: %s, want %s", name, got, want)
			}
		}
		for range 3 {
			want("greedy", "200")
		}
		for range 100 {
			want("greedy", "4291")
			want("", "200") // who is nobody has no share
		}
		want("other", "200")
		time.Sleep(500 * time.Millisecond)
		want("greedy", "200")
		want("greedy", "4291")
		for i := range maxRates + 5 {
			ask(fmt.Sprint(i), "")
		}
		if n := len(s.rates.by); n > maxRates+6 {
			t.Errorf("%d principals are remembered", n)
		}
		time.Sleep(time.Minute)
		want("new", "200")
		if n := len(s.rates.by); n != 1 {
			t.Errorf("%d principals are remembered after a pause", n)
		}
	})
}
