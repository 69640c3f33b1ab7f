package docker

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	cerrdefs "github.com/containerd/errdefs"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

// Identify implements [sandbox.Identifier]: a role's sandboxes are made of its
// image. It pulls none.
func (d *Driver) Identify(ctx context.Context, role string) (sandbox.Base, error) {
	ctx, leave, err := d.life.Join(ctx)
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
