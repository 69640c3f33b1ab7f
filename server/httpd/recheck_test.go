package httpd

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skillsmcp/skills-mcp/server/identity"
)

// revocable lets everybody in, until it is revoked.
type revocable struct {
	identity.Principal
	revoked atomic.Bool
}

func (a *revocable) Authenticate(*http.Request) (identity.Principal, error) {
	if a.revoked.Load() {
		return identity.Principal{}, identity.Unauthorized(identity.WrongToken)
	}
	return a.Principal, nil
}

// A revoked token ends the requests that are open; one that expires meanwhile, or a server
// that cannot look, does not.
func TestRecheck(t *testing.T) {
	for name, test := range map[string]struct {
		life  time.Duration // of the token; 0 is for ever
		lasts time.Duration // of the request
	}{
		"revoked":               {0, 3 * time.Second},
		"expired, then revoked": {2 * time.Second, time.Hour},
	} {
		synctest.Test(t, func(t *testing.T) {
			a := &revocable{Principal: identity.Principal{Kind: identity.Token, ID: "ann"}}
			if test.life > 0 {
				a.Expires = time.Now().Add(test.life)
			}
			s := New(&Options{Authenticator: a})
			s.Handle("/", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				select {
				case <-r.Context().Done():
					if context.Cause(r.Context()) != errRevoked {
						t.Error(context.Cause(r.Context()))
					}
				case <-time.After(time.Hour):
				}
			}))
			time.AfterFunc(2500*time.Millisecond, func() { a.revoked.Store(true) })
			began := time.Now()
			s.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "http://localhost/", nil))
			if lasted := time.Since(began); lasted != test.lasts {
				t.Errorf("%s: it lasted %s, want %s", name, lasted, test.lasts)
			}
			if err := s.close(nil); err != nil {
				t.Error(err)
			}
		})
	}
}
