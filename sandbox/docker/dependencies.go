package docker

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/pkg/stdcopy"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

// layers are the images with dependencies in them.
type layers struct {
	owner   *owner
	env     []string          // "KEY=value", for installers
	secrets *strings.Replacer // hides those in env
	builds  *pulls            // by the image's name

	mu   sync.Mutex
	used map[string]time.Time // when a layer's use was last marked on the engine
}

func newLayers(owner *owner, env []string, builds *pulls) *layers {
	builds.first = func(string) string { return "installing packages" }
	return &layers{owner: owner, env: env, secrets: secrets(env), builds: builds, used: map[string]time.Time{}}
}

// add returns base with the dependencies of cmd. A missing image is built once for all
// concurrent calls.
func (a *layers) add(ctx context.Context, e *engine, base *image, cmd *sandbox.Command) (*image, error) {
	for i := range cmd.Dependencies {
		l, err := newLayer(e, base, &cmd.Dependencies[i], cmd.Limits)
		if err != nil {
			return nil, err
		}
		if base, err = a.layer(ctx, e, l, cmd.Progress); err != nil {
			return nil, err
		}
	}
	return base, nil
}

// layer returns the image of l, after building it if it is not there.
func (a *layers) layer(ctx context.Context, e *engine, l *layer, progress func(string)) (*image, error) {
	found, err := e.inspectImage(ctx, l.base.role, l.ref)
	if err == nil {
		a.markUsed(ctx, e, l.ref)
	}
	if !cerrdefs.IsNotFound(err) {
		return found, err
	}
	build := func(ctx context.Context, report func(string)) error { return a.build(ctx, e, l, report) }
	if err := a.builds.get(ctx, l.ref, build, progress); err != nil {
		return nil, l.failed(e, err)
	}
	found, err = e.inspectImage(ctx, l.base.role, l.ref)
	if cerrdefs.IsNotFound(err) { // removed again
		return nil, l.failed(e, err)
	}
	return found, err
}

// markEvery is the interval between marks of a layer that is in use.
const markEvery = 24 * time.Hour

// markUsed lets the engine note that a layer is in use: an engine keeps when an
// image was last named. A failure costs a layer that is built again one day.
func (a *layers) markUsed(ctx context.Context, e *engine, ref string) {
	a.mu.Lock()
	marked := time.Since(a.used[ref]) < markEvery
	a.used[ref] = time.Now()
	a.mu.Unlock()
	if marked {
		return
	}
	if err := e.api.ImageTag(ctx, ref, ref); err != nil {
		a.owner.log.Debug("the use of an image was not marked", "image", ref, "error", err)
	}
}

// build installs the dependencies of l in a container and makes an image of
// it. The container is as hardened as a command's, but has the network and a
// file system that can be written; the installer is nobody there, and can write
// into layerDir.
func (a *layers) build(ctx context.Context, e *engine, l *layer, report func(string)) error {
	what := languageOf(l.deps.Kind) + " packages"
	ctx, cancel := context.WithTimeoutCause(ctx, layerTimeout, &sandbox.LimitError{Limit: sandbox.LimitTime, Value: layerTimeout.String()})
	defer cancel()
	b, err := a.owner.create(ctx, e, l.spec(e))
	if err != nil {
		return err
	}
	defer a.owner.remove(e, b.id)
	err = a.install(ctx, b, l, func(line string) { report("installing " + what + ": " + line) })
	if err == nil {
		err = l.commit(ctx, b)
	}
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err == nil {
		_, pruneErr := e.prune(ctx, LayerUnused)
		if pruneErr != nil {
			a.owner.log.Warn("images that nobody uses are left on the Docker engine", "error", pruneErr)
		}
	}
	return err
}

// install runs the installer in b.
func (a *layers) install(ctx context.Context, b *instance, l *layer, say func(line string)) error {
	files, err := l.files(a.env)
	if err != nil {
		return err
	}
	api := b.engine.api
	if err := api.CopyToContainer(ctx, b.id, "/", files, container.CopyToContainerOptions{}); err != nil {
		return b.engine.failed("prepare the installation", err)
	}
	if err := api.ContainerStart(ctx, b.id, container.StartOptions{}); err != nil {
		return b.engine.failed("start the installer", err)
	}
	output := &transcript{each: say, hide: a.secrets}
	if err := b.follow(ctx, output); err != nil {
		return b.engine.failed("read what the installer prints", err)
	}
	return b.installed(ctx, l, output)
}

// follow writes the output of b to w, until b has ended.
func (b *instance) follow(ctx context.Context, w io.Writer) error {
	logs, err := b.engine.api.ContainerLogs(ctx, b.id, container.LogsOptions{ShowStdout: true, ShowStderr: true, Follow: true})
	if err != nil {
		return err
	}
	defer logs.Close()
	_, err = stdcopy.StdCopy(w, w, logs)
	return err
}

// installed returns nil where the installer in b has ended well and has not
// installed too much.
func (b *instance) installed(ctx context.Context, l *layer, output *transcript) error {
	ended, failed := b.engine.api.ContainerWait(ctx, b.id, container.WaitConditionNotRunning)
	var code int64
	select { // the client sends to one of them
	case end := <-ended:
		code = end.StatusCode
	case err := <-failed:
		return b.engine.failed("wait for the installer", err)
	}
	found, _, err := b.engine.api.ContainerInspectWithRaw(ctx, b.id, true)
	if err != nil {
		return b.engine.failed("see how the installation ended", err)
	}
	switch {
	case found.State != nil && found.State.OOMKilled:
		return l.limits.OutOfMemory()
	case code != 0:
		return &installError{fmt.Sprintf("%s (exit code %d)", output, code)}
	case found.SizeRw != nil && *found.SizeRw > maxLayer:
		return &installError{fmt.Sprintf("they take %s, and at most %s are kept", sandbox.Bytes(*found.SizeRw), sandbox.Bytes(maxLayer))}
	}
	return nil
}

// commit makes an image of b.
func (l *layer) commit(ctx context.Context, b *instance) error {
	changes := []string{
		"ENTRYPOINT []",
		// These are the container's, which goes away.
		"LABEL " + labelInstance + `="" ` + labelHome + `="" ` + labelExpires + `=""`,
		"LABEL " + labelLayer + "=" + quote(l.deps.Digest),
		"LABEL " + labelKind + "=" + quote(l.deps.Kind),
		"LABEL " + labelPackages + "=" + quote(strings.Join(l.deps.Packages, ", ")),
		"LABEL " + labelBase + "=" + quote(l.base.ref),
		"LABEL " + labelBaseID + "=" + quote(l.base.id),
	}
	for _, entry := range l.environ() {
		name, value, _ := strings.Cut(entry, "=")
		changes = append(changes, "ENV "+name+"="+quote(value))
	}
	_, err := b.engine.api.ContainerCommit(ctx, b.id, container.CommitOptions{Reference: l.ref, Comment: "dependencies of a skill", Changes: changes, Config: &container.Config{}})
	if err != nil {
		return b.engine.failed("keep the dependencies", err)
	}
	return nil
}
