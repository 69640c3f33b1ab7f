package transport

import (
	"context"
	"errors"
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

	// Refused is told of a request that is refused for what its sender is, or may
	// not do. The default ignores it.
	Refused func(r *http.Request, reason string)

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
	if c.Refused == nil {
		c.Refused = func(*http.Request, string) {}
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

// Paths at which clients expect the endpoints.
const (
	Path        = "/mcp"     // [HTTP]
	SSEPath     = "/sse"     // [HTTP.SSE]: the stream
	MessagePath = "/message" // and where its clients post
)

// For pages of other origins (CORS): the methods and headers of requests, and the
// header of answers that clients read.
const (
	Methods       = "GET, POST, DELETE"
	Headers       = "Accept, Authorization, Content-Type, Last-Event-ID, Mcp-Method, Mcp-Name, MCP-Protocol-Version, " + SessionHeader
	SessionHeader = "Mcp-Session-Id"
)

// HTTP serves MCP over Streamable HTTP: as a handler it is the endpoint. Requests act
// for the principal of their context. It must be closed.
//
// It bounds how long clients take for their messages and for answers; the server that
// it is mounted in has to bound how long they take for what is not read here (see
// [http.Server]'s ReadTimeout and WriteTimeout).
type HTTP struct {
	edge
	options  HTTPOptions
	bodies   bodies
	calls    *table
	sessions *sessions
	replays  *replays
	sse      *sseClients

	ctx  context.Context // of all requests; its end ends them
	stop context.CancelCauseFunc
}

// NewHTTP returns a handler that serves b. options may be nil.
func NewHTTP(b Backend, options *HTTPOptions) *HTTP {
	o := options.withDefaults()
	h := &HTTP{
		edge:    b.edge(o.Logger),
		options: o,
		bodies:  newBodies(o.Patience / 2), // which leaves time to read it
		calls:   newTable(o.Calls, o.Queue, 32*o.MaxBody, o.Streams),
		replays: &replays{keep: o.Resume, byID: map[string]*replay{}},
		sse:     &sseClients{byID: map[string]*sseClient{}},
	}
	h.ctx, h.stop = context.WithCancelCause(context.Background())
	h.sessions = newSessions(h)
	return h
}

var (
	errShutdown = errors.New("the server is shutting down")
	errReplaced = errors.New("another stream has taken its place")
)

// ServeHTTP is the endpoint of Streamable HTTP.
func (h *HTTP) ServeHTTP(w http.ResponseWriter, r *http.Request) { h.unrepeated(h.streamable)(w, r) }

// SSE returns the endpoints of the deprecated transport, HTTP with server-sent
// events: where clients open a stream, and where they post.
func (h *HTTP) SSE() (stream, messages http.Handler) {
	return h.unrepeated(h.openSSE), h.unrepeated(h.postSSE)
}

// unrepeated returns a handler that refuses requests with two of a header that has
// one value: a gateway in front of the server may have looked at the other.
func (h *HTTP) unrepeated(handle http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if refused := repeated(r); refused != nil {
			h.options.Refused(r, refused.fault.message)
			refused.write(newAnswer(w, h.options))
			return
		}
		handle(w, r)
	}
}

func repeated(r *http.Request) *refusal {
	for _, name := range []string{"Authorization", "Content-Encoding", "Content-Type", "Last-Event-Id", mcp.HeaderMethod, mcp.HeaderName, SessionHeader, mcp.HeaderProtocolVersion, "Origin"} {
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

// principalOf returns who sends a request.
func principalOf(r *http.Request) identity.Principal { return identity.FromContext(r.Context()) }

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
