//go:build amd64 || arm64

package native

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

// A plan is what one command's init is told.
type plan struct {
	setup *setup
	trees []int  // open, those of the mounts that are Passed
	job   []byte // encoded

	memory int64 // the limit
}

func (p *plan) close() {
	for _, tree := range p.trees {
		_ = unix.Close(tree)
	}
}

// plan checks the command and opens what is to be mounted for it.
func (h *host) plan(cmd *sandbox.Command, limits sandbox.Limits) (*plan, error) {
	j, err := h.job(cmd)
	if err != nil {
		return nil, err
	}
	packed, err := encode(j)
	if err != nil {
		return nil, err
	}
	mounts, err := commandMounts(cmd)
	if err != nil {
		return nil, err
	}
	p := &plan{job: packed, memory: limits.Memory}
	if h.user.changes {
		if err := p.open(mounts); err != nil {
			p.close()
			return nil, err
		}
	}
	s := *h.layout
	s.Mounts = slices.Concat(s.Mounts, mounts)
	s.Tmp, s.PIDs, s.OpenFiles = limits.Tmp, limits.PIDs, limits.Files
	p.setup = &s
	return p, nil
}

// open opens what the init's user may have no way to.
func (p *plan) open(mounts []mount) error {
	for i := range mounts {
		m := &mounts[i]
		tree, err := openTree(m.Source, m.attributes())
		if errors.Is(err, unix.EPERM) { // root without the right to mount: the init will try
			continue
		}
		if err != nil {
			return fmt.Errorf("mount %s: %w", m.Source, err)
		}
		m.Passed = true
		p.trees = append(p.trees, tree)
	}
	return nil
}

// commandMounts returns the skill's folder and the workspaces, a workspace
// before those below it.
func commandMounts(cmd *sandbox.Command) ([]mount, error) {
	if err := checkFolder(cmd.Folder); err != nil {
		return nil, fmt.Errorf("skill's folder: %w", err)
	}
	workspaces := cmd.Grant.Workspaces
	if len(workspaces)+2 > maxTrees {
		return nil, fmt.Errorf("%d workspaces are too many: at most %d", len(workspaces), maxTrees-2)
	}
	mounts := []mount{{Source: cmd.Folder, Target: sandbox.SkillDir}}
	for i, path := range workspaces {
		if err := checkWorkspace(path); err != nil {
			return nil, err
		}
		if i == 0 {
			mounts = append(mounts, mount{Source: path, Target: sandbox.WorkspaceDir, Write: cmd.Grant.Write})
		}
	}
	for _, path := range slices.Compact(slices.Sorted(slices.Values(workspaces))) {
		mounts = append(mounts, mount{Source: path, Target: path, Write: cmd.Grant.Write})
	}
	return mounts, nil
}

// job returns the command's line and environment.
func (h *host) job(cmd *sandbox.Command) (*job, error) {
	if len(cmd.Argv) == 0 || cmd.Argv[0] == "" {
		return nil, errors.New("the command is empty")
	}
	base := []string{"PATH=" + h.path, "HOME=/tmp", "TMPDIR=/tmp", "LANG=C.UTF-8"}
	j := &job{Argv: cmd.Argv, Env: lastOfEach(slices.Concat(base, cmd.Env))}
	for _, s := range slices.Concat(j.Argv, j.Env) {
		if strings.ContainsRune(s, 0) {
			return nil, errors.New("the command has a NUL byte in its arguments or environment")
		}
	}
	return j, nil
}

// lastOfEach returns env with one entry per variable, the last that was given.
func lastOfEach(env []string) []string {
	at := make(map[string]int, len(env))
	var out []string
	for _, entry := range env {
		key, _, _ := strings.Cut(entry, "=")
		if i, again := at[key]; again {
			out[i] = entry
			continue
		}
		at[key] = len(out)
		out = append(out, entry)
	}
	return out
}
