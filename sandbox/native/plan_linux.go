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
		tree, err := m.openTree()
		if errors.Is(err, unix.EPERM) { // root without the right to mount: the init will try
			continue
		}
		if errors.Is(err, unix.ELOOP) && m.Around != "" {
			return fmt.Errorf("workspace %s: a symbolic link leads there from workspace %s; remove the link", m.Source, m.Around)
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
		if i == 0 && cmd.Grant.Aliased() {
			mounts = append(mounts, mount{Source: path, Around: around(path, workspaces), Target: sandbox.WorkspaceDir, Write: cmd.Grant.Write})
		}
	}
	for _, path := range slices.Compact(slices.Sorted(slices.Values(workspaces))) {
		mounts = append(mounts, mount{Source: path, Around: around(path, workspaces), Target: path, Write: cmd.Grant.Write})
	}
	return mounts, nil
}

// around returns the outermost workspace that path is below, "" when none is.
func around(path string, workspaces []string) string {
	outermost := ""
	for _, other := range workspaces {
		if other != path && within(path, other) && (outermost == "" || within(outermost, other)) {
			outermost = other
		}
	}
	return outermost
}

// job returns the command's line and environment.
func (h *host) job(cmd *sandbox.Command) (*job, error) {
	if len(cmd.Argv) == 0 || cmd.Argv[0] == "" {
		return nil, errors.New("the command is empty")
	}
	j := &job{Argv: cmd.Argv, Env: cmd.Environ("PATH=" + h.path)}
	for _, s := range slices.Concat(j.Argv, j.Env) {
		if strings.ContainsRune(s, 0) {
			return nil, errors.New("the command has a NUL byte in its arguments or environment")
		}
	}
	return j, nil
}
