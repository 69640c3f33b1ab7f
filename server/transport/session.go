package transport

import (
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/skillsmcp/skills-mcp/server/rpc"

	"github.com/skillsmcp/skills-mcp/server/identity"
)

// session is what mcp-go sees of a client: who it is, and where notifications
// go. There is one for every request, because the only thing that tells mcp-go
// which request a notification belongs to is the session in the context, and
// one more for broadcasts.
type session struct {
	*peer
	*mailbox
	emit   func(line []byte) // writes to where the request is answered; nil for broadcasts
	failed *rpc.Error        // of the handler, by OnError, in the goroutine of the request
	other  *rpc.Other        // likewise
}

var (
	_ mcpserver.ClientSession                       = (*session)(nil)
	_ mcpserver.SessionWithResourceSubscriptionsErr = (*session)(nil)
	_ mcpserver.SessionWithLogging                  = (*session)(nil)
	_ mcpserver.SessionWithClientInfo               = (*session)(nil)
	_ mcpserver.SessionWithProtocolVersion          = (*session)(nil)
)

// peer is what lasts of a client between its requests. A modern request brings
// a peer of its own: mcp-go writes the client's name and capabilities into
// every modern request's session and initialises it, which would turn a
// client that never asked into one that gets broadcasts.
type peer struct {
	id        string
	principal identity.Principal // owns what requests create; other peers may have the same
	group     string             // of a modern client over HTTP: its program and machine
	conn      string             // and connection

	asked         asked         // of a legacy client
	subscriptions subscriptions // to resources

	mu           sync.RWMutex // guards what follows; taken by the methods
	greeted      bool         // mcp-go has accepted initialize
	ready        bool         // and the client can know it
	level        mcp.LoggingLevel
	info         mcp.Implementation
	capabilities mcp.ClientCapabilities
	version      string
}

// newPeer returns a client that acts for p, whose session is the peer.
func newPeer(id string, p identity.Principal) *peer {
	return &peer{id: id, principal: p.In(id), level: mcp.LoggingLevelError}
}

// newModernPeer returns the client of one request that acts for p. It ends with the
// request; p's session, if it has one, does not.
func newModernPeer(id string, p identity.Principal) *peer {
	return &peer{id: id, principal: p, level: mcp.LoggingLevelError, ready: true}
}

func (p *peer) SessionID() string { return p.id }

// Principal returns who the client acts for. All requests of one stream have the same.
func (p *peer) Principal() identity.Principal { return p.principal }

// Share tells the clients of one principal apart, where it may have several: by their
// connections, and by their names for themselves and their addresses. It is for fair
// turns only, as nobody proves any of it: tasks, outputs and kept sandboxes belong to
// Principal.
func (p *peer) Share() (group, connection string) { return p.group, p.conn }

// introduce tells of a modern client what its request says.
func (p *peer) introduce(info *mcpserver.RequestProtocolInfo) {
	p.SetClientCapabilities(*info.ClientCapabilities)
	if info.ClientInfo != nil {
		p.SetClientInfo(*info.ClientInfo)
	}
}

// Initialize is called by mcp-go before the reply to initialize is written, so
// the session does not count as initialised yet: a change notice would reach
// the client ahead of the reply.
func (p *peer) Initialize() { set(p, &p.greeted, true) }

// welcome lets notifications go to a client that has initialised. The caller
// has written the reply and has read nothing since: a notice missed until now
// is about something the client has not seen.
func (p *peer) welcome() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ready = p.greeted
}

func (p *peer) Initialized() bool { return get(p, &p.ready) }

func (p *peer) SetLogLevel(l mcp.LoggingLevel)     { set(p, &p.level, l) }
func (p *peer) GetLogLevel() mcp.LoggingLevel      { return get(p, &p.level) }
func (p *peer) SetClientInfo(i mcp.Implementation) { set(p, &p.info, i) }
func (p *peer) GetClientInfo() mcp.Implementation  { return get(p, &p.info) }
func (p *peer) SetProtocolVersion(v string)        { set(p, &p.version, v) }
func (p *peer) ProtocolVersion() string            { return get(p, &p.version) }

func (p *peer) SetClientCapabilities(c mcp.ClientCapabilities) { set(p, &p.capabilities, c) }
func (p *peer) GetClientCapabilities() mcp.ClientCapabilities  { return get(p, &p.capabilities) }

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
