package transport

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/rpc"
)

// A Backend is the server behind the transports. Only Core is required.
type Backend struct {
	// Core is mcp-go's server, with [OnError] among its hooks.
	Core *mcpserver.MCPServer

	// Info is the server's name and version.
	Info mcp.Implementation

	// Methods are the methods that mcp-go does not know, by name.
	Methods map[string]rpc.Method

	// Scope returns the scope that a request of a method needs, with the name and the URI
	// of its params; nil needs [identity.ScopeRead] for all. It must not block.
	Scope func(method, name, uri string) identity.Scope

	// State returns the number of the tools' state, which differs after each change
	// and is odd during one. If it is set, the answer to tools/list is encoded once
	// for each state. It must not block.
	State func() uint64

	// Announcements are put ahead of results of tools; nil are none.
	Announcements Announcements

	// Lists is closed when lists are answered, with subscriptions to their changes, and
	// Calls when all other requests are; nil is closed. Until then they wait, initialize
	// and server/discover at most connectTime, and ping not at all. Before Lists, no
	// change notices are sent: no client has a list that could have changed.
	Lists, Calls <-chan struct{}
}

// Announcements are texts that a model gets ahead of the result of a tool.
type Announcements interface {
	// Pending reports whether some may wait for a principal. It must be fast.
	Pending(who identity.Principal) bool
	// Take has those used that wait for a principal, and reports whether they count as told:
	// none is taken twice. It is called immediately before a result is written, and holds up
	// what else is written to the client. use prepares all that is to be written, as a
	// process that ends after Take and before the write loses them; it may be called again.
	Take(who identity.Principal, use func(texts []string)) bool
	// Harmless returns an encoded message without texts that could pass for announcements.
	Harmless(message []byte) []byte
}

func newEdge(b Backend, o Options) edge {
	ready := make(chan struct{})
	close(ready)
	b.Lists, b.Calls = cmp.Or(b.Lists, ready), cmp.Or(b.Calls, ready)
	return edge{Backend: b, log: o.Logger, lists: &listCache{state: b.State}, observer: o.Observer}
}

// An edge handles single messages by mcp-go, and repairs its faults. It knows no
// transport.
type edge struct {
	Backend
	log      *slog.Logger
	lists    *listCache
	observer Observer // nil for none
}

// exchange handles a request and returns the reply as a line. Notifications of the
// handler have been passed to emit, in order, before exchange returns; later ones, of
// a goroutine that outlives the handler, are dropped. Requests to the client go to
// emit too, so that it may be called concurrently.
//
// mcp-go's transport pumps notifications beside the replies, so 295 of 300
// progress messages came after the result they belong to.
func (e *edge) exchange(ctx context.Context, p *peer, m message, emit func(line []byte)) []byte {
	e.await(ctx, m.method)
	ctx, ended := e.begin(ctx, p, m) // it knows the tools now
	line, toolFailed := e.reply(ctx, p, m, emit)
	if ended != nil {
		ended(line, toolFailed)
	}
	return line
}

// reply returns the reply to a request, and whether it is a tool's result with isError.
func (e *edge) reply(ctx context.Context, p *peer, m message, emit func(line []byte)) (line []byte, toolFailed bool) {
	if ctx.Err() != nil {
		f := rpcError{id: m.id, code: mcp.INTERNAL_ERROR, message: "not started: " + context.Cause(ctx).Error()}
		return f.encode(), false
	}
	a, ok := e.lists.ask(m, p)
	if ok {
		if line := e.lists.answer(m.id, a); line != nil {
			return line, false
		}
	}
	tell := func(line []byte) { emit(e.harmless(line)) }
	box := newMailbox(ctx, func(n mcp.JSONRPCNotification) {
		if line, ok := e.encodeNotification(withToken(n, m.token)); ok {
			tell(line)
		}
	})
	defer box.close()
	s := &session{peer: p, mailbox: box, emit: tell}
	line = e.call(ctx, s, m)
	if !readsSkill(m) && !e.Methods[m.method].Announces {
		line = e.harmless(line)
	}
	if ok {
		e.lists.store(m.id, a, line)
	}
	return line, s.toolFailed
}

// readsSkill reports whether a message reads a file of a skill, which keeps its digest.
func readsSkill(m message) bool {
	var in struct{ URI string }
	return m.method == string(mcp.MethodResourcesRead) && json.Unmarshal(m.params, &in) == nil && strings.HasPrefix(in.URI, "skill://")
}

// begin tells the observer of a request. ended, which is called with its reply, is nil if
// nobody observes.
func (e *edge) begin(ctx context.Context, p *peer, m message) (_ context.Context, ended func(reply []byte, toolFailed bool)) {
	if e.observer == nil {
		return ctx, nil
	}
	client := clientOf(p)
	if m.version != "" {
		client.Version = m.version
	}
	id := m.id // m itself would go to the heap, also where nobody observes
	ctx, end := e.observer.Begin(ctx, Observed{client, m.method, m.id, m.params, func(name string) bool { return e.Core.GetTool(name) != nil }})
	return ctx, func(reply []byte, toolFailed bool) {
		code, _ := errorCode(id, reply)
		end(Ended{code, toolFailed, len(reply)})
	}
}

// unregister ends the session of a legacy client.
func (e *edge) unregister(p *peer) {
	e.Core.UnregisterSession(context.Background(), p.id)
	if e.observer != nil {
		e.observer.SessionEnded(p.began, clientOf(p))
	}
}

// AfterCallTool is a hook for the results of tools: a failed one is told to the [Observer].
func AfterCallTool(ctx context.Context, _ any, _ *mcp.CallToolRequest, result any) {
	s, ok := mcpserver.ClientSessionFromContext(ctx).(*session)
	if r, is := result.(*mcp.CallToolResult); ok && is && r != nil {
		s.toolFailed = r.IsError
	}
}

// connectTime bounds the wait of initialize and server/discover for the first catalog. Few
// skills are read in that time, and then a client never sees a server without them.
const connectTime = 100 * time.Millisecond

// await returns when a request of a method can be answered, or ctx is done.
func (e *edge) await(ctx context.Context, method string) {
	if isClosed(e.Calls) {
		return
	}
	ready := e.Calls
	switch mcp.MCPMethod(method) {
	case mcp.MethodPing:
		return
	case mcp.MethodInitialize, mcp.MethodServerDiscover:
		timed, cancel := context.WithTimeout(ctx, connectTime)
		defer cancel()
		ctx = timed
	case mcp.MethodSubscriptionsListen, mcp.MethodSetLogLevel:
		ready = e.Lists
	}
	if strings.HasSuffix(method, "/list") {
		ready = e.Lists
	}
	select {
	case <-ready:
	case <-ctx.Done():
	}
}

// call handles a request and recovers its panics, which HandleMessage does not.
func (e *edge) call(ctx context.Context, s *session, m message) (line []byte) {
	defer e.recovered(m.method, func() {
		line = (&rpcError{id: m.id, code: mcp.INTERNAL_ERROR, message: "internal error"}).encode()
	})
	ctx = e.Core.WithContext(ctx, s)
	if method, ok := e.Methods[m.method]; ok {
		return e.extension(ctx, s.peer, m, method)
	}
	reply := e.Core.HandleMessage(ctx, m.raw)
	if s.other != nil {
		return e.result(m, s.other.Result, rpc.Method{})
	}
	line, err := encodeReply(m.id, s.withErrorCode(m, reply))
	return e.encoded(m, line, err)
}

// harmless returns a message as [Announcements.Harmless] does. Those of skills pass here.
func (e *edge) harmless(line []byte) []byte {
	if e.Announcements == nil {
		return line
	}
	return e.Announcements.Harmless(line)
}

// encoded returns a line, or with an error the reply for a result that cannot be encoded.
// mcp-go's transport sends nothing at all then, and the client waits.
func (e *edge) encoded(m message, line []byte, err error) []byte {
	if err == nil {
		return line
	}
	e.log.Error("encode reply", "method", m.method, "id", string(m.id), "err", err)
	return (&rpcError{id: m.id, code: mcp.INTERNAL_ERROR, message: "internal error: the result cannot be encoded"}).encode()
}

// OnError is a hook for the errors of mcp-go's handlers. It answers the request with
// an [*rpc.Error] or an [*rpc.Other]: mcp-go has one code for all errors, and for
// params that it cannot decode its decoder's message, with types of Go.
func OnError(ctx context.Context, _ any, method mcp.MCPMethod, _ any, err error) {
	s, ok := mcpserver.ClientSessionFromContext(ctx).(*session)
	if !ok || method == "notification" { // one that was not sent; this is another goroutine
		return
	}
	s.failed, _ = errors.AsType[*rpc.Error](err)
	s.other, _ = errors.AsType[*rpc.Other](err)
	if _, ok := errors.AsType[*mcpserver.UnparsableMessageError](err); ok {
		s.failed = rpc.InvalidParams(fmt.Sprintf("the params are not those of %s", method), nil)
	}
}

// withErrorCode returns a handler's error with the code and data of the specification.
func (s *session) withErrorCode(m message, reply mcp.JSONRPCMessage) mcp.JSONRPCMessage {
	failed, ok := reply.(mcp.JSONRPCError)
	switch {
	case !ok:
		return reply
	case s.failed != nil:
		failed.Error = mcp.NewJSONRPCErrorDetails(s.failed.Code, s.failed.Message, s.failed.Data)
	case m.method == string(mcp.MethodResourcesRead) && strings.HasSuffix(failed.Error.Message, mcpserver.ErrResourceNotFound.Error()):
		failed.Error.Code = mcp.RESOURCE_NOT_FOUND
		if m.modern {
			failed.Error.Code = mcp.INVALID_PARAMS
		}
		failed.Error.Data = map[string]any{"uri": m.uri()}
	}
	return failed
}

// dispatch handles a client's notification or response, which has no reply. It passes
// no cancellation to mcp-go, which would look it up by the float64 of its id, which
// different requests may share; keyOf returns the id's key in calls.
func (e *edge) dispatch(ctx context.Context, s *session, m message, calls *table, keyOf func(id json.RawMessage) string) {
	switch {
	case m.kind == response:
		if !s.pending.answer(m) { // mcp-go answers an error response as an unknown method
			e.log.Debug("ignored a response", "id", string(m.id))
		}
	case m.method == string(mcp.MethodNotificationCancelled):
		id, reason, ok := m.cancellation()
		found := ok && calls.cancel(keyOf(id), &CancelledError{Reason: reason})
		e.log.Debug("cancellation", "id", string(id), "found", found)
	default:
		defer e.recovered(m.method, func() {})
		e.Core.HandleMessage(e.Core.WithContext(ctx, s), m.raw)
	}
}

// encodeNotification returns n as a line. It runs in the goroutine of a mailbox, where
// a panic of a MarshalJSON would end the process.
func (e *edge) encodeNotification(n mcp.JSONRPCNotification) (line []byte, ok bool) {
	defer e.recovered(n.Method, func() { line, ok = nil, false })
	line, err := encode(n)
	if err != nil {
		e.log.Error("encode notification", "method", n.Method, "err", err)
	}
	return line, err == nil
}

// recovered logs a panic and calls then. It is deferred around code that is not ours.
func (e *edge) recovered(method string, then func()) {
	if p := recover(); p != nil {
		e.log.Error("panic in a handler", "method", method, "panic", p, "stack", string(debug.Stack()))
		then()
	}
}

// extension handles a request of a method that mcp-go does not know, as mcp-go
// handles its own.
func (e *edge) extension(ctx context.Context, p *peer, m message, method rpc.Method) []byte {
	info, err := protocolInfo(m)
	if err != nil {
		return failure(m.id, err).encode()
	}
	if info.Modern {
		p.describe(info)
	}
	result, err := method.Handle(mcpserver.WithRequestProtocolInfo(ctx, info), m.params)
	if err != nil {
		e.log.Debug("a method failed", "method", m.method, "err", err)
		return failure(m.id, err).encode()
	}
	return e.result(m, result, method)
}

// result returns the reply with a result that is not mcp-go's.
func (e *edge) result(m message, result any, method rpc.Method) []byte {
	var err error
	if m.modern {
		if result, err = e.modernResult(result, method.Cacheable); err != nil {
			return e.encoded(m, nil, err)
		}
	}
	line, err := encodeResult(m.id, result)
	return e.encoded(m, line, err)
}

// protocolInfo reads the client's name and capabilities from a modern request
// (SEP-2575).
func protocolInfo(m message) (*mcpserver.RequestProtocolInfo, error) {
	var params struct {
		Meta *mcp.Meta `json:"_meta"`
	}
	if !m.modern || json.Unmarshal(m.params, &params) != nil {
		return &mcpserver.RequestProtocolInfo{}, nil
	}
	meta := params.Meta
	info := &mcpserver.RequestProtocolInfo{
		Modern: true, ProtocolVersion: meta.ProtocolVersion(), ClientInfo: meta.ClientInfo(),
		ClientCapabilities: meta.ClientCapabilities(), LogLevel: meta.LogLevel(),
	}
	if info.ClientCapabilities == nil {
		return nil, rpc.InvalidParams("missing or invalid _meta field "+mcp.MetaKeyClientCapabilities, nil)
	}
	return info, nil
}

// modernResult adds the fields of every result of the modern protocol: its type, the
// server's name and, if it is cacheable, for how long.
func (e *edge) modernResult(result any, cacheable bool) (any, error) {
	encoded, err := encode(result)
	if err != nil {
		return nil, err
	}
	meta := map[string]any{mcp.MetaKeyServerInfo: e.Info}
	stamps := map[string]any{"resultType": mcp.ResultTypeComplete}
	if cacheable {
		stamps["ttlMs"], stamps["cacheScope"] = rpc.TTL.Milliseconds(), rpc.Scope
	}
	var fields map[string]json.RawMessage // as they are: a large integer stays whole
	if err := json.Unmarshal(encoded, &fields); err != nil {
		return nil, fmt.Errorf("the result is no object: %w", err)
	}
	for key, value := range fields {
		stamps[key] = value
	}
	if own := fields["_meta"]; own != nil {
		if err := json.Unmarshal(own, &meta); err != nil {
			return nil, fmt.Errorf("the result's _meta is no object: %w", err)
		}
	}
	stamps["_meta"] = meta
	return stamps, nil
}
