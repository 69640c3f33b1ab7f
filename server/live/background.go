package live

import (
	"context"
	"log/slog"

	"github.com/skillsmcp/skills-mcp/server/requirements"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/activation"
)

// newest holds the newest catalog that was put and not yet taken.
type newest chan *skills.Catalog

func newNewest() newest { return make(newest, 1) }

// put replaces the catalog that is held. Calls do not overlap.
func (n newest) put(catalog *skills.Catalog) {
	select {
	case <-n: // an older one
	default:
	}
	n <- catalog
}

// each calls work with the newest catalog, one at a time, until ctx is done.
func (n newest) each(ctx context.Context, work func(context.Context, *skills.Catalog)) {
	for {
		select {
		case <-ctx.Done():
			return
		case catalog := <-n:
			work(ctx, catalog)
		}
	}
}

// learn finds out which programs the sandboxes of a catalog's skills have, and
// publishes the catalog again where that changes which skills are available.
func (r *Reloader) learn(ctx context.Context, catalog *skills.Catalog) {
	roles := requirements.Wants(catalog.Skills...)
	if len(roles) == 0 {
		return
	}
	changed, err := r.options.Gate.Learn(ctx, r.options.Runner, roles)
	if err != nil && ctx.Err() == nil {
		r.options.Logger.Info("what programs sandboxes have is not known", "error", err)
	}
	if changed {
		_, _, _ = r.reload(ctx, r.rescan(nil)) // its error is that ctx is done
	}
}

// activate searches the workspaces for the files that a catalog's skills are for.
// It is not part of a reload: a workspace may be large, and nobody should wait.
func (r *Reloader) activate(ctx context.Context, catalog *skills.Catalog) {
	active := Active(ctx, catalog, r.options.Workspaces, r.options.Logger)
	if ctx.Err() != nil {
		return
	}
	changed := r.publisher.Activate(active)
	r.options.Logger.Debug("looked for files that skills are for", "active", len(active), "tools_changed", changed)
}

// Active returns the qualified names of the skills that the workspaces, absolute
// host folders, have files for. It logs where they are too large to search.
func Active(ctx context.Context, catalog *skills.Catalog, workspaces []string, logger *slog.Logger) map[string]bool {
	if len(workspaces) == 0 || !activation.Wanted(catalog) {
		return nil
	}
	active, complete := activation.Find(ctx, catalog, workspaces, nil)
	if !complete && ctx.Err() == nil {
		logger.Info("the workspaces are too large to look at every file; skills with paths may not come first", "active", len(active))
	}
	return active
}
