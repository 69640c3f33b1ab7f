package telemetry

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/semconv/v1.41.0/mcpconv"
	"go.opentelemetry.io/otel/trace"

	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/transport"
	"github.com/skillsmcp/skills-mcp/skills/lazyregexp"
)

// RequestHeader carries the id of a request, from a trusted proxy and in the answer.
const RequestHeader = "X-Request-Id"

// other stands for all names that the server does not know: clients could invent any
// number.
const other = "_OTHER"

// A request is an entry of the access log until it is written.
type request struct {
	id string

	mu        sync.Mutex // guards the fields below
	principal identity.Principal
	method    string // of MCP; "" is none
	tool      string
	outcome   string
}

// methodNotFound is the error of JSON-RPC for a method that there is not.
const methodNotFound = -32601

type requestKey struct{}

// requestID returns the id of the request of ctx, or "".
func requestID(ctx context.Context) string {
	if r, ok := ctx.Value(requestKey{}).(*request); ok {
		return r.id
	}
	return ""
}

// Around returns a handler that gives requests their id and the trace of their headers, and
// logs them. A URL can hold a link that signs in, so the route is logged in its place.
func (t *Telemetry) Around(next http.Handler) http.Handler {
	if t == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began, entry, counted := time.Now(), &request{id: idFrom(r)}, &countingWriter{ResponseWriter: w, status: http.StatusOK}
		w.Header().Set(RequestHeader, entry.id)
		ctx := context.WithValue(r.Context(), requestKey{}, entry)
		r = r.WithContext(t.wire.Extract(ctx, propagation.HeaderCarrier(r.Header)))
		next.ServeHTTP(counted, r)
		entry.mu.Lock()
		defer entry.mu.Unlock()
		t.logRequest(ctx, entry, time.Since(began), "http_method", r.Method, "route", r.Pattern, "status", counted.status, "bytes", counted.bytes, "client", r.RemoteAddr)
	})
}

// idFrom returns the id that a trusted proxy has given a request, or a new one. Package httpd
// has removed those of others.
func idFrom(r *http.Request) string {
	id := r.Header.Get(RequestHeader)
	if len(id) > 64 || !wellFormed.MatchString(id) {
		return rand.Text()[:16]
	}
	return id
}

var wellFormed = lazyregexp.New(`^[A-Za-z0-9._-]+$`)

func (t *Telemetry) logRequest(ctx context.Context, r *request, took time.Duration, more ...any) {
	if t.log == nil {
		return
	}
	attributes := []any{"request", r.id, who(r.principal), "duration", took}
	if r.method != "" {
		attributes = append(attributes, "method", r.method, "tool", r.tool, "outcome", r.outcome)
	}
	t.log.InfoContext(ctx, "request", append(attributes, more...)...)
}

// A countingWriter counts the bytes of an answer.
type countingWriter struct {
	http.ResponseWriter
	status, bytes int
}

func (w *countingWriter) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

func (w *countingWriter) Write(p []byte) (int, error) {
	n, err := w.ResponseWriter.Write(p)
	w.bytes += n
	return n, err
}

// Unwrap is for [http.ResponseController].
func (w *countingWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// An Authenticator proves who sends a request, as that of package httpd does.
type Authenticator interface {
	Authenticate(r *http.Request) (identity.Principal, error)
}

// Authenticator returns an authenticator that notes who next proves, and counts its refusals.
// nil stays nil.
func (t *Telemetry) Authenticator(next Authenticator) Authenticator {
	if t == nil || next == nil {
		return next
	}
	return authenticator{t, next}
}

type authenticator struct {
	t    *Telemetry
	next Authenticator
}

func (a authenticator) Authenticate(r *http.Request) (identity.Principal, error) {
	p, err := a.next.Authenticate(r)
	if c, refused := errors.AsType[*identity.Challenge](err); refused {
		a.t.authRefused.Add(r.Context(), 1, metric.WithAttributes(attribute.Int("http.response.status_code", c.Status)))
	}
	if entry, ok := r.Context().Value(requestKey{}).(*request); ok {
		entry.mu.Lock()
		entry.principal = p
		entry.mu.Unlock()
	}
	return p, err
}

// Span returns a handler with a span of a name for each request: for those that are not
// MCP's.
func (t *Telemetry) Span(name string, next http.Handler) http.Handler {
	if t == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, span := t.tracer.Start(r.Context(), r.Method+" "+name, trace.WithSpanKind(trace.SpanKindServer), trace.WithAttributes(attribute.String("http.request.method", r.Method), attribute.String("http.route", name)))
		defer span.End()
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// Observer returns the observer of MCP's requests; nil is none.
func (t *Telemetry) Observer() transport.Observer {
	if t == nil {
		return nil
	}
	return observer{t}
}

type observer struct{ *Telemetry }

// Begin implements [transport.Observer].
func (t observer) Begin(ctx context.Context, r transport.Observed) (context.Context, func(transport.Ended)) {
	began := time.Now()
	var params struct {
		Name string `json:"name"`
		Meta struct {
			Parent string `json:"traceparent"`
			State  string `json:"tracestate"`
		} `json:"_meta"`
	}
	_ = json.Unmarshal(r.Params, &params) // fields of another type stay empty: the handler refuses them
	ctx, links := t.parent(ctx, propagation.MapCarrier{"traceparent": params.Meta.Parent, "tracestate": params.Meta.State})
	name, tool, attributes := r.Method, "", attributesOf(r.Client)
	if r.Method == string(mcpconv.MethodNameToolsCall) {
		tool = other
		if r.HasTool(params.Name) {
			tool = params.Name
			name += " " + tool
		}
		attributes = append(attributes, t.operations.AttrGenAIToolName(tool), t.operations.AttrGenAIOperationName(mcpconv.GenAIOperationNameExecuteTool))
	}
	ctx, span := t.tracer.Start(ctx, name, trace.WithSpanKind(trace.SpanKindServer), trace.WithLinks(links...), trace.WithTimestamp(began))
	entry, own := t.entry(ctx, r, tool)
	if own {
		ctx = context.WithValue(ctx, requestKey{}, entry)
	}
	return ctx, func(e transport.Ended) {
		method, outcome := r.Method, outcomeOfRequest(e)
		if e.Code == methodNotFound {
			method = other
			span.SetName(other)
		}
		if outcome != "ok" {
			attributes = append(attributes, t.operations.AttrErrorType(mcpconv.ErrorTypeAttr(outcome)))
			span.SetStatus(codes.Error, "")
		}
		if e.Code != 0 {
			attributes = append(attributes, t.operations.AttrRPCResponseStatusCode(outcome))
		}
		t.operations.Record(ctx, seconds(began), mcpconv.MethodNameAttr(method), attributes...)
		span.SetAttributes(append(attributes, attribute.String("mcp.method.name", method), attribute.String("jsonrpc.request.id", idOf(r.ID)))...)
		span.End()
		entry.mu.Lock()
		defer entry.mu.Unlock()
		entry.method, entry.outcome = method, outcome
		if own {
			t.logRequest(ctx, entry, time.Since(began), "bytes", e.Bytes)
		}
	}
}

// parent returns the context of a span whose parent is the trace of _meta. That of the HTTP
// request, which may serve several messages, is a link then, and else the parent.
func (t observer) parent(ctx context.Context, meta propagation.MapCarrier) (context.Context, []trace.Link) {
	sent := trace.SpanContextFromContext(t.wire.Extract(context.Background(), meta))
	if !sent.IsValid() {
		return ctx, nil
	}
	var links []trace.Link
	if ambient := trace.SpanContextFromContext(ctx); ambient.IsValid() {
		links = append(links, trace.Link{SpanContext: ambient})
	}
	return trace.ContextWithSpanContext(ctx, sent), links
}

// entry returns the entry of the access log for a request: that of its POST, or, for one of
// a stream of many, an own one.
func (t observer) entry(ctx context.Context, r transport.Observed, tool string) (_ *request, own bool) {
	entry, ok := ctx.Value(requestKey{}).(*request)
	if ok && !r.Stream {
		entry.mu.Lock()
		defer entry.mu.Unlock()
		entry.principal, entry.tool = r.Principal, tool
		return entry, false
	}
	return &request{id: rand.Text()[:16], principal: r.Principal, tool: tool}, true
}

// SessionEnded implements [transport.Observer].
func (t observer) SessionEnded(began time.Time, c transport.Client) {
	t.sessions.Record(context.Background(), seconds(began), attributesOf(c)...)
}

// attributesOf returns the attributes of the conventions by which a client's requests came.
func attributesOf(c transport.Client) []attribute.KeyValue {
	var of mcpconv.ServerOperationDuration
	all := []attribute.KeyValue{of.AttrNetworkTransport(mcpconv.NetworkTransportPipe)}
	if !c.Pipe {
		all = []attribute.KeyValue{of.AttrNetworkTransport(mcpconv.NetworkTransportTCP), of.AttrNetworkProtocolName("http")}
	}
	if c.Version != "" {
		all = append(all, of.AttrProtocolVersion(c.Version))
	}
	if c.Principal.Profile != "" {
		all = append(all, attribute.String(profileKey, c.Principal.Profile))
	}
	return all
}

// profileKey is the attribute that tells the measures of profiles apart.
const profileKey = "skills_mcp.profile"

// outcomeOfRequest returns "ok", or error.type as the conventions for MCP have it.
func outcomeOfRequest(e transport.Ended) string {
	switch {
	case e.Code != 0:
		return strconv.Itoa(e.Code)
	case e.ToolFailed:
		return "tool_error"
	}
	return "ok"
}

// idOf returns the id of a request as text.
func idOf(id json.RawMessage) string {
	var text string
	if json.Unmarshal(id, &text) == nil {
		return text
	}
	return string(id)
}
