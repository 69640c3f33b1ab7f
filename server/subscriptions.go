package server

import (
	"context"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/skillsmcp/skills-mcp/server/skillsext"
)

// subscriptions knows whom to tell that a file of a skill has changed. The
// sessions know which files that are.
type subscriptions struct {
	mu       sync.Mutex
	sessions map[string]mcpserver.SessionWithResourceSubscriptions // those that are registered
	// digests are of the files that are subscribed to, when they were last looked
	// at; "" is a file that is not there.
	digests map[string]string
}

func newSubscriptions() *subscriptions {
	return &subscriptions{sessions: map[string]mcpserver.SessionWithResourceSubscriptions{}, digests: map[string]string{}}
}

// hook notices sessions, and what they subscribe to.
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
		s.keep(ctx, library(), in.Params.URI)
	})
	hooks.AddBeforeSubscriptionsListen(func(ctx context.Context, _ any, in *mcp.SubscriptionsListenRequest) {
		s.keep(ctx, library(), in.Params.Notifications.ResourceSubscriptions...)
	})
}

// How many files are looked at for one request, and are remembered. Of others, the
// first change of their skill is told, whatever has changed.
const (
	maxLooks   = 64
	maxDigests = 4096
)

// keep notes what files are at the beginning of a subscription.
func (s *subscriptions) keep(ctx context.Context, library *skillsext.Library, uris ...string) {
	for _, uri := range uris[:min(len(uris), maxLooks)] {
		digest := library.Digest(ctx, uri)
		s.mu.Lock()
		if _, known := s.digests[uri]; !known && digest != "" && len(s.digests) < maxDigests {
			s.digests[uri] = digest
		}
		s.mu.Unlock()
	}
}

// subscribed returns who has subscribed, by URI, and forgets the digests of all
// other files.
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

// changed notes what a file is now, and reports whether it was something else. A
// file that nobody looked at before may have been.
func (s *subscriptions) changed(uri, digest string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	before, known := s.digests[uri]
	s.digests[uri] = digest
	return !known || before != digest
}

// updated tells the sessions that subscribed to it of each file that another
// catalog has changed. Only files of skills that were read again are looked at.
func (s *Server) updated(before, after *skillsext.Library) {
	for uri, sessions := range s.subscriptions.subscribed() {
		if before.Skill(uri) == after.Skill(uri) || !s.subscriptions.changed(uri, after.Digest(context.Background(), uri)) {
			continue
		}
		for _, id := range sessions {
			// A client that is gone needs no notice.
			_ = s.core.SendNotificationToSpecificClient(id, mcp.MethodNotificationResourceUpdated, map[string]any{"uri": uri})
		}
	}
}
