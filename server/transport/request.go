package transport

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"
)

// ErrNoRequests is returned by [Request] for a client of the modern protocol, in which
// servers send no requests, and for one that has not declared the capability.
var ErrNoRequests = errors.New("the client takes no such request")

// Request sends a request to the legacy client of ctx, a handler's context:
// elicitation/create, sampling/createMessage or roots/list. It waits for the answer
// until ctx is done. The error is [ErrNoRequests], an [*AnswerError], or the cause of
// ctx.
func Request(ctx context.Context, method string, params any) (result json.RawMessage, err error) {
	s, ok := mcpserver.ClientSessionFromContext(ctx).(*session)
	if !ok || mcpserver.IsModernRequest(ctx) || !answers(s.GetClientCapabilities(), method) {
		return nil, ErrNoRequests
	}
	return s.request(ctx, method, params)
}

// answers reports whether a client with these capabilities answers a method.
func answers(c mcp.ClientCapabilities, method string) bool {
	switch mcp.MCPMethod(method) {
	case mcp.MethodElicitationCreate:
		return c.Elicitation != nil
	case mcp.MethodSamplingCreateMessage:
		return c.Sampling != nil
	case mcp.MethodListRoots:
		return c.Roots != nil
	}
	return false
}

func (s *session) request(ctx context.Context, method string, params any) (json.RawMessage, error) {
	id, answered, err := s.pending.open()
	if err != nil {
		return nil, err
	}
	defer s.pending.forget(id)
	line, err := encode(map[string]any{"jsonrpc": mcp.JSONRPC_VERSION, "id": id, "method": method, "params": params})
	if err != nil {
		return nil, fmt.Errorf("encode request: %w", err)
	}
	s.emit(line)
	select {
	case a := <-answered:
		if a.failed != nil {
			return nil, a.failed
		}
		return a.result, nil
	case <-ctx.Done():
		s.withdraw(id)
		return nil, context.Cause(ctx)
	}
}

// withdraw cancels a request that waits for the client's answer.
func (s *session) withdraw(id string) {
	line, _ := encode(map[string]any{
		"jsonrpc": mcp.JSONRPC_VERSION, "method": string(mcp.MethodNotificationCancelled),
		"params": map[string]any{"requestId": id, "reason": "the call has ended"},
	})
	s.emit(line)
}
