package stdio

import (
	"context"
	"log/slog"
	"runtime/debug"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"
)

// edge repairs mcp-go's handling of a single message. It knows no transport.
type edge struct {
	core   *mcpserver.MCPServer
	log    *slog.Logger
	memory *memory
}

// exchange has mcp-go answer a request and returns the reply as a line.
// Everything the handler sends meanwhile has been passed to emit, in order,
// before exchange returns; what it sends later, from a goroutine it left
// behind, is refused. emit is called by one goroutine at a time.
//
// mcp-go's transport pumps notifications beside the replies, so 295 of 300
// progress messages came after the result they belong to.
func (e *edge) exchange(ctx context.Context, p *peer, m message, emit func(line []byte)) []byte {
	if ctx.Err() != nil {
		f := fault{m.id, mcp.INTERNAL_ERROR, "not started: " + context.Cause(ctx).Error()}
		return f.encode()
	}
	box := newMailbox(ctx, func(n mcp.JSONRPCNotification) {
		if line, ok := e.encodeNotification(withToken(n, m.token)); ok {
			emit(line)
		}
	})
	defer box.close()
	a, ok := e.memory.ask(m, p)
	if !ok {
		return e.call(e.core.WithContext(ctx, &session{p, box}), m)
	}
	line := e.memory.answer(m.id, a)
	if line == nil {
		line = e.call(e.core.WithContext(ctx, &session{p, box}), m)
		e.memory.keep(m.id, a, line)
	}
	return line
}

// call runs HandleMessage, which does not recover panics.
func (e *edge) call(ctx context.Context, m message) (line []byte) {
	defer e.recovered(m.method, func() {
		line = (&fault{m.id, mcp.INTERNAL_ERROR, "internal error"}).encode()
	})
	line, err := encodeReply(m.id, notFound(m, e.core.HandleMessage(ctx, m.raw)))
	if err != nil {
		// mcp-go's transport then sends nothing at all, and the client waits.
		e.log.Error("encode reply", "method", m.method, "id", string(m.id), "err", err)
		line = (&fault{m.id, mcp.INTERNAL_ERROR, "internal error: the result cannot be encoded"}).encode()
	}
	return line
}

// notFound gives the error of a resource that its handler did not find the code
// that the specification has for it: mcp-go has one for all errors of handlers.
func notFound(m message, reply mcp.JSONRPCMessage) mcp.JSONRPCMessage {
	failed, ok := reply.(mcp.JSONRPCError)
	if !ok || m.method != string(mcp.MethodResourcesRead) || failed.Error.Code != mcp.INTERNAL_ERROR ||
		!strings.HasSuffix(failed.Error.Message, mcpserver.ErrResourceNotFound.Error()) {
		return reply
	}
	failed.Error.Code = mcp.RESOURCE_NOT_FOUND
	if m.modern {
		failed.Error.Code = mcp.INVALID_PARAMS
	}
	return failed
}

// notify hands a client's notification to mcp-go.
func (e *edge) notify(ctx context.Context, s *session, m message) {
	defer e.recovered(m.method, func() {})
	e.core.HandleMessage(e.core.WithContext(ctx, s), m.raw)
}

// encodeNotification runs in the goroutine of a mailbox, where a panic of a
// MarshalJSON would end the process.
func (e *edge) encodeNotification(n mcp.JSONRPCNotification) (line []byte, ok bool) {
	defer e.recovered(n.Method, func() { line, ok = nil, false })
	line, err := encode(n)
	if err != nil {
		e.log.Error("encode notification", "method", n.Method, "err", err)
	}
	return line, err == nil
}

// recovered is deferred around code that is not ours. It logs a panic and
// calls then.
func (e *edge) recovered(method string, then func()) {
	if p := recover(); p != nil {
		e.log.Error("panic in a handler", "method", method, "panic", p, "stack", string(debug.Stack()))
		then()
	}
}
