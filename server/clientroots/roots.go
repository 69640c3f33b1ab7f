// Package clientroots caches the roots of legacy clients: the folders that they work in,
// which can be the workspaces of their calls.
//
// Start with [New], and [Cache.Hook] and [Cache.Changed] for the server; each call gets
// its client's from [Cache.Of].
package clientroots

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/skillsmcp/skills-mcp/server/transport"
)

// patience is the deadline for a client's answer. Clients answer without asking a person.
const patience = 3 * time.Second

// A Cache has the workspaces of clients by session. It may be used concurrently.
type Cache struct {
	choose func(folders []string) (workspaces []string)
	logger *slog.Logger

	mu      sync.Mutex // guards the fields below
	entries map[string]*entry
}

// An entry has the workspaces of one session.
type entry struct {
	turn       chan struct{} // holds a value while the fields below are used
	known      bool
	workspaces []string
}

// New returns a cache of the workspaces that choose returns for a client's folders:
// absolute, clean paths, up to 8, which may not exist. If choose is nil, no client is
// asked.
func New(choose func(folders []string) (workspaces []string), logger *slog.Logger) *Cache {
	return &Cache{choose: choose, logger: logger, entries: map[string]*entry{}}
}

// Of returns the workspaces of the client of ctx, a handler's context; none if it
// declares no roots. A session's first call asks the client, and concurrent calls wait
// for it. The result, also an empty one after the deadline, is valid until the client
// reports a change.
func (c *Cache) Of(ctx context.Context) []string {
	if c.choose == nil || !offers(ctx) {
		return nil
	}
	p := c.entry(sessionOf(ctx))
	select {
	case p.turn <- struct{}{}:
		defer func() { <-p.turn }()
	case <-ctx.Done():
		return nil
	}
	if !p.known {
		p.workspaces, p.known = c.ask(ctx)
	}
	return p.workspaces
}

// Hook removes sessions that end or initialize again.
func (c *Cache) Hook(hooks *mcpserver.Hooks) {
	hooks.AddAfterInitialize(func(ctx context.Context, _ any, _ *mcp.InitializeRequest, _ *mcp.InitializeResult) {
		c.forget(sessionOf(ctx))
	})
	hooks.AddOnUnregisterSession(func(_ context.Context, session mcpserver.ClientSession) { c.forget(session.SessionID()) })
}

// Changed handles notifications/roots/list_changed: the next call asks the client again.
// Calls that wait for an answer get the older one.
func (c *Cache) Changed(ctx context.Context, _ mcp.JSONRPCNotification) { c.forget(sessionOf(ctx)) }

func (c *Cache) forget(session string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.entries, session)
}

func (c *Cache) entry(session string) *entry {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := c.entries[session]
	if p == nil {
		p = &entry{turn: make(chan struct{}, 1)}
		c.entries[session] = p
	}
	return p
}

// ask asks the client. known is false if the call has ended meanwhile, so that the next
// call asks.
func (c *Cache) ask(ctx context.Context) (workspaces []string, known bool) {
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
		c.logger.Warn("the client does not tell its roots", "error", err)
		return nil, true
	}
	workspaces = c.choose(folders)
	c.logger.Info("the client told its roots", "folders", folders, "workspaces", workspaces)
	return workspaces, true
}

// offers reports whether a client can be asked. Modern clients cannot: roots are
// deprecated, and the answer would be lost with the request.
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

// maxRoots is the number of a client's roots that are used.
const maxRoots = 8

// parse returns the folders in an answer to roots/list. It ignores URIs that are not
// files of this machine.
func parse(answer []byte) (folders []string, err error) {
	var list struct {
		Roots []struct {
			URI string `json:"uri"`
		} `json:"roots"`
	}
	if err := json.Unmarshal(answer, &list); err != nil {
		return nil, fmt.Errorf("read roots: %w", err)
	}
	for _, root := range list.Roots {
		folder, err := folderOf(root.URI)
		if err == nil && len(folders) < maxRoots {
			folders = append(folders, folder)
		}
	}
	return folders, nil
}

// folderOf returns the absolute, clean path of a file:// URI (RFC 8089).
func folderOf(uri string) (string, error) {
	u, err := url.Parse(uri)
	switch {
	case err != nil:
		return "", err
	case u.Scheme != "file", u.Host != "" && u.Host != "localhost", u.User != nil, u.RawQuery != "", u.Fragment != "":
		return "", errors.New("not a file of this machine")
	}
	path := filepath.FromSlash(u.Path)
	if drive := strings.TrimPrefix(path, string(filepath.Separator)); filepath.VolumeName(drive) != "" {
		path = drive // file:///C:/shop
	}
	// Two separators begin the name of another machine's folder on Windows.
	if !filepath.IsAbs(path) || strings.HasPrefix(filepath.ToSlash(path), "//") || strings.ContainsRune(path, 0) {
		return "", errors.New("not an absolute path")
	}
	return filepath.Clean(path), nil
}
