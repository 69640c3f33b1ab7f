package main

import (
	"context"

	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/activation"
)

// activator looks, beside the server, for the skills that the workspaces have
// files for: a workspace may be large, and nobody should wait for that.
type activator struct {
	settings *settings
	catalogs chan *skills.Catalog // the newest one that was not looked at; holds one
	cancel   context.CancelFunc
	done     chan struct{} // closed when the goroutine of start ends
}

func newActivator(s *settings) *activator {
	return &activator{settings: s, catalogs: make(chan *skills.Catalog, 1), cancel: func() {}, done: make(chan struct{})}
}

// scan reads the roots, as a server's Load, and has the workspaces looked at for
// what it found. Calls do not overlap.
func (a *activator) scan(ctx context.Context) (*skills.Catalog, error) {
	catalog, err := a.settings.scan(ctx)
	if err != nil {
		return nil, err
	}
	select {
	case <-a.catalogs: // an older one
	default:
	}
	a.catalogs <- catalog
	return catalog, nil
}

// start looks at the workspaces once for each catalog that was scanned, and
// gives [server.Server.Activate] what it found, until the activator is closed.
// It is called once.
func (a *activator) start(ctx context.Context, activate func(map[string]bool) (changed bool)) {
	ctx, a.cancel = context.WithCancel(ctx)
	go func() {
		defer close(a.done)
		for {
			select {
			case <-ctx.Done():
				return
			case catalog := <-a.catalogs:
				a.look(ctx, activate, catalog)
			}
		}
	}()
}

func (a *activator) look(ctx context.Context, activate func(map[string]bool) bool, catalog *skills.Catalog) {
	var active map[string]bool
	if len(a.settings.workspaces) > 0 && activation.Wanted(catalog) {
		active = a.settings.active(ctx, catalog)
	}
	if ctx.Err() == nil {
		changed := activate(active)
		a.settings.logger.Debug("looked for files that skills are for", "active", len(active), "tools_changed", changed)
	}
}

// close ends what start began.
func (a *activator) close() {
	a.cancel()
	<-a.done
}
