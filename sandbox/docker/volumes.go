package docker

import (
	"archive/tar"
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"sync"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/mount"
	"github.com/docker/docker/api/types/volume"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

// maxVolumes bounds the folders on an engine; the oldest copy goes first.
const maxVolumes = 64

// copies are the folders that were copied to an engine which cannot mount this
// machine's: each to a volume of its own, once, which containers mount
// read-only.
type copies struct {
	owner *owner

	mu     sync.Mutex
	engine *engine
	all    map[string]*copied // by folder
	order  []string           // the folders, as they were copied
}

// A copied folder is on an engine, or on its way.
type copied struct {
	name string        // of the volume
	done chan struct{} // closed when it is there, or will not be
	err  error         // valid after done
}

// copyIn has spec mount a copy of the command's folder.
func (c *copies) copyIn(ctx context.Context, e *engine, image *image, spec *spec) error {
	folder := spec.folder()
	copied, first := c.get(e, folder)
	if first { // not given up with one caller: others need it too
		c.owner.background.Go(func() {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), makeTimeout)
			defer cancel()
			copied.err = c.copyFolder(ctx, e, image, folder, copied.name)
			close(copied.done)
		})
	}
	select {
	case <-copied.done:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if copied.err != nil {
		c.forget(e, folder)
		return e.failed("copy the skill's folder to the engine", copied.err)
	}
	spec.host.Mounts[0] = mount.Mount{
		Type:          mount.TypeVolume,
		Source:        copied.name,
		Target:        sandbox.SkillDir,
		ReadOnly:      true,
		VolumeOptions: &mount.VolumeOptions{NoCopy: true},
	}
	for _, old := range c.tooMany() {
		c.owner.background.Go(func() { e.removeVolume(old) })
	}
	return nil
}

// copyFolder makes a volume with the files of a folder. An engine takes files
// for a volume by way of a container, which never runs.
func (c *copies) copyFolder(ctx context.Context, e *engine, image *image, folder, name string) error {
	if _, err := e.api.VolumeCreate(ctx, volume.CreateOptions{Name: name, Labels: c.owner.labels()}); err != nil {
		return err
	}
	b, err := c.owner.create(ctx, e, &spec{
		config: &container.Config{Image: image.id, Entrypoint: []string{"/bin/sh"}, NetworkDisabled: true},
		host: &container.HostConfig{
			LogConfig: container.LogConfig{Type: "none"},
			Mounts:    []mount.Mount{{Type: mount.TypeVolume, Source: name, Target: sandbox.SkillDir, VolumeOptions: &mount.VolumeOptions{NoCopy: true}}},
		},
	})
	if err != nil {
		e.removeVolume(name)
		return err
	}
	reader, writer := io.Pipe()
	packed := make(chan error, 1)
	go func() {
		err := pack(writer, folder)
		_ = writer.CloseWithError(err)
		packed <- err
	}()
	err = e.api.CopyToContainer(ctx, b.id, sandbox.SkillDir, reader, container.CopyToContainerOptions{})
	_ = reader.Close()
	if packErr := <-packed; packErr != nil && !errors.Is(packErr, io.ErrClosedPipe) {
		err = packErr
	}
	_ = c.owner.removeNow(e, b.id)
	if err != nil {
		e.removeVolume(name)
	}
	return err
}

// pack writes the files of a folder as a tar archive.
func pack(to io.Writer, folder string) error {
	archive := tar.NewWriter(to)
	if err := archive.AddFS(os.DirFS(folder)); err != nil {
		return err
	}
	return archive.Close()
}

// get returns the copy of a folder on e. The first who asks for it makes it.
func (c *copies) get(e *engine, folder string) (found *copied, first bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.engine != e {
		c.engine, c.all, c.order = e, map[string]*copied{}, nil
	}
	if found := c.all[folder]; found != nil {
		return found, false
	}
	made := &copied{name: newName(), done: make(chan struct{})}
	c.all[folder] = made
	c.order = append(c.order, folder)
	return made, true
}

// forget has the next command copy a folder again.
func (c *copies) forget(e *engine, folder string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.engine == e {
		delete(c.all, folder)
	}
}

// tooMany forgets the oldest copies where there are too many, and returns their
// volumes.
func (c *copies) tooMany() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var names []string
	for len(c.order) > maxVolumes {
		if old := c.all[c.order[0]]; old != nil {
			names = append(names, old.name)
		}
		delete(c.all, c.order[0])
		c.order = c.order[1:]
	}
	return names
}

// unseen reports whether err is an engine's that does not see a folder which is
// there, as one that is reached from within a container does not.
func unseen(err error, folder string) bool {
	if err == nil || !strings.Contains(strings.ToLower(err.Error()), "bind source path does not exist") {
		return false
	}
	info, statErr := os.Stat(folder)
	return statErr == nil && info.IsDir()
}
