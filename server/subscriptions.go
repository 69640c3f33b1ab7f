package server

import (
	"context"
	"slices"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/skillsext"
)

// subscriptions notifies sessions of changed files of skills. The sessions hold the
// URIs that they subscribed to.
type subscriptions struct {
	mu       sync.Mutex
	sessions map[string]mcpserver.SessionWithResourceSubscriptions // by id, while registered
	// digests are those of the subscribed files when they were last read; "" stands
	// for a missing file.
	digests map[string]string
}

// hook registers sessions and their subscriptions.
func (s *subscriptions) hook(hooks *mcpserver.Hooks, library func() *skillsext.Library) {
	hooks.AddOnRegisterSession(func(_ context.Context, session mcpserver.ClientSession) {
		if subscribes, ok := session.(mcpserver.SessionWithResourceSubscriptions); ok {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.sessions[session.SessionID()] = subscribes
		}
	})
	hooks.AddOnUnregisterSession(func(_ context.Context, session mcpserver.ClientSession) {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.sessions, session.SessionID())
	})
	hooks.AddAfterSubscribe(func(ctx context.Context, _ any, in *mcp.SubscribeRequest, _ *mcp.EmptyResult) {
		s.track(ctx, library(), in.Params.URI)
	})
	hooks.AddBeforeSubscriptionsListen(func(ctx context.Context, _ any, in *mcp.SubscriptionsListenRequest) {
		s.track(ctx, library(), in.Params.Notifications.ResourceSubscriptions...)
	})
}

// Bounds of the files that are read for one request, and of the digests in memory. For
// other files, the first change of their skill is notified, whichever file it was.
const (
	maxLooks   = 64
	maxDigests = 4096
)

// track stores the digests of files at the beginning of a subscription.
func (s *subscriptions) track(ctx context.Context, library *skillsext.Library, uris ...string) {
	for _, uri := range uris[:min(len(uris), maxLooks)] {
		digest := library.Digest(ctx, uri)
		s.mu.Lock()
		if _, known := s.digests[uri]; !known && digest != "" && len(s.digests) < maxDigests {
			s.digests[uri] = digest
		}
		s.mu.Unlock()
	}
}

// subscribed returns the ids of the subscribed sessions, by URI, and drops the digests
// of all other files.
func (s *subscriptions) subscribed() map[string][]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	by := map[string][]string{}
	for id, session := range s.sessions {
		for _, uri := range session.SubscribedResources() {
			by[uri] = append(by[uri], id)
		}
	}
	for uri := range s.digests {
		if by[uri] == nil {
			delete(s.digests, uri)
		}
	}
	return by
}

// changed stores the digest of a file, and reports whether it differs from the one
// before. A file without one counts as changed.
func (s *subscriptions) changed(uri, digest string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	before, known := s.digests[uri]
	s.digests[uri] = digest
	return !known || before != digest
}

// notify tells the subscribed sessions of each file that changed between two
// libraries. It looks only at files of skills that were read again.
func (s *subscriptions) notify(core *mcpserver.MCPServer, before, after *skillsext.Library) {
	for uri, sessions := range s.subscribed() {
		if before.Skill(uri) == after.Skill(uri) || !s.changed(uri, after.Digest(context.Background(), uri)) {
			continue
		}
		for _, id := range sessions {
			// A client that is gone needs no notification.
			_ = core.SendNotificationToSpecificClient(id, mcp.MethodNotificationResourceUpdated, map[string]any{"uri": uri})
		}
	}
}

// updated tells the subscribed sessions of a principal that a resource of a plugin's server has
// changed.
func (s *subscriptions) updated(core *mcpserver.MCPServer, owner identity.Key, uri string) {
	for _, id := range s.of(owner, uri) {
		_ = core.SendNotificationToSpecificClient(id, mcp.MethodNotificationResourceUpdated, map[string]any{"uri": uri}) // or it is gone
	}
}

// of returns the ids of the sessions of a principal that have subscribed to a resource.
func (s *subscriptions) of(owner identity.Key, uri string) (ids []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, session := range s.sessions {
		if principalOf(session).Key() == owner && slices.Contains(session.SubscribedResources(), uri) {
			ids = append(ids, id)
		}
	}
	return ids
}
