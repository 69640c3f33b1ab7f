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

// ClaudeLinks are the links in Claude Code's folder of skills to what a target has, in its
// project or the person's home folder. Source: code.claude.com/docs/en/skills.
type ClaudeLinks struct {
	target install.Target
	dir    string // "" if there is none
	on     bool   // what is installed gets links
}

func newClaudeLinks(target install.Target, base string) *ClaudeLinks {
	if base == "" {
		return &ClaudeLinks{}
	}
	return &ClaudeLinks{target: target, dir: filepath.Join(base, ".claude", "skills")}
}

// Enable makes Claude Code find the skills that are installed from now on.
func (c *ClaudeLinks) Enable() error {
	if c.on = c.dir != ""; !c.on {
		return errors.New("there is no home folder; set HOME, or use --project")
	}
	return nil
}

// link returns the host path of Claude Code's link to an entry, and its text. ours reports
// that it is there.
func (c *ClaudeLinks) link(entry string) (at, text string, ours bool) {
	dir, host := skillfs.Resolved(c.dir), filepath.Join(c.target.Dir, filepath.FromSlash(entry))
	at = filepath.Join(dir, path.Base(entry))
	text, err := filepath.Rel(dir, skillfs.Resolved(host))
	if err != nil { // on another drive
		text = host
	}
	found, err := os.Readlink(at)
	return at, text, dir != "" && err == nil && found == text
}

// check returns an error for an item that Claude Code cannot have.
func (c *ClaudeLinks) check(item *install.Item) error {
	if len(item.Skills) == 0 || item.Skills[0].Plugin != "" || !strings.EqualFold(filepath.Base(item.Skills[0].File), "SKILL.md") {
		return fmt.Errorf("%s is no skill with a SKILL.md, as Claude Code reads; choose one with --skill NAME, or leave out --for", item.State.Name)
	}
	at, _, ours := c.link(item.Path)
	dir, name := filepath.Split(at)
	if c.target.Project && !skillfs.Inside(skillfs.Resolved(c.target.Dir), dir) {
		return fmt.Errorf("%s leads out of the project by a link, to %s; replace it by a folder", c.dir, dir)
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

// make makes the links to the items of a plan. It replaces nothing.
func (c *ClaudeLinks) make(plan *install.Plan) error {
	for _, item := range plan.Items {
		at, text, ours := c.link(item.Path)
		if ours {
			continue
		}
		if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.Symlink(text, at)); err != nil {
			return fmt.Errorf("%s is installed, but Claude Code does not find it: %w", item.Path, err)
		}
	}
	return nil
}

// remove removes the links to entries that are gone.
func (c *ClaudeLinks) remove(entries []string) (err error) {
	for _, entry := range entries {
		if at, _, ours := c.link(entry); ours {
			err = errors.Join(err, os.Remove(at))
		}
	}
	return err
}
