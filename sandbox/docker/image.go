package docker

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	cerrdefs "github.com/containerd/errdefs"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

// An image is what is known of the one that a command runs in.
type image struct {
	role    string
	ref     string   // as configured
	id      string   // of the content
	env     []string // what it sets
	volumes []string // the paths it declares as volumes
}

// setting is the name of the setting that chooses a role's image.
func setting(role string) string { return "images." + role }

// image returns the image of the command's role, after pulling it if it is not
// there.
func (d *Driver) image(ctx context.Context, e *engine, cmd *sandbox.Command) (*image, error) {
	role := cmp.Or(cmd.Role, "default")
	ref, known := d.roles[role]
	if !known {
		return nil, unknownRole(role, slices.Sorted(maps.Keys(d.roles)))
	}
	inspect := func() (*image, error) { return e.inspectImage(ctx, role, ref) }
	found, err := d.known.get(e, role, ref, inspect)
	if !cerrdefs.IsNotFound(err) {
		return found, err
	}
	fetch := func(ctx context.Context, report func(string)) error { return e.pull(ctx, ref, report) }
	if err := d.pulls.get(ctx, ref, fetch, cmd.Progress); err != nil {
		return nil, notPulled(e, role, ref, err)
	}
	found, err = inspect()
	if cerrdefs.IsNotFound(err) { // removed again, or known by another name
		return nil, notPulled(e, role, ref, err)
	}
	return found, err
}

// inspectImage asks the engine for an image. Its error is one of the engine's
// as it is when the image is not there.
func (e *engine) inspectImage(ctx context.Context, role, ref string) (*image, error) {
	found, err := e.api.ImageInspect(ctx, ref)
	if cerrdefs.IsNotFound(err) {
		return nil, err
	}
	if err != nil {
		return nil, e.failed("look up the image "+ref, err)
	}
	i := &image{role: role, ref: ref, id: found.ID}
	if found.Config != nil {
		i.env = found.Config.Env
		i.volumes = slices.Sorted(maps.Keys(found.Config.Volumes))
	}
	return i, nil
}

func unknownRole(role string, known []string) error {
	configured := "no role has one"
	if len(known) > 0 {
		configured = "these roles have one: " + strings.Join(known, ", ")
	}
	return &sandbox.UnavailableError{
		Reason: fmt.Sprintf("no image is configured for the role %q; %s", role, configured),
		Remedy: "set " + setting(role),
	}
}

// notPulled explains why the image of a role cannot be had.
func notPulled(e *engine, role, ref string, err error) error {
	if gone(err) {
		return e.failed("pull the image "+ref, err)
	}
	message := strings.TrimPrefix(err.Error(), "Error response from daemon: ")
	remedy := fmt.Sprintf("pull it with: docker pull %s, or set %s to an image that is there", ref, setting(role))
	if wantsLogin(message) {
		remedy = "the registry wants a login, which pulls from here do not use: " + remedy
	}
	return &sandbox.UnavailableError{
		Reason: fmt.Sprintf("the image %s of the role %q is not there and cannot be pulled: %s", ref, role, message),
		Remedy: remedy,
		Err:    fmt.Errorf("pull %s: %w", ref, err),
	}
}

func wantsLogin(message string) bool {
	message = strings.ToLower(message)
	return strings.Contains(message, "unauthorized") || strings.Contains(message, "docker login") ||
		strings.Contains(message, "no basic auth credentials")
}
