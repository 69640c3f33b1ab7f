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
	"github.com/skillsmcp/skills-mcp/skills/skillfs"
)

// ClaudeCode names the client that looks for skills in no folder but its own.
const ClaudeCode = "claude-code"

// ForClaudeCode makes Claude Code find the skills that are installed from now on, by links
// in its folder of the project or of the person (code.claude.com/docs/en/skills).
func (t *Target) ForClaudeCode() error {
	if t.claude == "" {
		return errors.New("there is no home folder; set HOME, or use --project")
	}
	t.linked = true
	return nil
}

// link returns the host path of Claude Code's link to an entry, and its text. ours reports
// that it is there.
func (t *Target) link(entry string) (at, text string, ours bool) {
	dir := skillfs.Resolved(t.claude)
	at = filepath.Join(dir, path.Base(entry))
	text, err := filepath.Rel(dir, skillfs.Resolved(t.Path(entry)))
	if err != nil { // on another drive
		text = t.Path(entry)
	}
	found, err := os.Readlink(at)
	return at, text, dir != "" && err == nil && found == text
}

// linkable returns an error for an item that Claude Code cannot have.
func (t *Target) linkable(item *install.Item) error {
	if len(item.Skills) == 0 || item.Skills[0].Plugin != "" || !strings.EqualFold(filepath.Base(item.Skills[0].File), "SKILL.md") {
		return fmt.Errorf("%s is no skill with a SKILL.md, as Claude Code reads; choose one with --skill NAME, or leave out --for", item.State.Name)
	}
	at, _, ours := t.link(item.Path)
	dir, name := filepath.Split(at)
	if t.Folders.Project && !skillfs.Inside(skillfs.Resolved(t.Folders.Dir), dir) {
		return fmt.Errorf("%s leads out of the project by a link, to %s; replace it by a folder", t.claude, dir)
	}
	others, err := os.ReadDir(dir)
	for _, other := range others {
		if strings.EqualFold(other.Name(), name) && !ours {
			return &install.ConflictError{Path: dir + other.Name(), Reason: "is there already, and was not installed by this program", Remedy: "rename or remove it"}
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// makeLinks makes the links to the items of a plan. It replaces nothing.
func (t *Target) makeLinks(plan *install.Plan) error {
	for _, item := range plan.Items {
		at, text, ours := t.link(item.Path)
		if ours {
			continue
		}
		if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.Symlink(text, at)); err != nil {
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
