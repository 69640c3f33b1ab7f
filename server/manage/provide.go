package manage

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/skillsmcp/skills-mcp/skills/install"
	"github.com/skillsmcp/skills-mcp/skills/install/source"
)

// Provide installs the sources that the person's data folder lacks, and updates the others.
// Nobody is asked, as the configuration names the sources. A skill that has grown since it was
// accepted is installed and blocked: replicas have the same files, whenever they started.
// The error joins those of the sources; one does not prevent the others.
func (m *Machine) Provide(ctx context.Context, sources []source.Source) error {
	t, err := m.Target("", false)
	if err != nil {
		return err
	}
	file, err := t.Installed()
	if err != nil {
		return err
	}
	var installed []string
	var failed []error
	for _, from := range sources {
		found := false
		for name, entry := range file.Entries {
			if entry.Exists() && entry.Source == from {
				installed, found = append(installed, name), true
			}
		}
		if !found {
			plan, err := t.Prepare(ctx, source.Request{Source: from, Named: true, All: from.Name == ""})
			failed = append(failed, commitNamed(ctx, t, from.String(), plan, err))
		}
	}
	if len(installed) > 0 {
		for plan, err := range t.Update(ctx, nil, installed...) {
			failed = append(failed, commitNamed(ctx, t, "update", plan, err))
		}
	}
	return errors.Join(failed...)
}

// commitNamed makes the change of a plan, unless the source calls it suspicious. It passes on
// err, the plan's.
func commitNamed(ctx context.Context, t *Target, what string, plan *install.Plan, err error) error {
	if err == nil && slices.ContainsFunc(plan.Fetched.Notes, func(n source.Note) bool { return n.Suspicious }) {
		err = errors.Join(errors.New("the source states that it is suspicious; only skills-mcp install accepts that"), plan.Close())
	}
	if err == nil {
		err = t.Commit(ctx, plan, false)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	for _, item := range plan.Items {
		t.machine.Logger.Info("a skill of install.sources is installed", "skill", item.Path, "source", item.State.Source.String(), "digest", item.State.Digest)
	}
	return nil
}
