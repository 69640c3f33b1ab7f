package live

import (
	"context"
	"log/slog"

	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/activation"
)

// newest is a queue of one catalog: the newest replaces one that was not yet handled.
type newest chan *skills.Catalog

func newNewest() newest { return make(newest, 1) }

// put replaces the queued catalog. Calls do not overlap.
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

// Active returns the qualified names of the skills that the workspaces, absolute
// host folders, have files for. It logs if they are too large to search.
func Active(ctx context.Context, catalog *skills.Catalog, workspaces []string, logger *slog.Logger) map[string]bool {
	if len(workspaces) == 0 || !activation.Wanted(catalog) {
		return nil
	}
	active, complete := activation.Find(ctx, catalog, workspaces)
	if !complete && ctx.Err() == nil {
		logger.Info("the workspaces are too large to look at every file; skills with paths may not come first", "active", len(active))
	}
	return active
}
