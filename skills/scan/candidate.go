package scan

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/skillfs"
)

// A candidate is a skill that was found, and then read.
type candidate struct {
	skill     *skills.Skill
	root      Root
	dir       string       // of the root
	file      string       // of Skill.Files
	folder    string       // the folder's name; of a command, its own
	held      *skillfs.Dir // the files while the scan lasts; nil for Skill.Files
	command   bool         // it is one, not a SKILL.md
	noTools   bool         // it has no tools.yaml
	noAgents  bool         // and no folder agents
	plain     bool         // and nothing else to run
	nested    bool         // it lies inside of another skill
	rootFiles fs.FS        // of its root
	outside   string       // path in the root of a program that is not in its folder; or ""
	packed    *packed      // it is in a package, of which dir, file and folder are not known; or nil
	err       error        // why it did not load
	sum       uint64       // of the manifest's content; 0 where it was not read
	behind    bool         // another one in its root comes before it and has its name
	above     string       // the folder that tells it from others of its name
	copied    *candidate   // the one of its name that has the same files, or nil
}

// errUnread is the error of a candidate that was left for the next scan.
var errUnread = errors.New("not read yet")

// is reports whether two candidates are read from the same file to the same end. Trust
// in the workspace makes no difference to the reading.
func (c *candidate) is(other *candidate) bool {
	a, b := c.skill, other.skill
	return c.file == other.file && c.folder == other.folder && c.dir == other.dir && c.root.String() == other.root.String() &&
		a.Source == b.Source && a.Dir == b.Dir && a.Plugin == b.Plugin && a.PluginDir == b.PluginDir && a.Workspace == b.Workspace && c.packed.is(other.packed)
}

// place returns the host folder, or the package, that the candidate is in; "" for
// one on no host.
func (c *candidate) place() string {
	if c.packed != nil {
		return c.packed.host
	}
	return c.skill.Dir
}

// key returns the candidate's key in a cache, with the options that its reading
// depends on: see [parser.roleOf].
func (c *candidate) key(o Options) string {
	s := c.skill
	return strings.Join([]string{
		c.place(), c.file, c.folder, string(s.Source), s.Plugin, s.PluginDir,
		strconv.FormatBool(c.noTools), strconv.FormatBool(c.noAgents), strconv.FormatBool(c.plain), strconv.FormatBool(c.command),
		strconv.FormatBool(o.ImageRole != nil && o.ImageRole("node")),
	}, "\x00")
}

// manifests returns the host files that the candidate is read from.
func (c *candidate) manifests() []string {
	switch {
	case c.packed != nil:
		return []string{c.packed.host}
	case c.skill.Dir == "":
		return nil
	}
	return manifestsOf(c.skill.Dir, filepath.Join(c.skill.Dir, c.file))
}
