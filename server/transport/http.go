package transport

import (
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/skillsmcp/skills-mcp/server/identity"
)

// HTTPOptions tune [NewHTTP]. A zero field means its default.
type HTTPOptions struct {
	// Logger gets what the operator must know. The default discards it.
	Logger *slog.Logger

	// Authorize proves who sends a request. ok is false for one that may not. The
	// default lets everybody in as the anonymous principal.
	Authorize func(*http.Request) (p identity.Principal, ok bool)

	// Ready says why the server cannot serve yet, for [ReadyPath]. The default is
	// that it can.
	Ready func() error

	// Hosts are further names that clients may call the server by, without port.
	// On a loopback address, localhost and loopback addresses always are; on any
	// other, all names are unless some are given here.
	Hosts []string

	// Origins are web pages that may use the server, such as
	// "https://app.example.com", beside those of its own address, or of its name
	// where that is one of Hosts, and, on a loopback address, those of this
	// machine.
	Origins []string

	// SSE offers the deprecated transport too, HTTP with server-sent events.
	SSE bool

	// MaxBody is the longest message read, in bytes; 4 MiB.
	MaxBody int

	// Calls is how many requests are handled at once, 128, and Queue how many
	// wait for a place, 1024. One more is answered with status 503.
	Calls, Queue int

	// Streams is how many streams of notices are open at once, 1024.
	Streams int

	// Sessions is how many legacy clients there may be, 1000. Where there are
	// more, the one that has been silent longest goes.
	Sessions int

	// SessionIdle is how long a legacy client may be silent, without a stream or
	// a call, before its session ends; 30 minutes.
	SessionIdle time.Duration

	// Resume is the time a legacy client has, after it lost a call's connection, to
	// come back for the answer; 1 minute.
	Resume time.Duration

	// KeepAlive is how often something is sent on a stream that is silent, so
	// that nobody between takes it for dead; 15 s.
	KeepAlive time.Duration

	// Patience is how long a client may take to send a message or to take one;
	// 30 s.
	Patience time.Duration

	// Grace is how long cancelled handlers have to return, 2 s.
	Grace time.Duration
}

func (o *HTTPOptions) withDefaults() HTTPOptions {
	var c HTTPOptions
	if o != nil {
		c = *o
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Ready == nil {
		c.Ready = func() error { return nil }
	}
	if c.Authorize == nil {
		c.Authorize = func(*http.Request) (identity.Principal, bool) { return identity.Principal{}, true }
	}
	orDefault(&c.MaxBody, 4<<20)
	orDefault(&c.Calls, 128)
	orDefault(&c.Queue, 1024)
	orDefault(&c.Streams, 1024)
	orDefault(&c.Sessions, 1000)
	orDefault(&c.SessionIdle, 30*time.Minute)
	orDefault(&c.Resume, time.Minute)
	orDefault(&c.KeepAlive, 15*time.Second)
	orDefault(&c.Patience, 30*time.Second)
	orDefault(&c.Grace, 2*time.Second)
	return c
}

// Where the endpoints are.
const (
	Path        = "/mcp"     // Streamable HTTP
	SSEPath     = "/sse"     // the deprecated transport: its stream
	MessagePath = "/message" // and where its clients post
	HealthPath  = "/healthz" // whether the server runs, for everybody
	ReadyPath   = "/readyz"  // whether it can serve
)

// HTTP serves MCP over HTTP, as an [http.Handler] for all the paths above. It must
// be closed.
type HTTP struct {
	edge
	options  HTTPOptions
	guard    guard
	refused  refusals
	bodies   bodies
	calls    *table
	sessions *sessions
	replays  *replays
	sse      *sseClients // nil where they are not offered
	mux      *http.ServeMux

	ctx  context.Context // of all requests; its end ends them
	stop context.CancelCauseFunc
}

// NewHTTP returns a handler that serves b. options may be nil.
func NewHTTP(b Backend, options *HTTPOptions) *HTTP {
	o := options.withDefaults()
	h := &HTTP{
		edge:    b.edge(o.Logger),
		options: o,
		guard:   newGuard(o.Hosts, o.Origins),
		refused: refusals{log: o.Logger},
		bodies:  newBodies(o.Patience / 2), // which leaves time to read it
		calls:   newTable(o.Calls, o.Queue, 32*o.MaxBody, o.Streams),
		mux:     http.NewServeMux(),
	}
	h.ctx, h.stop = context.WithCancelCause(context.Background())
	h.replays = &replays{keep: o.Resume, byID: map[string]*replay{}}
	h.sessions = newSessions(h)
	h.mux.HandleFunc(Path, h.streamable)
	h.mux.HandleFunc("/", h.elsewhere)
	if o.SSE {
		h.sse = &sseClients{byID: map[string]*sseClient{}}
		h.mux.HandleFunc(SSEPath, h.openSSE)
		h.mux.HandleFunc(MessagePath, h.postSSE)
	}
	return h
}

// elsewhere says where the endpoint is.
func (h *HTTP) elsewhere(w http.ResponseWriter, r *http.Request) {
	text := "MCP is served at " + Path
	if h.sse == nil && (r.URL.Path == SSEPath || r.URL.Path == MessagePath) {
		text += "; the deprecated " + SSEPath + " is there with --transport sse"
	}
	http.Error(w, text, http.StatusNotFound)
}

var (
	errShutdown = errors.New("the server is shutting down")
	errReplaced = errors.New("another stream has taken its place")
)

// ServeHTTP lets in who may, and serves the endpoint.
func (h *HTTP) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.hurry(w)
	if r.URL.Path == HealthPath || r.URL.Path == ReadyPath {
		h.health(w, r)
		return
	}
	if refused := h.guard.check(r); refused != "" {
		h.refused.note(r, refused)
		http.Error(w, refused, http.StatusForbidden)
		return
	}
	if h.guard.share(w, r) {
		return
	}
	if refused := repeated(r); refused != nil {
		h.refused.note(r, refused.fault.message)
		refused.write(newAnswer(w, h.options))
		return
	}
	principal, ok := h.options.Authorize(r)
	if !ok {
		h.refused.note(r, tokenReason(r))
		w.Header().Set("WWW-Authenticate", "Bearer")
		http.Error(w, "the bearer token of the server is needed: Authorization: Bearer TOKEN", http.StatusUnauthorized)
		return
	}
	h.mux.ServeHTTP(w, r.WithContext(identity.NewContext(r.Context(), principal)))
}

func tokenReason(r *http.Request) string {
	if r.Header.Get("Authorization") == "" {
		return "it has no token"
	}
	return "its token is not the server's"
}

// repeated refuses a request with two of a header that has one value: a gateway
// in front of the server may have looked at the other.
func repeated(r *http.Request) *refusal {
	for _, name := range []string{"Authorization", "Content-Encoding", "Content-Type", "Last-Event-Id", mcp.HeaderMethod, mcp.HeaderName, sessionHeader, mcp.HeaderProtocolVersion, "Origin"} {
		if len(r.Header[name]) > 1 {
			code := mcp.INVALID_REQUEST
			if slices.ContainsFunc(r.Header[mcp.HeaderProtocolVersion], mcp.IsModernProtocol) {
				code = mcp.HEADER_MISMATCH
			}
			return refuse(http.StatusBadRequest, code, "the header "+name+" is there twice")
		}
	}
	return nil
}

// hurry bounds how long a client may take to send its request, and to take an
// answer that is given at once. What takes longer sets deadlines of its own:
// net/http itself reads what is left of a body that nobody wanted, and waits for
// it without end.
func (h *HTTP) hurry(w http.ResponseWriter) {
	control, end := http.NewResponseController(w), time.Now().Add(h.options.Patience)
	_ = control.SetReadDeadline(end) // where it can be set
	_ = control.SetWriteDeadline(end)
}

// health answers probes, which call the server by any name and have no token.
func (h *HTTP) health(w http.ResponseWriter, r *http.Request) {
	if err := cmp.Or(context.Cause(h.ctx), h.ready(r)); err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	_, _ = io.WriteString(w, "ok\n")
}

func (h *HTTP) ready(r *http.Request) error {
	if r.URL.Path == HealthPath {
		return nil
	}
	return h.options.Ready()
}

// principalOf returns who sends a request, as [HTTPOptions.Authorize] proved it.
func principalOf(r *http.Request) identity.Principal { return identity.FromContext(r.Context()) }

// streamable is the endpoint of Streamable HTTP.
func (h *HTTP) streamable(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Method == http.MethodPost:
		h.post(w, r)
	case isModernHeader(r): // POST is all there is
		refuseMethod(w, http.MethodPost)
	case r.Method == http.MethodGet:
		h.get(w, r)
	case r.Method == http.MethodDelete:
		h.delete(w, r)
	default:
		refuseMethod(w, "GET, POST, DELETE")
	}
}

func refuseMethod(w http.ResponseWriter, allowed string) {
	w.Header().Set("Allow", allowed)
	http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
}

// Close ends all requests, streams and sessions, and waits for them. The error is
// [ErrAbandoned] where a handler ignores its context. New requests are refused.
func (h *HTTP) Close() error {
	h.stop(errShutdown)
	h.refused.close()
	h.calls.close()
	h.calls.endStreams(errShutdown)
	end := time.Now().Add(h.options.Grace)
	idle := within(h.options.Grace, h.calls.idle)
	gone := within(max(time.Until(end), released), h.sessions.close())
	if !idle || !gone {
		h.log.Warn("stopped while requests were still running", "requests", h.calls.count())
		return ErrAbandoned
	}
	return nil
}
