package signin

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"net/http"
	"strings"

	"github.com/skillsmcp/skills-mcp/server/identity"
)

const attemptLife = 10 * 60 // seconds, from the start to the callback

// An attempt is one of a browser to sign in at the provider. The browser keeps it, so that
// nobody's attempts take the room of others', and an answer counts in the browser that asked.
type attempt struct{ state, secret, next string }

// provide answers the requests of the sign-in at the provider.
func (s *Sessions) provide(w http.ResponseWriter, r *http.Request) {
	switch p := s.options.Provider; {
	case p == nil || r.Method != http.MethodGet && r.Method != http.MethodHead:
		http.NotFound(w, r)
	case r.URL.Path == DocumentPath && p.Document() != nil:
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(p.Document())
	case r.URL.Path == startPath && r.Method == http.MethodGet:
		s.start(w, r)
	case r.URL.Path == CallbackPath && r.Method == http.MethodGet:
		s.finish(w, r)
	default:
		http.NotFound(w, r)
	}
}

// start leads a browser to the provider.
func (s *Sessions) start(w http.ResponseWriter, r *http.Request) {
	a := attempt{rand.Text(), rand.Text() + rand.Text(), local(r.URL.Query().Get("next"))}
	to, err := s.options.Provider.Start(r.Context(), a.state, a.secret)
	if err != nil {
		s.failed(w, http.StatusBadGateway, a.next, err)
		return
	}
	http.SetCookie(w, a.cookie(r))
	http.Redirect(w, r, to, http.StatusSeeOther)
}

// finish signs in the person whom the provider has sent back.
func (s *Sessions) finish(w http.ResponseWriter, r *http.Request) {
	a, ok := attemptOf(r)
	if !ok {
		s.ask(w, http.StatusUnauthorized, Path, staleAttempt)
		return
	}
	gone := a.cookie(r)
	gone.Value, gone.MaxAge = "", -1
	http.SetCookie(w, gone)
	p, err := s.options.Provider.Finish(r.Context(), r.URL.Query(), a.secret)
	if err != nil {
		s.failed(w, http.StatusUnauthorized, a.next, err)
		return
	}
	s.begin(w, r, p, a.next)
}

// failed shows why a person is not signed in, as far as it is for them.
func (s *Sessions) failed(w http.ResponseWriter, status int, next string, err error) {
	s.options.Logger.Warn("nobody was signed in on the page", "provider", s.options.Provider.Name(), "error", err)
	problem := notSignedIn
	if refused, ok := errors.AsType[*identity.Challenge](err); ok && refused.Status == http.StatusForbidden {
		status, problem = refused.Status, "You may not use this server: "+refused.Message+"."
	}
	s.ask(w, status, next, problem)
}

// cookie returns the cookie of the attempt. It is Lax, as the callback comes from the
// provider's site.
func (a attempt) cookie(r *http.Request) *http.Cookie {
	value := a.state + "." + a.secret + "." + base64.RawURLEncoding.EncodeToString([]byte(a.next))
	return &http.Cookie{Name: cookieName(r) + "-attempt", Value: value, Path: "/", MaxAge: attemptLife, HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: secure(r)}
}

// attemptOf returns the attempt that a callback answers.
func attemptOf(r *http.Request) (a attempt, ok bool) {
	cookie, err := r.Cookie(cookieName(r) + "-attempt")
	if err != nil {
		return a, false
	}
	parts := strings.Split(cookie.Value, ".")
	if len(parts) != 3 || len(parts[0]) < len(rand.Text()) {
		return a, false
	}
	next, err := base64.RawURLEncoding.DecodeString(parts[2])
	a = attempt{parts[0], parts[1], local(string(next))}
	return a, err == nil && subtle.ConstantTimeCompare([]byte(a.state), []byte(r.URL.Query().Get("state"))) == 1
}
