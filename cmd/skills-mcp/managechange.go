package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/skillsmcp/skills-mcp/server/installation"
	"github.com/skillsmcp/skills-mcp/server/seal"
	"github.com/skillsmcp/skills-mcp/server/web"
	"github.com/skillsmcp/skills-mcp/skills/install"
	"github.com/skillsmcp/skills-mcp/skills/install/source"
)

// A changer changes the installed skills, as the page orders it.
type changer struct {
	*settings
	agent *seal.Agent // signs for the persons of the page

	mu      sync.Mutex
	checked map[string]asked // by project; guarded by mu
}

// An asked is the answers of the sources of a target's entries.
type asked struct {
	at     time.Time
	status []install.Status
}

// of returns the answer about an entry; nil if there is none about its revision.
func (c asked) of(path, revision string) *web.Newest {
	for _, s := range c.status {
		if s.Path != path || s.Installed.Revision != revision {
			continue
		}
		n := &web.Newest{Revision: s.Revision, Outdated: s.Outdated}
		if s.Err != nil {
			n.Err = s.Err.Error()
		}
		return n
	}
	return nil
}

// last returns the last answers for a target.
func (c *changer) last(project string) asked {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.checked[project]
}

// projects returns the targets of skills: the person's data folder as "", the workspaces,
// and the home folder, whose skills other tools have installed.
func (c *changer) projects() []string {
	all := append([]string{""}, c.workspaces.folders...)
	if home := c.home; home != "" && !slices.Contains(all, home) {
		all = append(all, home)
	}
	return all
}

// trusts reports whether a target is the person's own, or a workspace that they trust.
func (c *changer) trusts(ctx context.Context, project string) bool {
	return project == "" || project == c.home || c.trust.Trusts(ctx, project)
}

// carryOut carries out an order of the page. Whatever it fetches is closed when it returns.
func (c *changer) carryOut(ctx context.Context, o *installation.Operation) error {
	ctx = seal.NewContext(ctx, c.agent)
	if o.Order.Action == installation.Check {
		return c.check(ctx, o)
	}
	i, err := c.installer(ctx, o.Order.Project)
	if err != nil {
		return err
	}
	if a := o.Order.Action; (a == installation.Rollback || a == installation.Uninstall) && len(o.Order.Names) == 0 { // which would be all
		return errors.New("choose what is changed")
	}
	switch o.Order.Action {
	case installation.Install:
		plan, err := c.prepare(ctx, i, o)
		if err != nil {
			return err
		}
		if i.has(ctx, plan) {
			o.Report("All of it is installed, as the source has it now.")
			return plan.Close()
		}
		return review(ctx, i, o, plan)
	case installation.Update:
		return update(ctx, i, o)
	case installation.Rollback:
		plan, err := i.Rollback(ctx, o.Order.Names[0])
		if err != nil {
			return err
		}
		return review(ctx, i, o, plan)
	case installation.Uninstall:
		return uninstall(ctx, i, o)
	}
	return fmt.Errorf("there is no action %q", o.Order.Action)
}

// installer returns the installer of a target that the page shows.
func (c *changer) installer(ctx context.Context, project string) (*installer, error) {
	switch {
	case !slices.Contains(c.projects(), project):
		return nil, fmt.Errorf("%s is no workspace of this server; start it with --workspace", project)
	case !c.trusts(ctx, project):
		return nil, fmt.Errorf("the workspace %s is not trusted; trust it first, with skills-mcp trust", project)
	}
	return newInstaller(c.settings, project, false)
}

// check asks the sources of the installed skills of all targets for their versions.
func (c *changer) check(ctx context.Context, o *installation.Operation) error {
	newer := 0
	var failed []error
	for _, project := range c.projects() {
		if !c.trusts(ctx, project) {
			continue
		}
		i, err := newInstaller(c.settings, project, false)
		if err != nil {
			return err
		}
		o.Progress("asking the sources")
		status, err := i.Outdated(ctx)
		if err != nil {
			return err
		}
		for _, s := range status {
			switch {
			case s.Err != nil:
				failed = append(failed, fmt.Errorf("%s: %w", s.Path, s.Err))
			case s.Outdated:
				newer++
			}
		}
		c.mu.Lock()
		c.checked[project] = asked{time.Now(), status}
		c.mu.Unlock()
	}
	o.Report(fmt.Sprintf("%s with another version at the source.", count(newer, "installed skill")))
	return errors.Join(failed...)
}

// prepare fetches the source of an order.
func (c *changer) prepare(ctx context.Context, i *installer, o *installation.Operation) (*install.Plan, error) {
	text := strings.TrimSpace(o.Order.Source)
	if rest, below := strings.CutPrefix(text, "~/"); below {
		text = filepath.Join(c.home, rest)
	}
	from, err := source.Parse(text, c.home)
	if err != nil {
		return nil, err
	}
	o.Progress("fetching")
	return i.Prepare(ctx, source.Request{Source: from, Named: true, Names: o.Order.Names, Progress: distinct(o.Progress)})
}

// update asks the person about each source that has another version.
func update(ctx context.Context, i *installer, o *installation.Operation) error {
	o.Progress("asking the sources")
	changed := false
	var failed []error
	for plan, err := range i.Update(ctx, distinct(o.Progress), o.Order.Names...) {
		if err == nil {
			changed = true
			err = review(ctx, i, o, plan)
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			failed = append(failed, err)
		}
	}
	if !changed && len(failed) == 0 {
		o.Report("Everything is up to date.")
	}
	return failures(failed)
}

// review makes the change of a plan if the person accepts it, and closes the plan.
func review(ctx context.Context, i *installer, o *installation.Operation, plan *install.Plan) (err error) {
	defer func() { err = errors.Join(err, plan.Close()) }()
	change := installation.Describe(plan, i.target)
	accepted, err := o.Review(ctx, change)
	if err != nil {
		return err
	}
	if !accepted {
		o.Report("Nothing was changed: you left it as it was.")
		return nil
	}
	o.Progress("installing")
	if err := i.commit(ctx, plan, true); err != nil {
		return err
	}
	for _, item := range change.Items {
		o.Report(fmt.Sprintf("%s is installed, %s.", visible(item.Name), visible(revisionOf(&item))))
	}
	reportKept(o, plan.Kept)
	return nil
}

// uninstall removes entries, after the question that the page has asked.
func uninstall(ctx context.Context, i *installer, o *installation.Operation) error {
	removed, err := i.Uninstall(ctx, o.Order.Names...)
	if err != nil {
		return err
	}
	for _, entry := range removed.Entries {
		o.Report("Removed " + visible(i.path(entry)) + ".")
	}
	reportKept(o, removed.Kept)
	return nil
}

// reportKept reports the files that went aside.
func reportKept(o *installation.Operation, folders []string) {
	for _, folder := range folders {
		o.Report("Files that were added or edited are in " + visible(folder) + ".")
	}
}
