package docker

import (
	"context"
	"crypto/sha256"
	"embed"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	cerrdefs "github.com/containerd/errdefs"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

// The labels of every image that this package makes of dependencies.
const (
	labelLayer    = "skills-mcp.dependencies" // the digest of the dependencies
	labelKind     = "skills-mcp.dependencies.kind"
	labelPackages = "skills-mcp.dependencies.packages"
	labelBase     = "skills-mcp.dependencies.base" // what it was built on, as configured
	labelBaseID   = "skills-mcp.dependencies.base-id"
)

// layerName is the name of those images; their tags are what they are made of.
const layerName = "skills-mcp-deps"

// installers are the scripts that install dependencies, by their kind.
//
//go:embed install
var installers embed.FS

// layers are the images with dependencies in them.
type layers struct {
	env     []string          // "KEY=value", for installers
	secrets *strings.Replacer // hides those in env
	builds  *pulls            // by the image's name

	mu   sync.Mutex
	used map[string]time.Time // when a layer's use was last marked on the engine
}

func newLayers(env []string, builds *pulls) *layers {
	builds.first = func(string) string { return "installing packages" }
	return &layers{env: env, secrets: secrets(env), builds: builds, used: map[string]time.Time{}}
}

// A layer is an image to be made of another and of dependencies.
type layer struct {
	ref       string
	base      *image
	deps      *sandbox.Dependencies
	installer []byte
	limits    sandbox.Limits
}

// withDependencies returns an image that is base and has what cmd depends on.
// What is not there is built, once for all who want the same.
func (d *Driver) withDependencies(ctx context.Context, e *engine, base *image, cmd *sandbox.Command) (*image, error) {
	for i := range cmd.Dependencies {
		l, err := newLayer(e, base, &cmd.Dependencies[i], cmd.Limits)
		if err != nil {
			return nil, err
		}
		if base, err = d.layer(ctx, e, l, cmd.Progress); err != nil {
			return nil, err
		}
	}
	return base, nil
}

// newLayer names a layer by all that decides what is in it.
func newLayer(e *engine, base *image, deps *sandbox.Dependencies, limits sandbox.Limits) (*layer, error) {
	installer, err := installers.ReadFile("install/" + deps.Kind)
	if err != nil {
		return nil, fmt.Errorf("install dependencies: unknown kind %q", deps.Kind)
	}
	key := sha256.Sum256(fmt.Appendf(nil, "%s\n%s\n%s\n%s", base.id, e.info.Architecture, deps.Digest, installer))
	return &layer{
		ref:       fmt.Sprintf("%s:%x", layerName, key[:16]),
		base:      base,
		deps:      deps,
		installer: installer,
		limits:    limits,
	}, nil
}

// layer returns the image of l, after building it if it is not there.
func (d *Driver) layer(ctx context.Context, e *engine, l *layer, progress func(string)) (*image, error) {
	found, err := e.inspectImage(ctx, l.base.role, l.ref)
	if err == nil {
		d.markUsed(ctx, e, l.ref)
	}
	if !cerrdefs.IsNotFound(err) {
		return found, err
	}
	build := func(ctx context.Context, report func(string)) error { return d.buildLayer(ctx, e, l, report) }
	if err := d.layers.builds.get(ctx, l.ref, build, progress); err != nil {
		return nil, l.failed(e, err)
	}
	found, err = e.inspectImage(ctx, l.base.role, l.ref)
	if cerrdefs.IsNotFound(err) { // removed again
		return nil, l.failed(e, err)
	}
	return found, err
}

// markEvery is how often the use of a layer is marked.
const markEvery = 24 * time.Hour

// markUsed lets the engine note that a layer is in use: an engine keeps when an
// image was last named. A failure costs a layer that is built again one day.
func (d *Driver) markUsed(ctx context.Context, e *engine, ref string) {
	d.layers.mu.Lock()
	marked := time.Since(d.layers.used[ref]) < markEvery
	d.layers.used[ref] = time.Now()
	d.layers.mu.Unlock()
	if marked {
		return
	}
	if err := e.api.ImageTag(ctx, ref, ref); err != nil {
		d.log.Debug("the use of an image was not marked", "image", ref, "error", err)
	}
}

// An installError is what an installer that failed has printed last.
type installError struct{ output string }

func (e *installError) Error() string { return e.output }

// failed explains why dependencies cannot be had.
func (l *layer) failed(e *engine, err error) error {
	var unavailable *sandbox.UnavailableError
	var limit *sandbox.LimitError
	var install *installError
	why := engineSays(err)
	switch {
	case errors.As(err, &unavailable), errors.Is(err, context.Canceled):
		return err
	case gone(err):
		return e.failed("install dependencies", err)
	case errors.As(err, &limit):
		why = "the installer was " + limit.Error()
	case errors.As(err, &install):
		why = install.output
	}
	return &sandbox.UnavailableError{
		Reason: fmt.Sprintf("the %s packages that the skill declares cannot be installed into the image %s: %s", languageOf(l.deps.Kind), l.base.ref, why),
		Remedy: "correct what the skill declares, name a package index in sandbox.dependency_env, or set sandbox.dependencies: report",
		Err:    fmt.Errorf("build %s: %w", l.ref, err),
	}
}

// languageOf names a kind for people.
func languageOf(kind string) string {
	return strings.ToUpper(kind[:1]) + kind[1:]
}
