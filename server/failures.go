package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/skillsmcp/skills-mcp/server/elicit"
	"github.com/skillsmcp/skills-mcp/server/result"
	"github.com/skillsmcp/skills-mcp/server/rpc"
	"github.com/skillsmcp/skills-mcp/server/run"
)

// failed is the structured content of a failed call.
type failed struct {
	Error *run.Error `json:"error"`
}

// failures answers requests that have failed. The model is told the remedy, and the log
// the cause.
type failures struct{ logger *slog.Logger }

// answer returns the answer to a tool call that ended with an error: a result for the
// model, or an error of the protocol. An [*rpc.Other] stays an error, because mcp-go's
// handlers can return no result of another type.
func (f failures) answer(err error) (*mcp.CallToolResult, error) {
	var protocol *rpc.Error
	var other *rpc.Other
	if errors.As(err, &protocol) || errors.As(err, &other) {
		return nil, err
	}
	return f.result(err), nil
}

// result returns the result of a failed call.
func (f failures) result(err error) *mcp.CallToolResult {
	e := run.AsError(err).ForModel()
	if e.Code == run.InternalError || e.Code == run.Unavailable {
		f.logger.Warn("a call failed", "code", e.Code, "error", err, "cause", e.Err)
	}
	return &mcp.CallToolResult{
		IsError:           true,
		Content:           []mcp.Content{mcp.NewTextContent(fmt.Sprintf("%s: %s", e.Code, e.Message))},
		StructuredContent: failed{e},
	}
}

// protocol returns the error for a prompt or a resource, whose result cannot be an
// error: an [*rpc.Error] with the message that a tool would return, or nil if neither
// r nor err is an error.
func (f failures) protocol(r *mcp.CallToolResult, err error) error {
	if err == nil && !r.IsError {
		return nil
	}
	if failed := (*rpc.Error)(nil); errors.As(err, &failed) {
		return failed
	}
	code := mcp.INTERNAL_ERROR
	if err != nil {
		if e := run.AsError(err); e.Code == run.InvalidParam || e.Code == run.NotFound {
			code = mcp.INVALID_PARAMS
		}
		r = f.result(err)
	}
	return &rpc.Error{Code: code, Message: result.Texts(r.Content)}
}

// recover is deferred where a panic would end the server. It logs a panic and passes
// the error for the client to then.
func (f failures) recover(then func(error)) {
	if p := recover(); p != nil {
		f.logger.Error("panic in a call", "panic", p, "stack", string(debug.Stack()))
		then(&run.Error{Code: run.InternalError, Message: "internal error"})
	}
}

// missingCapability returns the [*rpc.Error] for a modern client whose call ended
// because it has not declared a capability, or nil for any other error.
func missingCapability(ctx context.Context, err error) error {
	missing, ok := errors.AsType[*elicit.MissingError](err)
	if !ok || missing.Capability == "" || !mcpserver.IsModernRequest(ctx) {
		return nil
	}
	return &rpc.Error{
		Code: mcp.MISSING_REQUIRED_CLIENT_CAPABILITY, Message: err.Error(),
		Data: map[string]any{"requiredCapabilities": map[string]any{missing.Capability: struct{}{}}},
	}
}

// notFound returns the error for a prompt or a resource that does not exist.
func notFound(kind, name string) error {
	return rpc.InvalidParams(fmt.Sprintf("there is no %s %q", kind, name), nil)
}
