package manage

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/skillsmcp/skills-mcp/server/installation"
	"github.com/skillsmcp/skills-mcp/server/termtext"
	"github.com/skillsmcp/skills-mcp/skills/install"
	"github.com/skillsmcp/skills-mcp/skills/install/source"
)

// CarryOut carries out an operation of the page, which reviews each change. Whatever it
// fetches is closed when it returns.
func (m *Machine) CarryOut(ctx context.Context, o *installation.Operation) error {
	if o.Order.Action == installation.Check {
		return m.check(ctx, o)
	}
	if a := o.Order.Action; (a == installation.Rollback || a == installation.Uninstall) && len(o.Order.Names) == 0 { // which would be all
		return errors.New("choose what is changed")
	}
	t, err := m.known(ctx, o.Order.Project)
	if err != nil {
		return err
	}
	return errand{o, t}.run(ctx)
}

// An errand is an operation on one target.
type errand struct {
	*installation.Operation
	target *Target
}

func (e errand) run(ctx context.Context) error {
	switch e.Order.Action {
	case installation.Install:
		return e.install(ctx)
	case installation.Update:
		return e.update(ctx)
	case installation.Rollback:
		plan, err := e.target.Rollback(ctx, e.Order.Names[0])
		if err != nil {
			return err
		}
		return e.apply(ctx, plan)
	case installation.Uninstall:
		return e.uninstall(ctx)
	}
	return fmt.Errorf("there is no action %q", e.Order.Action)
}

func (e errand) update(ctx context.Context) error {
	e.Progress("asking the sources")
	found, failed := e.target.UpdateAll(ctx, e.Order.Names, Distinct(e.Progress), e.Review, e.report)
	if !found && len(failed) == 0 {
		e.Report("Everything is up to date.")
	}
	return errors.Join(failed...)
}

// known returns a target that the page shows.
func (m *Machine) known(ctx context.Context, project string) (*Target, error) {
	switch {
	case !slices.Contains(m.projects(), project):
		return nil, fmt.Errorf("%s is no workspace of this server; start it with --workspace", project)
	case !m.trusts(ctx, project):
		return nil, fmt.Errorf("the workspace %s is not trusted; trust it first, with skills-mcp trust", project)
	}
	return m.Target(project, false)
}

// check asks the sources of the installed skills of all targets for their versions.
func (m *Machine) check(ctx context.Context, o *installation.Operation) error {
	newer := 0
	var failed []error
	for _, project := range m.projects() {
		if !m.trusts(ctx, project) {
			continue
		}
		t, err := m.Target(project, false)
		if err != nil {
			return err
		}
		o.Progress("asking the sources")
		status, err := t.Outdated(ctx)
		if err != nil {
			return err
		}
		for _, s := range status {
			if s.Err != nil {
				failed = append(failed, fmt.Errorf("%s: %w", s.Path, s.Err))
			} else if s.Outdated {
				newer++
			}
		}
		m.mu.Lock()
		m.checked[project] = answers{time.Now(), status}
		m.mu.Unlock()
	}
	text := "1 installed skill has another version at its source."
	if newer != 1 {
		text = fmt.Sprintf("%d installed skills have another version at their sources.", newer)
	}
	o.Report(text)
	return errors.Join(failed...)
}

func (e errand) install(ctx context.Context) error {
	text, home := strings.TrimSpace(e.Order.Source), e.target.machine.Home
	if rest, below := strings.CutPrefix(text, "~/"); below {
		text = filepath.Join(home, rest)
	}
	from, err := source.Parse(text, home)
	if err != nil {
		return err
	}
	e.Progress("fetching")
	plan, err := e.target.Prepare(ctx, source.Request{Source: from, Named: true, Names: e.Order.Names, Progress: Distinct(e.Progress)})
	if err != nil {
		return err
	}
	if e.target.Has(ctx, plan) {
		e.Report("All of it is installed, as the source has it now.")
		return plan.Close()
	}
	return e.apply(ctx, plan)
}

// apply applies a plan, and reports the effect.
func (e errand) apply(ctx context.Context, plan *install.Plan) error {
	change, err := e.target.Apply(ctx, plan, e.Review)
	if err == nil {
		e.report(change, plan)
	}
	return err
}

// report reports a change that was made; nil is one that was not.
func (e errand) report(change *installation.Change, plan *install.Plan) {
	if change == nil {
		e.Report("Nothing was changed: you left it as it was.")
		return
	}
	for _, item := range change.Items {
		e.Report(termtext.Visible(item.Name) + " is installed, " + termtext.Visible(Revision(&item)) + ".")
	}
	e.reportKept(plan.Kept)
}

// uninstall removes entries, after the question that the page has asked.
func (e errand) uninstall(ctx context.Context) error {
	removed, err := e.target.Uninstall(ctx, e.Order.Names...)
	if err != nil {
		return err
	}
	for _, entry := range removed.Entries {
		e.Report("Removed " + termtext.Visible(e.target.Path(entry)) + ".")
	}
	e.reportKept(removed.Kept)
	return nil
}

// reportKept reports the files that went aside.
func (e errand) reportKept(folders []string) {
	for _, folder := range folders {
		e.Report("Files that were added or edited are in " + termtext.Visible(folder) + ".")
	}
}
