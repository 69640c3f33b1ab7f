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
	t, err := m.known(ctx, o.Order.Project)
	if err != nil {
		return err
	}
	if a := o.Order.Action; (a == installation.Rollback || a == installation.Uninstall) && len(o.Order.Names) == 0 { // which would be all
		return errors.New("choose what is changed")
	}
	switch o.Order.Action {
	case installation.Install:
		return t.install(ctx, o)
	case installation.Update:
		o.Progress("asking the sources")
		found, failed := t.UpdateAll(ctx, o.Order.Names, Distinct(o.Progress), o.Review, func(change *installation.Change, plan *install.Plan) { report(o, change, plan) })
		if !found && len(failed) == 0 {
			o.Report("Everything is up to date.")
		}
		return errors.Join(failed...)
	case installation.Rollback:
		plan, err := t.Rollback(ctx, o.Order.Names[0])
		if err != nil {
			return err
		}
		return t.review(ctx, o, plan)
	case installation.Uninstall:
		return t.uninstall(ctx, o)
	}
	return fmt.Errorf("there is no action %q", o.Order.Action)
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

func (t *Target) install(ctx context.Context, o *installation.Operation) error {
	text, home := strings.TrimSpace(o.Order.Source), t.machine.Home
	if rest, below := strings.CutPrefix(text, "~/"); below {
		text = filepath.Join(home, rest)
	}
	from, err := source.Parse(text, home)
	if err != nil {
		return err
	}
	o.Progress("fetching")
	plan, err := t.Prepare(ctx, source.Request{Source: from, Named: true, Names: o.Order.Names, Progress: Distinct(o.Progress)})
	if err != nil {
		return err
	}
	if t.Has(ctx, plan) {
		o.Report("All of it is installed, as the source has it now.")
		return plan.Close()
	}
	return t.review(ctx, o, plan)
}

// review applies a plan, and reports the effect.
func (t *Target) review(ctx context.Context, o *installation.Operation, plan *install.Plan) error {
	change, err := t.Apply(ctx, plan, o.Review)
	if err == nil {
		report(o, change, plan)
	}
	return err
}

// report reports a change that was made; nil is one that was not.
func report(o *installation.Operation, change *installation.Change, plan *install.Plan) {
	if change == nil {
		o.Report("Nothing was changed: you left it as it was.")
		return
	}
	for _, item := range change.Items {
		o.Report(termtext.Visible(item.Name) + " is installed, " + termtext.Visible(Revision(&item)) + ".")
	}
	reportKept(o, plan.Kept)
}

// uninstall removes entries, after the question that the page has asked.
func (t *Target) uninstall(ctx context.Context, o *installation.Operation) error {
	removed, err := t.Uninstall(ctx, o.Order.Names...)
	if err != nil {
		return err
	}
	for _, entry := range removed.Entries {
		o.Report("Removed " + termtext.Visible(t.Path(entry)) + ".")
	}
	reportKept(o, removed.Kept)
	return nil
}

// reportKept reports the files that went aside.
func reportKept(o *installation.Operation, folders []string) {
	for _, folder := range folders {
		o.Report("Files that were added or edited are in " + termtext.Visible(folder) + ".")
	}
}
