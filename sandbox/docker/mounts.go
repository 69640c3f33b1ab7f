package docker

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

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
	if cmd.Grant.Data != "" {
		all = append(all, bind(cmd.Grant.Data, sandbox.DataDir, true))
	}
	for i, folder := range cmd.Grant.Workspaces {
		own, err := ownPath(folder)
		if err != nil {
			return nil, err
		}
		// An engine follows a link on the way to a workspace in another one.
		if outer := cmd.Grant.Around(folder); outer != "" {
			if i == 0 {
				return nil, fmt.Errorf("mount workspace %s: it is in workspace %s; name that one first, or leave one out", folder, outer)
			}
			continue // it is seen there
		}
		targets := []string{own}
		if i == 0 && cmd.Grant.Aliased() {
			targets = append(targets, sandbox.WorkspaceDir)
		}
		for _, target := range targets {
			if other := at(all, target); other == nil {
				all = append(all, bind(folder, target, cmd.Grant.Write))
				for _, c := range cmd.Grant.Covers {
					if c.Workspace == folder {
						all = append(all, bind(filepath.Join(folder, c.Path), path.Join(target, c.Path), c.Write))
					}
				}
			} else if other.Source != folder {
				return nil, fmt.Errorf("mount workspace %s: %s is where workspace %s is", folder, target, other.Source)
			}
		}
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

// ownPath returns the path in the sandbox at which a workspace is seen as on the host.
// The error is about one that would hide a folder of the sandbox's.
func ownPath(folder string) (string, error) {
	if !filepath.IsAbs(folder) {
		return "", fmt.Errorf("mount workspace %q: it is not an absolute path", folder)
	}
	own := path.Clean(filepath.ToSlash(folder))
	if drive := filepath.VolumeName(folder); drive != "" { // C:\a is /c/a
		own = path.Clean("/" + strings.ToLower(strings.TrimSuffix(drive, ":")) + own[len(drive):])
	}
	if own == "/" || own == "/tmp" {
		return "", fmt.Errorf("mount workspace %s: it would hide the sandbox's own %s", folder, own)
	}
	for _, taken := range []string{sandbox.SkillDir, sandbox.OutDir, sandbox.DataDir, "/proc", "/sys", "/dev"} {
		if sandbox.Within(own, taken) {
			return "", fmt.Errorf("mount workspace %s: it would hide the sandbox's own %s", folder, taken)
		}
	}
	return own, nil
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
