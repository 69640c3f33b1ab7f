package docker

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	cerrdefs "github.com/containerd/errdefs"
	dockerimage "github.com/docker/docker/api/types/image"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

// An image describes the image that a command runs in.
type image struct {
	role    string
	ref     string   // as configured
	id      string   // of the content
	env     []string // that it sets
	volumes []string // the paths it declares as volumes
}

// setting is the name of the setting that chooses a role's image.
func setting(role string) string { return "images." + role }

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
	message := engineSays(err)
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

// created is when an image was made; zero where it does not say.
func created(image dockerimage.InspectResponse) time.Time {
	at, err := time.Parse(time.RFC3339Nano, image.Created)
	if err != nil {
		return time.Time{}
	}
	return at
}
