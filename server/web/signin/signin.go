// Package signin proves the person at a browser: by a link that works once, by a bearer
// token, or at an OpenID provider, for a session of which the browser keeps a cookie.
//
// Start with [New], [Sessions.Link] and [Sessions.Guard].
package signin

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/skillsmcp/skills-mcp/server/identity"
)

// Guard returns a handler that serves h to signed-in browsers, with their principal in the
// context, and the sign-in screen to others. It sets the headers that protect the page,
// which h may replace, and refuses requests that another origin's page has made a browser
// send.
func (s *Sessions) Guard(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		protect(w.Header())
		if err := s.origins.Check(r); err != nil {
			http.Error(w, "this request came from a page of another origin", http.StatusForbidden)
			return
		}
		switch {
		case r.URL.Path == signinPath:
			s.signIn(w, r)
		case strings.HasPrefix(r.URL.Path, signinPath+"/"):
			s.provide(w, r)
		case r.URL.Path == signoutPath && r.Method == http.MethodPost:
			s.signOut(w, r)
		case strings.HasPrefix(r.URL.Path, staticPath):
			h.ServeHTTP(w, r)
		default:
			s.serve(w, r, h)
		}
	})
}

// serve serves h to a sender that is signed in.
func (s *Sessions) serve(w http.ResponseWriter, r *http.Request, h http.Handler) {
	session, ok := s.session(r)
	p, life := session.value.Principal, session.life
	if !ok && s.options.Tokens != nil && r.Header.Get("Authorization") != "" {
		var err error
		p, err = s.options.Tokens(r)
		ok = err == nil
	}
	switch {
	case ok && !p.May(identity.ScopeRead):
		http.Error(w, "the page needs the scope "+string(identity.ScopeRead), http.StatusForbidden)
	case ok:
		p.Remote = identity.FromContext(r.Context()).Remote // of this request, as the listener knows it
		ctx, cancel := context.WithCancel(identity.NewContext(r.Context(), p))
		defer cancel()
		if !p.Expires.IsZero() {
			ctx, cancel = context.WithDeadline(ctx, p.Expires)
			defer cancel()
		}
		if life != nil { // events end when the person signs out
			defer context.AfterFunc(life, cancel)()
		}
		h.ServeHTTP(w, r.WithContext(ctx))
	case ledHere(r):
		// The browser keeps a Strict cookie from a request that another site began. The
		// next one is of this page.
		s.screen.show(w, http.StatusOK, view{Title: "One moment", Onward: r.URL.RequestURI()})
	default:
		s.ask(w, http.StatusUnauthorized, r.URL.RequestURI(), "")
	}
}

// ledHere reports whether a link of another site led a browser here.
func ledHere(r *http.Request) bool {
	return r.Method == http.MethodGet && r.Header.Get("Sec-Fetch-Site") == "cross-site" && r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document"
}

// Authenticate returns the principal of the session whose cookie a request has; ok is false
// without one, and for a request that a page of another origin has made a browser send. It
// is the person of this machine for a session that a link of [Sessions.Link] began.
func (s *Sessions) Authenticate(r *http.Request) (p identity.Principal, ok bool) {
	session, ok := s.session(r)
	return session.value.Principal, ok
}

// session is Authenticate with the life of the session.
func (s *Sessions) session(r *http.Request) (known held[session], ok bool) {
	cookie, err := r.Cookie(cookieName(r))
	if err != nil || s.foreign(r) {
		return known, false
	}
	s.mu.Lock()
	found := s.sessions.find(cookie.Value)
	if found != nil {
		s.sessions.renew(found)
		known = *found
	}
	s.mu.Unlock()
	one, counts := known.value, true
	if one.counts != nil {
		counts, err = one.counts(r.Context())
	}
	switch {
	case found == nil, err != nil: // nobody knows whether its token was revoked
		return known, false
	case !one.Expires.IsZero() && !time.Now().Before(one.Expires), !counts:
		s.endSession(cookie.Value)
		return known, false
	}
	return known, true
}

// foreign reports whether a page of another origin sent a request, other than by a link. A
// page of another port of this machine is of the same site, so that its requests have the
// cookie.
func (s *Sessions) foreign(r *http.Request) bool {
	site := r.Header.Get("Sec-Fetch-Site")
	linked := r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document"
	return s.origins.Check(r) != nil || (site == "cross-site" || site == "same-site") && !linked
}

// protect sets the headers of every answer.
func protect(h http.Header) {
	h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; frame-src 'self'; frame-ancestors 'none'; base-uri 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "same-origin") // with no-referrer, forms of the page would have the origin "null"
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Cache-Control", "no-store")
}
