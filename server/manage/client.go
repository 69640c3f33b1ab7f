package manage

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/install"
	"github.com/skillsmcp/skills-mcp/skills/install/lock"
	"github.com/skillsmcp/skills-mcp/skills/skillfs"
)

// ClaudeCode names the client that looks for skills in no folder but its own.
const ClaudeCode = "claude-code"

// claudeFolder is the folder of Claude Code's skills, in the home folder and in projects.
// Source: code.claude.com/docs/en/skills.
const claudeFolder = ".claude/skills"

// ForClaudeCode makes Claude Code find the skills that are installed from now on, by links
// in its folder.
func (t *Target) ForClaudeCode() error {
	if t.linksDir() == "" {
		return errors.New("there is no home folder; set HOME, or use --project")
	}
	t.linked = true
	return nil
}

// linksDir returns Claude Code's folder in the project, or else in the home folder; "" if
// there is none.
func (t *Target) linksDir() string {
	base := t.machine.Home
	if t.project {
		base = t.Folders.Dir
	}
	if base == "" {
		return ""
	}
	return skillfs.Resolved(filepath.Join(base, filepath.FromSlash(claudeFolder)))
}

// link returns the host path of the link to an entry, and its text, which holds on other
// machines, too, where it is in a project. ours reports that it is there.
func (t *Target) link(entry string) (at, text string, ours bool) {
	dir := t.linksDir()
	at, text = filepath.Join(dir, path.Base(entry)), t.Path(entry)
	if t.project {
		if rel, err := filepath.Rel(dir, skillfs.Resolved(t.Folders.Dir)); err == nil {
			text = filepath.Join(rel, filepath.FromSlash(entry))
		}
	}
	found, err := os.Readlink(at)
	return at, text, dir != "" && err == nil && found == text
}

// linkable returns an error for an item that Claude Code cannot have.
func (t *Target) linkable(item *install.Item) error {
	if item.State.Kind != lock.Skill || len(item.Skills) == 0 || !strings.EqualFold(filepath.Base(item.Skills[0].File), "SKILL.md") {
		return fmt.Errorf("%s is no skill with a SKILL.md, as Claude Code reads; choose one with --skill NAME, or leave out --for", item.State.Name)
	}
	at, _, ours := t.link(item.Path)
	if dir := filepath.Dir(at); t.project && !skillfs.Inside(skillfs.Resolved(t.Folders.Dir), dir) {
		return fmt.Errorf("%s of the project leads to %s by a link; replace it by a folder", claudeFolder, dir)
	}
	others, err := os.ReadDir(filepath.Dir(at))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, other := range others {
		if strings.EqualFold(other.Name(), filepath.Base(at)) && !ours {
			return &install.ConflictError{Path: filepath.Join(filepath.Dir(at), other.Name()), Reason: "is there already, and was not installed by this program", Remedy: "rename or remove it"}
		}
	}
	return nil
}

// makeLinks makes the links to the items of a plan. It replaces nothing.
func (t *Target) makeLinks(plan *install.Plan) error {
	for _, item := range plan.Items {
		at, text, ours := t.link(item.Path)
		if ours {
			continue
		}
		err := os.MkdirAll(filepath.Dir(at), 0o755)
		if err == nil {
			err = os.Symlink(text, at)
		}
		if err != nil {
			return fmt.Errorf("%s is installed, but Claude Code does not find it: %w", item.Path, err)
		}
	}
	return nil
}

// removeLinks removes the links to entries that are gone.
func (t *Target) removeLinks(entries []string) (err error) {
	for _, entry := range entries {
		if at, _, ours := t.link(entry); ours {
			err = errors.Join(err, os.Remove(at))
		}
	}
	return err
}
