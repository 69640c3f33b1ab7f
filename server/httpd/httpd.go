// Package httpd is the HTTP server on which handlers are mounted. It bounds the time of
// clients, refuses web pages of strangers, authenticates requests, answers probes, and
// shuts down in time.
//
// Start with [New], [Server.Handle] and [Server.Serve].
package httpd

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"github.com/skillsmcp/skills-mcp/server/identity"
)

// An Authenticator proves who sends a request.
type Authenticator interface {
	// Authenticate returns the sender. A [*identity.Challenge] refuses the request;
	// any other error says that the sender could not be proved, and that the client
	// may try again. It may be called concurrently.
	Authenticate(r *http.Request) (identity.Principal, error)
}

// Options tune a [Server]. A zero field means its default.
type Options struct {
	// Logger gets entries for the operator. The default discards them.
	Logger *slog.Logger

	// Authenticator proves the senders of all requests but probes. The default lets
	// everybody in as the anonymous principal.
	Authenticator Authenticator

	// Around returns a handler that passes requests to next: it sees all but probes, also
	// the refused ones. The default passes them on.
	Around func(next http.Handler) http.Handler

	// Challenge returns the header WWW-Authenticate for a request whose token lacks a
	// scope. The default names the scope alone.
	Challenge func(r *http.Request, scope identity.Scope) string

	// Ready returns why the server cannot serve yet, for [ReadyPath]. The default
	// returns nil.
	Ready func() error

	// Access says who may call the server by which name. [Server.Admit] changes it.
	Access Access

	// TLS serves HTTPS, with HTTP/2; nil serves HTTP.
	TLS *tls.Config

	// OwnUser refuses, on a loopback address, web pages of other ports and, on Linux,
	// connections of other users: for a server whose callers prove nothing.
	OwnUser bool

	// Fail answers requests that are refused before they reach a handler. The default is
	// [http.Error].
	Fail func(w http.ResponseWriter, r *http.Request, message string, status int)

	// Rate bounds the requests of each principal.
	Rate Rate

	// CORS lists the methods and headers that those pages may send and read.
	CORS CORS

	// Patience is the time in which a client has to send its request, and to read an
	// answer that is given at once; 30 s. A handler whose answer takes longer sets
	// deadlines of its own ([http.ResponseController]).
	Patience time.Duration
}

// Paths of the probes.
const (
	HealthPath = "/healthz" // whether the server runs, for everybody
	ReadyPath  = "/readyz"  // whether it can serve
)

// Bounds of a connection, beside [Options.Patience].
const (
	headerTimeout = 10 * time.Second
	idleTimeout   = 2 * time.Minute
	closeTimeout  = 500 * time.Millisecond // after the mounted handlers have ended their requests
	maxHeader     = 64 << 10               // bytes
)

// retryAfter is the time after which a client whom nobody can prove should try again, in
// seconds.
const retryAfter = "10"

var errShutdown = errors.New("the server is shutting down")

// A Server serves the handlers that are mounted on it.
type Server struct {
	options  Options
	guard    atomic.Pointer[guard]
	refusals refusals
	rates    rates
	mux      *http.ServeMux
	handler  http.Handler // of all requests but probes

	drains atomic.Bool     // set by Drain
	life   context.Context // its cause is why probes fail
	end    context.CancelCauseFunc
}

// New returns a server without handlers. options may be nil.
func New(options *Options) *Server {
	var o Options
	if options != nil {
		o = *options
	}
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	if o.Ready == nil {
		o.Ready = func() error { return nil }
	}
	if o.Fail == nil {
		o.Fail = func(w http.ResponseWriter, _ *http.Request, message string, status int) {
			http.Error(w, message, status)
		}
	}
	o.Patience = cmp.Or(o.Patience, 30*time.Second)
	s := &Server{options: o, refusals: refusals{log: o.Logger}, rates: rates{Rate: o.Rate, by: map[identity.Key]*rate.Limiter{}}, mux: http.NewServeMux()}
	s.Admit(o.Access)
	s.handler = http.HandlerFunc(s.serve)
	if o.Around != nil {
		s.handler = o.Around(s.handler)
	}
	s.life, s.end = context.WithCancelCause(context.Background())
	return s
}

// Admit replaces the access of later requests.
func (s *Server) Admit(a Access) { s.guard.Store(newGuard(a, s.options.OwnUser, s.options.CORS)) }

// Drain fails the readiness probe, so that no more clients are sent here. Each connection
// closes after its next answer.
func (s *Server) Drain() { s.drains.Store(true) }

// Handle mounts h at a pattern of [http.ServeMux], for senders that are proved: the
// context of its requests carries the principal. It must be called before Serve.
func (s *Server) Handle(pattern string, h http.Handler) {
	s.mux.Handle(pattern, s.authenticated(h))
}

// HandlePublic mounts h at a pattern for everybody, as Handle does: nothing of it is a secret.
func (s *Server) HandlePublic(pattern string, h http.Handler) { s.mux.Handle(pattern, h) }

// ServeHTTP answers probes, and passes requests of trusted hosts and origins to the
// mounted handlers.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == HealthPath || r.URL.Path == ReadyPath {
		s.probe(w, r)
		return
	}
	g := s.guard.Load()
	if err := g.proxies.resolve(r, g.knows); err != nil {
		s.Refused(r, err.Error())
		s.options.Fail(w, r, err.Error(), http.StatusBadRequest)
		return
	}
	s.handler.ServeHTTP(w, r)
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	g := s.guard.Load()
	if refused := g.check(r); refused != "" {
		s.Refused(r, refused)
		s.options.Fail(w, r, refused, http.StatusForbidden)
		return
	}
	if g.share(w, r) {
		return
	}
	if s.drains.Load() {
		w.Header().Set("Connection", "close")
	}
	s.mux.ServeHTTP(w, r)
}

// Refused logs a request that a handler has refused because of its sender. Many of them
// are only counted. reason must hold nothing of a credential.
func (s *Server) Refused(r *http.Request, reason string) { s.refusals.note(r, reason) }

// probe answers probes, which call the server by any name and have no token.
func (s *Server) probe(w http.ResponseWriter, r *http.Request) {
	err := context.Cause(s.life)
	if err == nil && r.URL.Path == ReadyPath {
		if err = s.options.Ready(); s.drains.Load() {
			err = errShutdown
		}
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	_, _ = io.WriteString(w, "ok\n")
}

// authenticated returns a handler that passes authenticated requests to h.
func (s *Server) authenticated(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithCancelCause(r.Context())
		defer cancel(nil)
		var p identity.Principal
		if a := s.options.Authenticator; a != nil {
			var err error
			if p, err = a.Authenticate(r); err != nil {
				s.challenge(w, r, err)
				return
			}
			if wait := s.rates.wait(p); wait > 0 {
				w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(wait.Seconds()))))
				s.options.Fail(w, r, "BUSY: you send too many requests; wait as long as the header Retry-After says", http.StatusTooManyRequests)
				return
			}
			defer recheck(r, p, a.Authenticate, cancel)()
		}
		p.Remote = isRemote(r)
		ctx = identity.NewContext(ctx, p)
		if s.options.Challenge != nil && p.Scopes != nil {
			ctx = identity.WithChallenge(ctx, func(scope identity.Scope) string { return s.options.Challenge(r, scope) })
		}
		h.ServeHTTP(w, r.WithContext(ctx))
	})
}

// challenge answers a request that is not authenticated.
func (s *Server) challenge(w http.ResponseWriter, r *http.Request, err error) {
	c, ok := errors.AsType[*identity.Challenge](err)
	if !ok {
		s.Refused(r, err.Error())
		w.Header().Set("Retry-After", retryAfter)
		s.options.Fail(w, r, "it cannot be found out who you are: try again later", http.StatusServiceUnavailable)
		return
	}
	s.Refused(r, c.Reason)
	if c.Authenticate != "" {
		w.Header().Set("WWW-Authenticate", c.Authenticate)
	}
	s.options.Fail(w, r, c.Message, c.Status)
}

// Serve answers on l until ctx ends or l fails, closes l, and returns the errors of l and
// mounted. Before connections are closed it closes mounted, all at once: each must end its
// requests and return.
func (s *Server) Serve(ctx context.Context, l net.Listener, mounted ...io.Closer) error {
	srv := &http.Server{
		Handler: s, MaxHeaderBytes: maxHeader,
		ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout,
		// net/http itself reads what is left of a body that nobody wanted, and
		// would wait for it without end.
		ReadTimeout: s.options.Patience, WriteTimeout: s.options.Patience,
		TLSConfig: s.options.TLS,
		ErrorLog:  slog.NewLogLogger(s.options.Logger.Handler(), slog.LevelDebug),
	}
	if s.options.OwnUser {
		srv.ConnContext = withPeer
	}
	var err error // valid after done
	done := make(chan struct{})
	go func() {
		defer close(done)
		if s.options.TLS != nil {
			err = srv.ServeTLS(l, "", "")
			return
		}
		err = srv.Serve(l)
	}()
	select {
	case <-ctx.Done():
	case <-done:
	}
	closed := s.close(mounted)
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
	defer cancel()
	if srv.Shutdown(ending) != nil {
		_ = srv.Close() // of clients that do not read
	}
	<-done
	if !errors.Is(err, http.ErrServerClosed) {
		return errors.Join(fmt.Errorf("serve HTTP: %w", err), closed)
	}
	return closed
}

// close lets probes fail, and closes mounted.
func (s *Server) close(mounted []io.Closer) error {
	s.end(errShutdown)
	s.refusals.close()
	errs := make([]error, len(mounted))
	var all sync.WaitGroup
	for i, m := range mounted {
		all.Go(func() { errs[i] = m.Close() })
	}
	all.Wait()
	return errors.Join(errs...)
}
