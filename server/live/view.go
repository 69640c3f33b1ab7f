package live

import (
	"context"
	"slices"

	"github.com/skillsmcp/skills-mcp/skills"
)

// A View shows the catalogs of a [Reloader] to one publisher, through a filter of its own.
// Its methods may be called from any goroutine.
type View struct {
	reloader  *Reloader
	filter    Filter          // nil removes nothing
	publisher Publisher       // set by Attach
	shown     *skills.Catalog // that was published last; guarded by the reloader's turn
}

// View returns a view with a filter, which is applied after those of all views; nil removes
// nothing.
func (r *Reloader) View(filter Filter) *View { return &View{reloader: r, filter: filter} }

// Attach publishes the current catalog, if there is one, and all later ones, until Detach is
// called. It is called once. The error is that ctx is done.
func (v *View) Attach(ctx context.Context, publisher Publisher) error {
	r := v.reloader
	if err := r.begin(ctx); err != nil {
		return err
	}
	defer r.end()
	v.publisher = publisher
	r.views = append(r.views, v)
	if catalog := r.published.Load(); catalog != nil {
		v.publish(ctx, catalog, true)
		if r.searched {
			publisher.Activate(r.active)
		}
	}
	return nil
}

// Detach ends the publications. One that has begun is awaited.
func (v *View) Detach() {
	_ = v.reloader.begin(context.Background())
	defer v.reloader.end()
	v.reloader.views = slices.DeleteFunc(v.reloader.views, func(other *View) bool { return other == v })
}

// publish publishes a catalog of the reloader, unless the filter leaves the one that is shown
// and it is not published again. The caller has the turn.
func (v *View) publish(ctx context.Context, catalog *skills.Catalog, again bool) (shown *skills.Catalog, changed bool) {
	if v.filter != nil {
		catalog = v.filter.Apply(ctx, catalog)
	}
	if catalog == v.shown && !again {
		return catalog, false
	}
	v.shown = catalog
	return catalog, v.publisher.Publish(catalog)
}

// Reload scans all roots and publishes the catalog. It returns the view's, and whether the
// tools that its clients know have changed.
func (v *View) Reload(ctx context.Context) (catalog *skills.Catalog, changed bool, err error) {
	return v.reloader.reload(ctx, v, v.reloader.scanner.Scan)
}

// Refresh does as [Reloader.Refresh].
func (v *View) Refresh(ctx context.Context, skill *skills.Skill) error {
	return v.reloader.Refresh(ctx, skill)
}
