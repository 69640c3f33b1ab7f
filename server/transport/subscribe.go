package transport

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/skillsmcp/skills-mcp/server/rpc"
)

// maxSubscriptions is how many resources a client may subscribe to, and
// maxSubscribed how long the URI of one may be, in bytes.
const (
	maxSubscriptions = 1024
	maxSubscribed    = 4 << 10
)

// subscriptions are the resources that a client wants to know the changes of.
type subscriptions struct {
	mu   sync.Mutex // guards uris
	uris map[string]struct{}
}

// SubscribeToResourceErr is asked by mcp-go in place of SubscribeToResource. Its
// errors are for [OnError]: mcp-go says of all that there is no such resource.
func (p *peer) SubscribeToResourceErr(uri string) error {
	if len(uri) > maxSubscribed {
		return rpc.InvalidParams(fmt.Sprintf("the URI is longer than %d bytes", maxSubscribed), nil)
	}
	s := &p.subscriptions
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, again := s.uris[uri]; !again && len(s.uris) >= maxSubscriptions {
		return &rpc.Error{Code: mcp.INTERNAL_ERROR, Message: fmt.Sprintf("there are %d subscriptions already: unsubscribe from some", maxSubscriptions)}
	}
	if s.uris == nil {
		s.uris = map[string]struct{}{}
	}
	s.uris[uri] = struct{}{}
	return nil
}

func (p *peer) SubscribeToResource(uri string) { _ = p.SubscribeToResourceErr(uri) }

func (p *peer) UnsubscribeFromResource(uri string) {
	s := &p.subscriptions
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.uris, uri)
}

func (p *peer) SubscribedResources() []string {
	s := &p.subscriptions
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Keys(s.uris))
}

func (p *peer) IsSubscribedToResource(uri string) bool {
	s := &p.subscriptions
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.uris[uri]
	return ok
}
