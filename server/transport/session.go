package transport

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/rpc"
)

// A session is a client as mcp-go knows it, with a channel for notifications. There
// is one for every request, because the session in the context is all that tells
// mcp-go which request a notification belongs to, and one more for broadcasts.
type session struct {
	*peer
	*mailbox
	emit   func(line []byte) // writes to where the request is answered; nil for broadcasts
	failed *rpc.Error        // of the handler, by OnError, in the goroutine of the request
	other  *rpc.Other        // likewise

	toolFailed bool // likewise, by AfterCallTool
}

var (
	_ mcpserver.ClientSession                       = (*session)(nil)
	_ mcpserver.SessionWithResourceSubscriptionsErr = (*session)(nil)
	_ mcpserver.SessionWithLogging                  = (*session)(nil)
	_ mcpserver.SessionWithClientInfo               = (*session)(nil)
	_ mcpserver.SessionWithProtocolVersion          = (*session)(nil)
)

// A peer is the state of a client between its requests. A modern request brings a
// peer of its own: mcp-go writes the client's name and capabilities into every modern
// request's session and initializes it, and an initialized session gets broadcasts.
type peer struct {
	id        string
	principal identity.Principal // owns what requests create; other peers may have the same
	group     string             // of a modern client over HTTP: its program and machine
	conn      string             // and connection
	began     time.Time          // of a legacy client

	pending pendingRequests // of a legacy client
	lists   <-chan struct{} // [Backend.Lists]; nil for the peer of one request
	notices *notices        // to a legacy client

	mu           sync.RWMutex // guards the fields below; taken by the methods
	initialized  bool         // mcp-go has accepted initialize
	ready        bool         // and the client has the reply
	level        mcp.LoggingLevel
	info         mcp.Implementation
	capabilities mcp.ClientCapabilities
	version      string
	subscribed   map[string]struct{} // URIs of the resources whose changes the client is notified of
}

// The ids of clients begin with the way by which they came.
const (
	stdioKind = "stdio"
	httpKind  = "http"
)

// newPeer returns a legacy client that acts for p, whose session is the peer. lists is
// closed when they can change.
func newPeer(id string, p identity.Principal, lists <-chan struct{}) *peer {
	return &peer{id: id, principal: p.In(id), level: mcp.LoggingLevelError, lists: lists, began: time.Now()}
}

// newModernPeer returns the client of one request that acts for p. It ends with the
// request; p's session, if it has one, does not.
func newModernPeer(id string, p identity.Principal) *peer {
	return &peer{id: id, principal: p, level: mcp.LoggingLevelError, ready: true}
}

// clientOf describes a peer to an [Observer].
func clientOf(p *peer) Client {
	return Client{p.principal, p.ProtocolVersion(), strings.HasPrefix(p.id, stdioKind), !strings.HasPrefix(p.id, httpKind)}
}

func (p *peer) SessionID() string { return p.id }

// Principal returns who the client acts for. All requests of one stream have the same.
func (p *peer) Principal() identity.Principal { return p.principal }

// Share tells the clients of one principal apart, where it may have several: by their
// connections, and by their names for themselves and their addresses. It is for fair
// turns only, as nobody proves any of it: tasks, outputs and kept sandboxes belong to
// Principal.
func (p *peer) Share() (group, connection string) { return p.group, p.conn }

// describe sets the client's name and capabilities to those of a modern request.
func (p *peer) describe(info *mcpserver.RequestProtocolInfo) {
	p.SetClientCapabilities(*info.ClientCapabilities)
	if info.ClientInfo != nil {
		p.SetClientInfo(*info.ClientInfo)
	}
}

// Initialize is called by mcp-go before the reply to initialize is written. The
// session does not count as initialized yet: a change notice would reach the client
// ahead of the reply.
func (p *peer) Initialize() { set(p, &p.initialized, true) }

// welcome opens the session for notifications. The reply to initialize has been
// written, and nothing read since: a notice missed until now is about something the
// client has not seen.
func (p *peer) welcome() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ready = p.initialized
}

// Initialized reports whether the client can be notified of changes.
func (p *peer) Initialized() bool {
	return get(p, &p.ready) && (p.lists == nil || isClosed(p.lists))
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func (p *peer) SetLogLevel(l mcp.LoggingLevel) { set(p, &p.level, l) }

func (p *peer) GetLogLevel() mcp.LoggingLevel { return get(p, &p.level) }

func (p *peer) SetClientInfo(i mcp.Implementation) { set(p, &p.info, i) }

func (p *peer) GetClientInfo() mcp.Implementation { return get(p, &p.info) }

func (p *peer) SetProtocolVersion(v string) { set(p, &p.version, v) }

func (p *peer) ProtocolVersion() string { return get(p, &p.version) }

func (p *peer) SetClientCapabilities(c mcp.ClientCapabilities) { set(p, &p.capabilities, c) }

func (p *peer) GetClientCapabilities() mcp.ClientCapabilities { return get(p, &p.capabilities) }

func set[T any](p *peer, field *T, value T) {
	p.mu.Lock()
	defer p.mu.Unlock()
	*field = value
}

func get[T any](p *peer, field *T) T {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return *field
}

// pendingRequests are the server's requests that a client has not answered yet.
type pendingRequests struct {
	mu      sync.Mutex // guards the fields below
	last    int
	waiting map[string]chan answer // by id; each has room for its one answer
}

type answer struct {
	result json.RawMessage
	failed *AnswerError
}

// An AnswerError is a client's answer to a request that is no result.
type AnswerError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func (e *AnswerError) Error() string {
	return fmt.Sprintf("the client answered with error %d: %s", e.Code, e.Message)
}

func (p *pendingRequests) open() (id string, answered <-chan answer, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.waiting) >= maxRequests {
		return "", nil, fmt.Errorf("%d requests wait for this client already", maxRequests)
	}
	if p.waiting == nil {
		p.waiting = map[string]chan answer{}
	}
	p.last++
	id = fmt.Sprintf("ask-%d", p.last)
	c := make(chan answer, 1)
	p.waiting[id] = c
	return id, c, nil
}

func (p *pendingRequests) forget(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.waiting, id)
}

// answer delivers a client's response to the request that waits for it. It reports
// false where none does.
func (p *pendingRequests) answer(m message) bool {
	var id string
	if json.Unmarshal(m.id, &id) != nil {
		return false
	}
	p.mu.Lock()
	waits := p.waiting[id]
	delete(p.waiting, id)
	p.mu.Unlock()
	if waits == nil {
		return false
	}
	waits <- answerOf(m)
	return true
}

// maxRequests is how many requests may wait for one client.
const maxRequests = 64

// answerOf reads a response.
func answerOf(m message) answer {
	var wire struct {
		Result json.RawMessage `json:"result"`
		Error  json.RawMessage `json:"error"`
	}
	_ = json.Unmarshal(m.raw, &wire) // parse has read it
	if wire.Error == nil {
		return answer{result: wire.Result}
	}
	var failed AnswerError
	if json.Unmarshal(wire.Error, &failed) != nil {
		failed = AnswerError{Message: "unreadable"}
	}
	return answer{failed: &failed}
}

// maxSubscribed is how long the URI of a subscription may be, in bytes.
const maxSubscribed = 4 << 10

// SubscribeToResourceErr is called by mcp-go in place of SubscribeToResource. Its
// errors are for [OnError]: mcp-go reports all as a missing resource.
func (p *peer) SubscribeToResourceErr(uri string) error {
	if len(uri) > maxSubscribed {
		return rpc.InvalidParams(fmt.Sprintf("the URI is longer than %d bytes", maxSubscribed), nil)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, again := p.subscribed[uri]; !again && len(p.subscribed) >= maxSubscriptions {
		return &rpc.Error{Code: mcp.INTERNAL_ERROR, Message: fmt.Sprintf("there are %d subscriptions already: unsubscribe from some", maxSubscriptions)}
	}
	if p.subscribed == nil {
		p.subscribed = map[string]struct{}{}
	}
	p.subscribed[uri] = struct{}{}
	return nil
}

func (p *peer) SubscribeToResource(uri string) { _ = p.SubscribeToResourceErr(uri) }

func (p *peer) UnsubscribeFromResource(uri string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.subscribed, uri)
}

func (p *peer) SubscribedResources() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Collect(maps.Keys(p.subscribed))
}

func (p *peer) IsSubscribedToResource(uri string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, ok := p.subscribed[uri]
	return ok
}
