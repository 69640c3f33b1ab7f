// Package clientroots learns which folders a legacy client works in, what MCP calls
// its roots, so that they can be the workspaces of its calls.
//
// Start with [New], and [Book.Hook] and [Book.Changed] for the server; each call of
// a client asks [Book.Of].
package clientroots

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/skillsmcp/skills-mcp/server/transport"
)

// patience is how long a client's answer is waited for. Those that answer do so
// by themselves, without asking a person.
const patience = 3 * time.Second

// A Book knows the workspaces of the clients that were asked. It may be used
// concurrently.
type Book struct {
	choose func(folders []string) (workspaces []string)
	logger *slog.Logger

	mu    sync.Mutex // guards what follows
	pages map[string]*page
}

// page is what is known of one session.
type page struct {
	turn       chan struct{} // full while somebody asks, or looks at what follows
	known      bool
	workspaces []string
}

// New returns a book of the workspaces that choose makes of the folders that a
// client names: absolute, clean paths, up to 8, which may not be there. No client
// is asked where choose is nil.
func New(choose func(folders []string) (workspaces []string), logger *slog.Logger) *Book {
	return &Book{choose: choose, logger: logger, pages: map[string]*page{}}
}

// Of returns the workspaces of the client that ctx, a handler's, is of; none where
// it offers none. A session's first call asks the client, and all wait for that.
// What came of it, be it nothing in time, holds until its roots change.
func (b *Book) Of(ctx context.Context) []string {
	if b.choose == nil || !offers(ctx) {
		return nil
	}
	p := b.page(sessionOf(ctx))
	select {
	case p.turn <- struct{}{}:
		defer func() { <-p.turn }()
	case <-ctx.Done():
		return nil
	}
	if !p.known {
		p.workspaces, p.known = b.ask(ctx)
	}
	return p.workspaces
}

// Hook has sessions forgotten that end, and those that begin anew.
func (b *Book) Hook(hooks *mcpserver.Hooks) {
	hooks.AddAfterInitialize(func(ctx context.Context, _ any, _ *mcp.InitializeRequest, _ *mcp.InitializeResult) {
		b.forget(sessionOf(ctx))
	})
	hooks.AddOnUnregisterSession(func(_ context.Context, session mcpserver.ClientSession) { b.forget(session.SessionID()) })
}

// Changed handles notifications/roots/list_changed: the client is asked again. Who
// waits for an answer gets the older one.
func (b *Book) Changed(ctx context.Context, _ mcp.JSONRPCNotification) { b.forget(sessionOf(ctx)) }

func (b *Book) forget(session string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.pages, session)
}

func (b *Book) page(session string) *page {
	b.mu.Lock()
	defer b.mu.Unlock()
	p := b.pages[session]
	if p == nil {
		p = &page{turn: make(chan struct{}, 1)}
		b.pages[session] = p
	}
	return p
}

// ask asks the client. known is false where the call has ended meanwhile, so that
// the next one asks.
func (b *Book) ask(ctx context.Context) (workspaces []string, known bool) {
	asking, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var folders []string
	answer, err := transport.Request(asking, string(mcp.MethodListRoots), struct{}{})
	if err == nil {
		folders, err = parse(answer)
	}
	switch {
	case ctx.Err() != nil:
		return nil, false
	case err != nil:
		b.logger.Warn("the client does not tell its roots", "error", err)
		return nil, true
	}
	workspaces = b.choose(folders)
	b.logger.Info("the client told its roots", "folders", folders, "workspaces", workspaces)
	return workspaces, true
}

// offers reports whether a client can be asked. Modern ones cannot: roots are
// deprecated, and what was asked of one request would be gone with it.
func offers(ctx context.Context) bool {
	client, ok := mcpserver.ClientSessionFromContext(ctx).(mcpserver.SessionWithClientInfo)
	return ok && !mcpserver.IsModernRequest(ctx) && client.GetClientCapabilities().Roots != nil
}

func sessionOf(ctx context.Context) string {
	if session := mcpserver.ClientSessionFromContext(ctx); session != nil {
		return session.SessionID()
	}
	return ""
}
