package transport

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"
)

// ErrNoRequests is the error of [Request] where the client cannot be asked: it
// speaks the modern protocol, where servers send no requests, or it has not
// declared that it answers such a request.
var ErrNoRequests = errors.New("the client takes no such request")

// maxRequests is how many requests may wait for one client.
const maxRequests = 64

// Request asks the legacy client that ctx, a handler's, is of: for what a person
// says (elicitation/create), what its model says (sampling/createMessage), or its
// roots (roots/list). It waits for the answer until ctx is done. The error is
// [ErrNoRequests], an [*AnswerError], or the cause of ctx.
func Request(ctx context.Context, method string, params any) (result json.RawMessage, err error) {
	s, ok := mcpserver.ClientSessionFromContext(ctx).(*session)
	if !ok || mcpserver.IsModernRequest(ctx) || !answers(s.GetClientCapabilities(), method) {
		return nil, ErrNoRequests
	}
	return s.request(ctx, method, params)
}

// An AnswerError is a client's answer to a request that is no result.
type AnswerError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func (e *AnswerError) Error() string {
	return fmt.Sprintf("the client answered with error %d: %s", e.Code, e.Message)
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
	id, answered, err := s.asked.open()
	if err != nil {
		return nil, err
	}
	defer s.asked.forget(id)
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

// withdraw tells the client that nobody waits for its answer any more.
func (s *session) withdraw(id string) {
	line, _ := encode(map[string]any{
		"jsonrpc": mcp.JSONRPC_VERSION, "method": string(mcp.MethodNotificationCancelled),
		"params": map[string]any{"requestId": id, "reason": "the call has ended"},
	})
	s.emit(line)
}

// asked are the requests that a client has not answered yet.
type asked struct {
	mu      sync.Mutex // guards what follows
	last    int
	waiting map[string]chan answer // by id; each has room for its one answer
}

type answer struct {
	result json.RawMessage
	failed *AnswerError
}

func (a *asked) open() (id string, answered <-chan answer, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.waiting) >= maxRequests {
		return "", nil, fmt.Errorf("%d requests wait for this client already", maxRequests)
	}
	if a.waiting == nil {
		a.waiting = map[string]chan answer{}
	}
	a.last++
	id = fmt.Sprintf("ask-%d", a.last)
	c := make(chan answer, 1)
	a.waiting[id] = c
	return id, c, nil
}

func (a *asked) forget(id string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.waiting, id)
}

// answer takes a client's response to who waits for it, and reports whether
// somebody does.
func (a *asked) answer(m message) bool {
	var id string
	if json.Unmarshal(m.id, &id) != nil {
		return false
	}
	a.mu.Lock()
	waits := a.waiting[id]
	delete(a.waiting, id)
	a.mu.Unlock()
	if waits == nil {
		return false
	}
	waits <- m.answer()
	return true
}
