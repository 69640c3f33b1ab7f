package cache

import (
	"crypto/sha256"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills"
)

// A file has a skill without its location, which the key names, and each tool without the
// instructions and the frontmatter, which are its skill's: written for each, they were two
// thirds of the cache of 5,000 skills.

// newSkillEntry returns the entry of a skill with encoded looks.
func newSkillEntry(looks string, s *skills.Skill) (*entry, error) {
	stored := withoutPlace(s)
	for _, tool := range stored.Tools {
		if tool.Instructions != s.Instructions || !reflect.DeepEqual(tool.Frontmatter, s.Frontmatter) {
			return nil, fmt.Errorf("%w: the tool %s has texts of its own", errKind, tool.Name)
		}
		tool.Instructions, tool.Frontmatter = "", nil
	}
	e := &entry{looks: looks}
	if lazy && len(s.Instructions) > longText {
		e.text, stored.Instructions = &text{pending: s.Instructions}, ""
	}
	var err error
	e.value, err = encode(stored)
	return e, err
}

// revision returns the revision of a skill that an entry has under a key.
func (e *entry) revision(key string) string {
	sum := sha256.Sum256([]byte(key + "\x00" + e.looks))
	return string(sum[:16])
}

// fill sets a skill to that of the entry, at the location that it has. It reports
// whether the entry is one that newSkillEntry makes; if not, the skill is unchanged.
func (e *entry) fill(key string, s *skills.Skill) bool {
	stored, err := decode[skills.Skill](strings.Clone(e.value)) // whose parts stay in memory, and not the whole file
	if err != nil || slices.Contains(stored.Tools, nil) {
		return false
	}
	if e.text != nil {
		stored.Instructions, stored.Stored = "", e.text.read
	}
	stored.Revision = e.revision(key)
	for _, tool := range stored.Tools {
		tool.Instructions, tool.Stored, tool.Frontmatter, tool.Of, tool.Revision = stored.Instructions, stored.Stored, stored.Frontmatter, s, stored.Revision
	}
	place(&stored, s)
	*s = stored
	return true
}

// withoutPlace returns a copy of a skill and its tools without their location. The key
// of a package does not name the skill's file in it, which remains.
func withoutPlace(s *skills.Skill) skills.Skill {
	c := *s
	c.Files, c.Source, c.PluginDir, c.Plugin, c.Workspace, c.Trusted, c.Of, c.Stored = nil, "", "", "", "", false, nil, nil
	c.Installed, c.Revision = false, ""
	if c.Dir != "" {
		c.Dir, c.File = "", ""
	}
	c.Tools = slices.Clone(s.Tools)
	for i, tool := range c.Tools {
		without := withoutPlace(tool)
		without.File = tool.File // it may differ from the skill's
		if tool.File == s.File {
			without.File = c.File
		}
		c.Tools[i] = &without
	}
	return c
}

// place gives a skill and its tools the location of another.
func place(s, at *skills.Skill) {
	s.Files, s.Source, s.Dir, s.PluginDir, s.Plugin, s.Workspace, s.Trusted = at.Files, at.Source, at.Dir, at.PluginDir, at.Plugin, at.Workspace, at.Trusted
	s.Installed = at.Installed
	if s.Dir != "" {
		s.File = at.File
	}
	for _, tool := range s.Tools {
		file := tool.File
		place(tool, s)
		if file != "" {
			tool.File = file
		}
	}
}
