package docker

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"

	"github.com/docker/docker/api/types/mount"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

// mounts returns the mounts of the host's folders that cmd sees, and those that hide the
// image's volumes.
func mounts(cmd *sandbox.Command, image *image) ([]mount.Mount, error) {
	if !filepath.IsAbs(cmd.Folder) {
		return nil, fmt.Errorf("mount the skill's folder %q: it is not an absolute path", cmd.Folder)
	}
	all := []mount.Mount{bind(cmd.Folder, sandbox.SkillDir, false)}
	granted, err := cmd.Grant.Mounts()
	if err != nil {
		return nil, err
	}
	for _, m := range granted {
		all = append(all, bind(m.Source, m.Target, m.Write))
	}
	return append(all, withoutVolumes(image, all)...), nil
}

// at returns the mount at target, and nil when there is none.
func at(mounts []mount.Mount, target string) *mount.Mount {
	i := slices.IndexFunc(mounts, func(m mount.Mount) bool { return m.Target == target })
	if i < 0 {
		return nil
	}
	return &mounts[i]
}

// bind mounts a folder of the host's. Unlike the older -v form it does not
// create a folder that is missing.
func bind(source, target string, write bool) mount.Mount {
	m := mount.Mount{Type: mount.TypeBind, Source: source, Target: target}
	if !write {
		m.ReadOnly = true
		// Engines before 25.0 leave mounts below a read-only folder writable, so they
		// are left out.
		m.BindOptions = &mount.BindOptions{NonRecursive: true}
	}
	return m
}

// withoutVolumes covers the volumes that an image declares. The engine would
// make each a writable folder on its disk, without a limit.
func withoutVolumes(image *image, taken []mount.Mount) []mount.Mount {
	var covers []mount.Mount
	for _, volume := range image.volumes {
		target := path.Clean(volume)
		if target != "/tmp" && target != sandbox.OutDir && at(taken, target) == nil {
			covers = append(covers, mount.Mount{Type: mount.TypeTmpfs, Target: target, ReadOnly: true})
		}
	}
	return covers
}
