package docker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	cerrdefs "github.com/containerd/errdefs"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

// Pull pulls the image of a role, whether or not it is there, and tells report, in
// words for a person, how far it is. The error names the image, the role and the setting.
func (d *Driver) Pull(ctx context.Context, role string, report func(message string)) error {
	ref, known := d.roles[role]
	if !known {
		return unknownRole(role, slices.Sorted(maps.Keys(d.roles)))
	}
	e, err := d.connect(ctx)
	if err != nil {
		return err
	}
	report("pulling " + ref)
	err = e.pull(ctx, ref, report)
	if err == nil || ctx.Err() != nil {
		return context.Cause(ctx)
	}
	failure := notPulled(e, role, ref, err)
	var unavailable *sandbox.UnavailableError
	if _, missing := e.inspectImage(ctx, role, ref); missing == nil && errors.As(failure, &unavailable) {
		unavailable.Reason = fmt.Sprintf("the image %s of the role %q is there, but cannot be brought up to date: %s", ref, role, engineSays(err))
	}
	return d.lost(e, failure)
}

// Prune removes the layers that were not used for longer than unused, and
// returns them. They are built again where a skill needs them.
func (d *Driver) Prune(ctx context.Context, unused time.Duration) ([]Layer, error) {
	e, err := d.connect(ctx)
	if err != nil {
		return nil, err
	}
	removed, err := e.prune(ctx, unused)
	return removed, d.lost(e, err)
}

// Identify implements [sandbox.Identifier]: a role's sandboxes are made of its
// image. It pulls none.
func (d *Driver) Identify(ctx context.Context, role string) (sandbox.Base, error) {
	ctx, leave, err := d.owner.life.Join(ctx)
	if err != nil {
		return sandbox.Base{}, err
	}
	defer leave()
	role = cmp.Or(role, "default")
	ref, known := d.roles[role]
	if !known {
		return sandbox.Base{}, unknownRole(role, slices.Sorted(maps.Keys(d.roles)))
	}
	e, err := d.connect(ctx)
	if err != nil {
		return sandbox.Base{}, err
	}
	found, err := d.known.get(e, role, ref, func() (*image, error) { return e.inspectImage(ctx, role, ref) })
	if cerrdefs.IsNotFound(err) {
		return sandbox.Base{}, fmt.Errorf("identify the image %s of the role %q: it is not there yet", ref, role)
	}
	if err != nil {
		return sandbox.Base{}, d.lost(e, err)
	}
	return sandbox.Base{
		ID: "image " + found.id, Name: fmt.Sprintf("image %q", role),
		Remedy: "set " + setting(role) + " to an image that has it",
	}, nil
}
