// Package live keeps the catalog that a server publishes fresh: it watches the
// roots, rescans the skills whose files changed, marks those unavailable that
// lack a requirement, publishes the result, and searches the workspaces for the
// files that skills are for.
//
// Start with [New].
package live

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/server/requirements"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/scan"
	"github.com/skillsmcp/skills-mcp/skills/watch"
)

// A Publisher shows catalogs to clients.
type Publisher interface {
	// Publish replaces the catalog. It reports whether the tools that clients know
	// have changed. Calls do not overlap.
	Publish(catalog *skills.Catalog) (changed bool)
	// Activate replaces the set of skills, by qualified name, that the workspaces
	// have files for. It reports whether the tools that clients know have changed.
	Activate(active map[string]bool) (changed bool)
}

// A Watcher reports changed files below the roots, as [watch.Watcher] does.
type Watcher interface {
	// Changes returns the channel of changes. It need not be closed by Close.
	Changes() <-chan watch.Change
	// Limited reports whether changes are missing because the system has no more
	// watches.
	Limited() bool
	// Close stops the watcher and waits for it.
	Close() error
}

// Decisions counts the decisions of the person, which other processes change as well:
// trust in workspaces, rules, approvals, pins.
type Decisions interface {
	// Generation returns a number that differs after each change. It is read before each
	// call of a skill, so it must be fast.
	Generation(ctx context.Context) (int64, error)
}

// A Filter applies decisions to catalogs.
type Filter interface {
	// Apply returns the catalog without the skills that clients must not see, or with
	// changed copies of skills. It returns the same result for the same catalog until a
	// decision changes the result. Calls do not overlap.
	Apply(ctx context.Context, catalog *skills.Catalog) *skills.Catalog
}

// Options configure a [Reloader]. A nil *Options means the defaults.
type Options struct {
	// Expand adds skills to each catalog that is read, before all else. It returns the same
	// result for the same catalog until they change; nil adds none.
	Expand func(*skills.Catalog) *skills.Catalog
	// Requirements marks skills unavailable; nil leaves each skill as it was read.
	Requirements *requirements.Checker
	// Decisions tell when the person has decided something: the trust in workspaces and
	// Filters are then applied again, at the next call of a skill. To have them applied
	// at once, and the clients notified, Watch also watches the stamp of the decisions.
	// nil never changes.
	Decisions Decisions
	// Filters are applied in turn to each catalog, after Requirements.
	Filters []Filter
	// Runner discards the sandboxes that wait for a skill whose files changed, and
	// runs the listing of an image's programs for Requirements; nil does neither.
	Runner *sandbox.Runner
	// Workspaces are the absolute host folders that are searched for the files that
	// skills are for.
	Workspaces []string
	// Provide brings skills into the roots before the first scan, and again after the time that
	// it returns; 0 is never. It must return when ctx is done. nil is not called.
	Provide func(ctx context.Context) (again time.Duration)
	// Watch begins to watch the roots after the first scan; nil leaves changes to Reload and Refresh.
	Watch func() (Watcher, error)
	// Poll is the interval of looks for changes that no watch reports, as those of other machines
	// on a network file system. 0 looks only where the system has no more watches.
	Poll time.Duration
	// First bounds the time after which a first catalog is published, with the skills that
	// were read by then; 0 waits for all.
	First time.Duration
	// Edited is called with each skill whose files changed, once it is published, in the
	// background. It must return when ctx is done. nil is not called.
	Edited func(ctx context.Context, skill *skills.Skill)
	// Idle is called once, when the roots are watched and were read since; nil does
	// nothing.
	Idle func()
	// Settled is called once after Idle, in the background, with the catalog by then. It
	// must return when ctx is done. nil is not called.
	Settled func(ctx context.Context, catalog *skills.Catalog)
	// Logger gets changes, and roots that cannot be watched, for the operator; nil
	// discards them.
	Logger *slog.Logger
}

// withDefaults returns a copy of o with its defaults; o may be nil.
func (o *Options) withDefaults() Options {
	var c Options
	if o != nil {
		c = *o
	}
	c.Logger = cmp.Or(c.Logger, slog.New(slog.DiscardHandler))
	return c
}

// A Reloader keeps the catalogs of publishers fresh. Its methods may be called from any
// goroutine once Start has been called.
type Reloader struct {
	scanner *scan.Scanner
	options Options

	turn      chan struct{}                  // holds one token during a reload: else an older catalog could replace a newer one
	published atomic.Pointer[skills.Catalog] // the newest; written in a turn
	decided   atomic.Int64                   // the generation of the decisions that were last applied; written in a turn
	programs  newest                         // catalogs whose sandboxes are to be inspected
	files     newest                         // catalogs whose workspace files are to be searched
	views     []*View                        // with a publisher; guarded by turn
	active    map[string]bool                // the skills that the workspaces have files for; guarded by turn
	searched  bool                           // active is known; guarded by turn

	looking time.Duration // that the last poll took; used by follow alone

	first   chan struct{}      // closed when the first scan has ended
	cancel  context.CancelFunc // ends the goroutines; set by Start
	running sync.WaitGroup     // the goroutines of Start
}

// New returns a reloader of the roots of scanner. Options may be nil.
func New(scanner *scan.Scanner, options *Options) *Reloader {
	return &Reloader{
		scanner: scanner, options: options.withDefaults(), turn: make(chan struct{}, 1),
		programs: newNewest(), files: newNewest(), first: make(chan struct{}), cancel: func() {},
	}
}

// Start begins to scan the roots, publishes the catalog to the publishers and to the views
// that are attached, and keeps it fresh until ctx is done or Close is called. It is called
// once.
func (r *Reloader) Start(ctx context.Context, publishers ...Publisher) {
	for _, publisher := range publishers {
		_ = r.View(nil).Attach(context.WithoutCancel(ctx), publisher) // nothing has a turn yet
	}
	ctx, r.cancel = context.WithCancel(ctx)
	r.running.Go(func() {
		var again time.Duration
		if r.options.Provide != nil {
			again = r.options.Provide(ctx)
		}
		err := r.begins(ctx)
		close(r.first)
		if err == nil { // else ctx is done
			r.keepFresh(ctx, again)
		}
	})
}

// begins makes the first scan. Where it takes long, the skills that are read by then are
// published before the others. Its error is that ctx is done.
func (r *Reloader) begins(ctx context.Context) error {
	if r.options.First == 0 {
		_, _, err := r.Reload(ctx)
		return err
	}
	all, until := false, time.Now().Add(r.options.First)
	_, _, err := r.reload(ctx, nil, func(ctx context.Context) (catalog *skills.Catalog, err error) {
		catalog, all, err = r.scanner.Begin(ctx, until)
		return catalog, err
	})
	if err == nil && !all {
		r.options.Logger.Warn("the first scan of the skills takes long; lists lack skills until it has ended", "waited", r.options.First)
		return r.changed(ctx, r.rescan(nil))
	}
	return err
}

// AwaitFirst waits for the end of the first scan, or until ctx is done.
func (r *Reloader) AwaitFirst(ctx context.Context) {
	select {
	case <-r.first:
	case <-ctx.Done():
	}
}

// provide calls Provide again, each time after as long as it says; 0 is never.
func (r *Reloader) provide(ctx context.Context, again time.Duration) {
	for again > 0 {
		select {
		case <-ctx.Done():
			return
		case <-time.After(again):
			again = r.options.Provide(ctx)
		}
	}
}

// keepFresh starts the goroutines that keep the first catalog fresh.
func (r *Reloader) keepFresh(ctx context.Context, again time.Duration) {
	r.running.Go(func() { r.provide(ctx, again) })
	r.running.Go(func() { r.files.each(ctx, r.activate) })
	if r.options.Requirements != nil && r.options.Runner != nil {
		r.running.Go(func() { r.programs.each(ctx, r.inspect) })
	}
	if r.options.Watch != nil {
		r.running.Go(func() { r.follow(ctx) })
	}
}

// Close stops what Start began, also a scan, and waits for it.
func (r *Reloader) Close() {
	r.cancel()
	r.running.Wait()
}

// Reload scans all roots and publishes the catalog, unless it is the published
// one. It reports whether the tools that clients of any view know have changed.
func (r *Reloader) Reload(ctx context.Context) (catalog *skills.Catalog, changed bool, err error) {
	return r.reload(ctx, nil, r.scanner.Scan)
}

// Refresh publishes the current files of a skill that a call names: it rescans the
// skill if its manifest changed since it was read, and publishes the result. nil stands
// for a name without a skill: then all skills are checked. It also applies decisions
// that were made since. Where nothing changed it costs a look at a file or two, without
// a skill at all of them.
func (r *Reloader) Refresh(ctx context.Context, skill *skills.Skill) error {
	var paths []string
	scan := r.scanner.Recheck
	if skill != nil {
		paths = r.scanner.Stale(ctx, skill)
		scan = r.rescan(paths)
	} else {
		paths = r.scanner.Changed()
	}
	if len(paths) > 0 || r.generation(ctx) != r.decided.Load() {
		_, _, err := r.reload(ctx, nil, scan)
		return err
	}
	// A reload under way may have read the files, unchanged since, and not yet
	// published them.
	if err := r.begin(ctx); err != nil {
		return err
	}
	r.end()
	return nil
}

// generation returns the generation of the decisions. If it is not known, it is that of
// the last reload: who decides about the call reads the same store, and reports why it
// cannot.
func (r *Reloader) generation(ctx context.Context) int64 {
	if r.options.Decisions == nil {
		return 0
	}
	n, err := r.options.Decisions.Generation(ctx)
	if err != nil {
		r.options.Logger.Warn("the person's decisions cannot be read", "error", err)
		return r.decided.Load()
	}
	return n
}

// begin waits for the reload under way and begins a turn.
func (r *Reloader) begin(ctx context.Context) error {
	select {
	case r.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (r *Reloader) end() { <-r.turn }

// rescan returns a scan of the files at and below paths.
func (r *Reloader) rescan(paths []string) func(context.Context) (*skills.Catalog, error) {
	return func(ctx context.Context) (*skills.Catalog, error) { return r.scanner.Rescan(ctx, paths) }
}

// reload publishes the catalog that scan returns, with the skills marked that lack a
// requirement, and the person's decisions applied. All catalogs are published here. It
// returns the catalog of a view, and whether its tools have changed; nil stands for all.
func (r *Reloader) reload(ctx context.Context, of *View, scan func(context.Context) (*skills.Catalog, error)) (catalog *skills.Catalog, changed bool, err error) {
	if err := r.begin(ctx); err != nil {
		return nil, false, err
	}
	defer r.end()
	decided := r.generation(ctx) // a later decision is applied by the next reload
	catalog, err = scan(ctx)
	if err != nil {
		return nil, false, fmt.Errorf("read skills: %w", err)
	}
	if r.options.Expand != nil {
		catalog = r.options.Expand(catalog)
	}
	catalog = r.options.Requirements.Apply(catalog)
	for _, filter := range r.options.Filters {
		catalog = filter.Apply(ctx, catalog)
	}
	again := decided != r.decided.Load() // a grant changes tools, too
	r.files.put(catalog)                 // also an unchanged one: the workspaces may have other files
	before := r.published.Load()
	all := catalog
	for _, v := range r.views {
		shown, differs := v.publish(ctx, all, again)
		if v == of {
			catalog = shown
		}
		changed = changed || differs && (of == nil || v == of)
	}
	r.decided.Store(decided)
	if all != before || again {
		r.published.Store(all)
		r.programs.put(all)
	}
	return catalog, changed, nil
}

// follow rescans the changes that the watcher reports until ctx is done. A client need
// not wait for the watcher: a recheck finds the changes between the first scan and the
// watch, in folders that were not watched before they were read.
func (r *Reloader) follow(ctx context.Context) {
	watcher, err := r.options.Watch()
	if err != nil {
		r.options.Logger.Warn("changes to skills are not noticed; call reload_skills after one", "error", err)
		return
	}
	defer watcher.Close()
	if r.changed(ctx, r.scanner.RecheckUnwatched) != nil {
		return
	}
	if r.options.Idle != nil {
		r.options.Idle()
	}
	if r.options.Settled != nil {
		r.running.Go(func() { r.options.Settled(ctx, r.published.Load()) })
	}
	polled := time.Now()
	for {
		every := r.options.Poll
		if watcher.Limited() {
			every = max(pollEvery, pollRest*r.looking)
		}
		var poll <-chan time.Time // nil where the watcher is enough
		if every > 0 {
			poll = time.After(time.Until(polled.Add(every))) // which other changes do not postpone
		}
		select {
		case <-ctx.Done():
			return
		case change := <-watcher.Changes():
			err = r.apply(ctx, change.Paths, r.rescan(change.Paths))
		case <-poll:
			err = r.poll(ctx)
			polled = time.Now()
		}
		if err != nil {
			return
		}
	}
}

// Without watches all that was read is looked at every pollEvery, or after pollRest times
// as long as that takes: it is bounded to 2 % of one processor.
const (
	pollEvery = time.Second
	pollRest  = 50
)

// poll applies the changes that no watch reports. Its error is that ctx is done.
func (r *Reloader) poll(ctx context.Context) error {
	began := time.Now()
	paths := r.scanner.Changed()
	r.looking = time.Since(began)
	if len(paths) == 0 && r.generation(ctx) == r.decided.Load() {
		return nil
	}
	return r.apply(ctx, paths, r.scanner.Recheck)
}

// apply reloads after changes at paths. Its error is that ctx is done.
func (r *Reloader) apply(ctx context.Context, paths []string, scan func(context.Context) (*skills.Catalog, error)) error {
	r.forget(paths)
	if err := r.changed(ctx, scan); err != nil {
		return err
	}
	r.edited(ctx, paths)
	return nil
}

// changed reloads and logs. Its error is that ctx is done.
func (r *Reloader) changed(ctx context.Context, scan func(context.Context) (*skills.Catalog, error)) error {
	before := r.published.Load()
	catalog, changed, err := r.reload(ctx, nil, scan)
	if err == nil && catalog != before {
		r.options.Logger.Info("skills were read again", "skills", catalog.Count(), "tools_changed", changed)
	}
	return err
}

// forget discards the sandboxes that wait for skills with files among paths.
func (r *Reloader) forget(paths []string) {
	if r.options.Runner == nil {
		return
	}
	for _, skill := range touched(r.published.Load(), paths) {
		r.options.Runner.Forget(skill.QualifiedName())
	}
}

// edited reports the skills with files among paths to the options, in the background.
func (r *Reloader) edited(ctx context.Context, paths []string) {
	if r.options.Edited == nil {
		return
	}
	r.running.Go(func() {
		for _, skill := range touched(r.published.Load(), paths) {
			r.options.Edited(ctx, skill)
		}
	})
}

// inspect lists the programs in the sandboxes of a catalog's skills, and publishes the
// catalog again if that changes which skills are available.
func (r *Reloader) inspect(ctx context.Context, catalog *skills.Catalog) {
	roles := requirements.Wants(catalog.Skills...)
	if len(roles) == 0 {
		return
	}
	changed, err := r.options.Requirements.Inspect(ctx, r.options.Runner, roles)
	if err != nil && ctx.Err() == nil {
		r.options.Logger.Info("what programs sandboxes have is not known", "error", err)
	}
	if changed {
		_, _, _ = r.reload(ctx, nil, r.rescan(nil)) // its error is that ctx is done
	}
}

// activate searches the workspaces for the files that a catalog's skills are for.
// It is not part of a reload: a workspace may be large, and nobody should wait.
func (r *Reloader) activate(ctx context.Context, catalog *skills.Catalog) {
	active := Active(ctx, catalog, r.options.Workspaces, r.options.Logger)
	if r.begin(ctx) != nil {
		return
	}
	defer r.end()
	r.active, r.searched = active, true
	changed := false
	for _, v := range r.views {
		changed = v.publisher.Activate(active) || changed
	}
	r.options.Logger.Debug("looked for files that skills are for", "active", len(active), "tools_changed", changed)
}

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
