package httpd

import (
	"bytes"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skillsmcp/skills-mcp/server/identity"
)

// TestRefusalsAreLogged logs refused clients, without the text that they sent in
// place of a token; however often they try, the log stays short.
func TestRefusalsAreLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		s := New(&Options{Logger: slog.New(slog.NewTextHandler(&log, nil)), Authenticator: bearer("good")})
		s.Handle("/", http.NotFoundHandler())
		lines := func() int { return strings.Count(log.String(), "\n") }
		ask := func(host, token, origin string) {
			r := httptest.NewRequest("POST", "http://"+host+"/mcp?token=inthequery", nil)
			if token != "" {
				r.Header.Set("Authorization", token)
			}
			r.Header.Set("Origin", origin)
			s.ServeHTTP(httptest.NewRecorder(), r)
		}
		for _, test := range []struct{ host, token, origin, want string }{
			{"localhost", "", "", "it has no token"},
			{"localhost", "Bearer guessed", "", "its token is not the server's"},
			{"evil.example.com", "Bearer good", "", "the server is not called evil.example.com"},
			{"localhost", "Bearer good", "http://evil.example.com/" + strings.Repeat("x", 5000), "pages of this origin"},
		} {
			log.Reset()
			ask(test.host, test.token, test.origin)
			if got := log.String(); !strings.Contains(got, "level=WARN msg=\"refused a request\" reason=\"") || !strings.Contains(got, test.want) || !strings.Contains(got, "from=192.0.2.1:1234") || len(got) > 1000 {
				t.Errorf("%s", got)
			}
			if strings.Contains(log.String(), "guessed") || strings.Contains(log.String(), "inthequery") {
				t.Errorf("a token is in the log: %s", &log)
			}
		}
		log.Reset()
		for range 1000 {
			ask("localhost", "Bearer guessed", "")
		}
		if lines() != maxRefusals-4+1 {
			t.Errorf("%d lines for a thousand requests", lines())
		}
		time.Sleep(time.Minute)
		log.Reset()
		ask("localhost", "Bearer guessed", "")
		if got := log.String(); lines() != 2 || !strings.Contains(got, "requests=984") {
			t.Errorf("%s", got)
		}
		log.Reset()
		ask("localhost", "Bearer good", "") // is let in
		if err := s.close(nil); err != nil || lines() != 0 {
			t.Errorf("%v, %s", err, &log)
		}
	})
}

// bearer is an authenticator of one token.
type bearer string

func (b bearer) Authenticate(r *http.Request) (identity.Principal, error) {
	sent, err := identity.BearerToken(r)
	if err == nil && sent != string(b) {
		err = identity.Unauthorized(identity.WrongToken)
	}
	if err != nil {
		return identity.Principal{}, err
	}
	return identity.Principal{Kind: identity.Token}, nil
}
