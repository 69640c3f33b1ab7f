package signin

import (
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/skillsmcp/skills-mcp/server/identity"
)

const (
	maxForm     = 16 << 10 // bytes
	maxAttempts = 5        // at the passphrase, for one link
)

// Texts of the sign-in screen.
const (
	staleLink    = "This link was used already, or is too old."
	wrongToken   = "This is not a token of the server."
	wrongPhrase  = "This is not the passphrase."
	notSignedIn  = "You were not signed in there. Try again; if it goes on, the log of the server says why."
	staleAttempt = "This sign-in was not begun in this browser, or is older than ten minutes. Begin it again."
	tooMany      = "There were too many wrong attempts. Try again in a minute."
)

// signIn answers the requests of the sign-in path: a link, or a form.
func (s *Sessions) signIn(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Method == http.MethodHead:
		w.WriteHeader(http.StatusOK)
	case strings.Contains(r.Header.Get("Sec-Purpose")+r.Header.Get("Purpose"), "prefetch"):
		w.WriteHeader(http.StatusServiceUnavailable) // the browser asks again when the person does
	case r.Method == http.MethodGet && r.URL.Query().Has("key"):
		s.useLink(w, r)
	case r.Method == http.MethodGet:
		s.ask(w, http.StatusOK, Path, "")
	case r.Method != http.MethodPost:
		w.Header().Set("Allow", "GET, HEAD, POST")
		http.Error(w, "sign in with GET or POST", http.StatusMethodNotAllowed)
	default:
		r.Body = http.MaxBytesReader(w, r.Body, maxForm)
		switch {
		case r.PostFormValue("link") != "" && s.options.Links != nil:
			s.useTokenLink(w, r)
		case r.PostFormValue("proof") != "":
			s.usePassphrase(w, r)
		default:
			s.useToken(w, r)
		}
	}
}

// useLink signs in the person who followed a link, which dies, or asks for the passphrase.
func (s *Sessions) useLink(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	link := s.links.take(r.URL.Query().Get("key"))
	proof := ""
	if link != nil && s.options.Passphrase != nil {
		proof = s.proofs.add(0)
	}
	s.mu.Unlock()
	switch {
	case link == nil && s.options.Links != nil: // perhaps a token's: a program that previews links sends no form
		s.screen.show(w, http.StatusOK, view{Title: "Sign in", Link: r.URL.Query().Get("key")})
	case link == nil:
		s.ask(w, http.StatusUnauthorized, Path, staleLink)
	case proof != "":
		s.screen.show(w, http.StatusOK, view{Title: "Your passphrase", Proof: proof})
	default:
		s.begin(w, r, s.person(), Path)
	}
}

// person returns the principal of a session that a link began.
func (s *Sessions) person() identity.Principal {
	return identity.Principal{Kind: identity.Person, Profile: s.options.Profile}
}

// usePassphrase signs in the person who followed a link and knows the passphrase.
func (s *Sessions) usePassphrase(w http.ResponseWriter, r *http.Request) {
	proof := r.PostFormValue("proof")
	s.mu.Lock()
	waiting := s.proofs.find(proof)
	if waiting != nil {
		if waiting.value++; waiting.value >= maxAttempts {
			s.proofs.take(proof)
		}
	}
	s.mu.Unlock()
	if waiting == nil || s.options.Passphrase == nil {
		s.ask(w, http.StatusUnauthorized, Path, staleLink)
		return
	}
	right, tried := s.passphrases.try(func() bool { return s.options.Passphrase(r.PostFormValue("passphrase")) })
	switch {
	case !tried:
		s.screen.show(w, http.StatusTooManyRequests, view{Title: "Your passphrase", Proof: proof, Problem: tooMany})
	case !right:
		s.screen.show(w, http.StatusUnauthorized, view{Title: "Your passphrase", Proof: proof, Problem: wrongPhrase})
	default:
		s.mu.Lock()
		s.proofs.take(proof)
		s.mu.Unlock()
		s.begin(w, r, s.person(), Path)
	}
}

// useTokenLink signs in the person whom a link was made for.
func (s *Sessions) useTokenLink(w http.ResponseWriter, r *http.Request) {
	if p, ok := s.options.Links(r.Context(), r.PostFormValue("link")); ok {
		s.begin(w, r, p, Path)
		return
	}
	s.ask(w, http.StatusUnauthorized, Path, staleLink)
}

// useToken signs in the holder of a bearer token.
func (s *Sessions) useToken(w http.ResponseWriter, r *http.Request) {
	next := local(r.PostFormValue("next"))
	if s.options.Tokens == nil {
		s.ask(w, http.StatusUnauthorized, next, "")
		return
	}
	sent := &http.Request{Method: r.Method, URL: r.URL, Host: r.Host, RemoteAddr: r.RemoteAddr, Header: http.Header{"Authorization": {"Bearer " + strings.TrimSpace(r.PostFormValue("token"))}}}
	var p identity.Principal
	right, tried := s.tokens.try(func() (right bool) {
		var err error
		p, err = s.options.Tokens(sent.WithContext(r.Context()))
		return err == nil
	})
	switch {
	case !tried:
		s.ask(w, http.StatusTooManyRequests, next, tooMany)
	case !right:
		s.ask(w, http.StatusUnauthorized, next, wrongToken)
	default:
		s.begin(w, r, p, next)
	}
}

// begin begins a session and leads on. A session that the browser had ends: its cookie may
// have been another's.
func (s *Sessions) begin(w http.ResponseWriter, r *http.Request, p identity.Principal, next string) {
	s.endOld(r)
	p = p.Within(s.options.Profile)
	one := session{Principal: p}
	if p.Kind == identity.Token && p.Named() && s.options.Watch != nil {
		one.counts = s.options.Watch(r.Context(), p.ID)
	}
	s.mu.Lock()
	secret := s.sessions.add(one)
	s.mu.Unlock()
	http.SetCookie(w, newCookie(r, secret))
	http.Redirect(w, r, next, http.StatusSeeOther)
}

// endOld ends the session whose cookie a request has.
func (s *Sessions) endOld(r *http.Request) {
	if old, err := r.Cookie(cookieName(r)); err == nil {
		s.endSession(old.Value)
	}
}

// signOut ends the session of a request.
func (s *Sessions) signOut(w http.ResponseWriter, r *http.Request) {
	s.endOld(r)
	gone := newCookie(r, "")
	gone.MaxAge = -1
	http.SetCookie(w, gone)
	http.Redirect(w, r, signinPath, http.StatusSeeOther)
}

// ask shows how to sign in.
func (s *Sessions) ask(w http.ResponseWriter, status int, next, problem string) {
	v := view{Title: "Sign in", Problem: problem, Next: next, Tokens: s.options.Tokens != nil, Links: s.options.Links != nil, Ask: true}
	if p := s.options.Provider; p != nil {
		v.Issuer, v.Start = p.Name(), startPath+"?"+url.Values{"next": {next}}.Encode()
	}
	s.screen.show(w, status, v)
}

// newCookie returns the cookie of a session. Browsers send it to this origin's requests
// alone, but for other ports of the host. The scheme is the browser's, also behind a proxy.
func newCookie(r *http.Request, secret string) *http.Cookie {
	return &http.Cookie{Name: cookieName(r), Value: secret, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: secure(r)}
}

// secure reports whether the browser sent a request over TLS, to this server or to a trusted
// proxy.
func secure(r *http.Request) bool { return r.URL.Scheme == "https" }

// cookieName has the port in it: cookies are not bound to one, so two servers of a host
// would otherwise end each other's sessions. Over TLS no other host of the domain can set
// the cookie (RFC 6265bis).
func cookieName(r *http.Request) string {
	name := "skills-mcp"
	if secure(r) {
		name = "__Host-" + name
	}
	_, port, err := net.SplitHostPort(r.Host)
	if err != nil || strings.Trim(port, "0123456789") != "" {
		return name
	}
	return name + "-" + port
}

// local returns a path of the page that a form has named, or the page's first screen.
func local(next string) string {
	u, err := url.Parse(next)
	if err != nil || u.Scheme != "" || u.Host != "" || !strings.HasPrefix(next, Path) || strings.HasPrefix(u.Path, signinPath) || strings.Contains(next, `\`) {
		return Path
	}
	return next
}
