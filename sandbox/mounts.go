package sandbox

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// A Mount is a host folder, and where a command sees it.
type Mount struct {
	Source, Target string
	Write          bool
}

// Mounts returns the granted folders of the host that a command sees, for drivers that mount
// them in containers: a cover after the workspace that it is in.
func (g Grant) Mounts() ([]Mount, error) {
	var all []Mount
	if g.Data != "" {
		all = append(all, Mount{g.Data, DataDir, true})
	}
	for i, folder := range g.Workspaces {
		own, err := ownPath(folder)
		if err != nil {
			return nil, err
		}
		// A link on the way to a workspace in another one would be followed.
		if outer := g.Around(folder); outer != "" {
			if i == 0 {
				return nil, fmt.Errorf("mount workspace %s: it is in workspace %s; name that one first, or leave one out", folder, outer)
			}
			continue // it is seen there
		}
		targets := []string{own}
		if i == 0 && g.Aliased() {
			targets = append(targets, WorkspaceDir)
		}
		for _, target := range targets {
			if other := slices.IndexFunc(all, func(m Mount) bool { return m.Target == target }); other < 0 {
				all = append(all, Mount{folder, target, g.Write})
				for _, c := range g.Covers {
					if c.Workspace == folder {
						all = append(all, Mount{filepath.Join(folder, c.Path), path.Join(target, c.Path), c.Write})
					}
				}
			} else if all[other].Source != folder {
				return nil, fmt.Errorf("mount workspace %s: %s is where workspace %s is", folder, target, all[other].Source)
			}
		}
	}
	return all, nil
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
	for _, taken := range []string{SkillDir, OutDir, DataDir, "/proc", "/sys", "/dev"} {
		if Within(own, taken) {
			return "", fmt.Errorf("mount workspace %s: it would hide the sandbox's own %s", folder, taken)
		}
	}
	return own, nil
}
