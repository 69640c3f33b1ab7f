package docker

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/api/types/mount"
	"github.com/docker/docker/api/types/volume"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

// maxVolumes is how many folders are kept on an engine; what was copied first
// goes first.
const maxVolumes = 64

// copies are the folders that were copied to an engine which cannot mount this
// machine's: each to a volume of its own, once, which containers mount
// read-only.
type copies struct {
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

// apart reports whether folders of this machine have to be copied to e.
func (e *engine) apart() bool { return e.remote || e.blind.Load() }

// copyIn has spec mount a copy of the command's folder.
func (d *Driver) copyIn(ctx context.Context, e *engine, image *image, spec *spec) error {
	folder := spec.folder()
	c, first := d.copies.get(e, folder)
	if first { // not given up with one caller: others need it too
		d.background.Go(func() {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), makeTimeout)
			defer cancel()
			c.err = d.copyFolder(ctx, e, image, folder, c.name)
			close(c.done)
		})
	}
	select {
	case <-c.done:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if c.err != nil {
		d.copies.forget(e, folder)
		return e.failed("copy the skill's folder to the engine", c.err)
	}
	spec.host.Mounts[0] = mount.Mount{
		Type:          mount.TypeVolume,
		Source:        c.name,
		Target:        sandbox.SkillDir,
		ReadOnly:      true,
		VolumeOptions: &mount.VolumeOptions{NoCopy: true},
	}
	for _, old := range d.copies.tooMany() {
		d.background.Go(func() { e.removeVolume(old) })
	}
	return nil
}

// copyFolder makes a volume with the files of a folder. An engine takes files
// for a volume by way of a container, which never runs.
func (d *Driver) copyFolder(ctx context.Context, e *engine, image *image, folder, name string) error {
	if _, err := e.api.VolumeCreate(ctx, volume.CreateOptions{Name: name, Labels: d.labels()}); err != nil {
		return err
	}
	b, err := d.create(ctx, e, &spec{
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
	_ = d.removeNow(e, b.id)
	if err != nil {
		e.removeVolume(name)
	}
	return err
}

// pack writes the files of a folder as a tar archive. They belong to root there:
// a command can read them all the same.
func pack(to io.Writer, folder string) error {
	archive := tar.NewWriter(to)
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(folder, path)
		if err != nil {
			return err
		}
		return packEntry(archive, path, filepath.ToSlash(name), entry)
	})
	if err != nil {
		return err
	}
	return archive.Close()
}

func packEntry(archive *tar.Writer, path, name string, entry fs.DirEntry) error {
	info, err := entry.Info()
	if err != nil {
		return err
	}
	link := ""
	if info.Mode()&fs.ModeSymlink != 0 {
		if link, err = os.Readlink(path); err != nil {
			return err
		}
	}
	header, err := tar.FileInfoHeader(info, filepath.ToSlash(link))
	if err != nil {
		return err
	}
	header.Name, header.Uid, header.Gid, header.Uname, header.Gname = name, 0, 0, "", ""
	if err := archive.WriteHeader(header); err != nil || !info.Mode().IsRegular() {
		return err
	}
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = io.Copy(archive, file)
	return err
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

// removeVolume removes a volume. One that a container uses stays, until the
// driver is closed.
func (e *engine) removeVolume(name string) {
	ctx, cancel := context.WithTimeout(context.Background(), removeTimeout)
	defer cancel()
	_ = e.api.VolumeRemove(ctx, name, false)
}

// sweepVolumes removes what was copied for an instance, as far as no container
// uses it.
func (e *engine) sweepVolumes(ctx context.Context, remove func(labels map[string]string) bool) error {
	found, err := e.api.VolumeList(ctx, volume.ListOptions{Filters: filters.NewArgs(filters.Arg("label", labelInstance))})
	if err != nil {
		return fmt.Errorf("list what is left on the Docker engine: %w", err)
	}
	var failures []error
	for _, v := range found.Volumes {
		if !remove(v.Labels) {
			continue
		}
		if err := e.api.VolumeRemove(ctx, v.Name, true); err != nil && !cerrdefs.IsNotFound(err) {
			failures = append(failures, fmt.Errorf("remove volume %s: %w", v.Name, err))
		}
	}
	return errors.Join(failures...)
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

// noWorkspaces is the failure of a command that needs this machine's folders on
// an engine that cannot have them.
func noWorkspaces(e *engine) error {
	return &sandbox.UnavailableError{
		Reason: fmt.Sprintf("the Docker engine at %s does not see this machine's folders, so there can be no workspace", e.host),
		Remedy: "start the server where there is no project, or use an engine on this machine" + nativeInstead,
	}
}
