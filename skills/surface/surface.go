// Package surface computes the capability surface of a skill: the list of the things
// that its files could do with all that they ask for. Two surfaces of one skill differ
// where a change gained a capability, and not where it only moved or corrected text.
//
// The surface is read from text. A file that hides its purpose well enough is not
// recognized: the sandbox is the defence, the surface a report.
//
// Start with [Of], and compare with [Surface.Grown].
package surface

import (
	"cmp"
	"io/fs"
	"slices"

	"github.com/skillsmcp/skills-mcp/skills"
)

// Version is the version of the rules by which surfaces are computed. Surfaces of
// different versions differ without a change of files.
const Version = 1

// A Surface is the capability surface of one skill with its tools. It is not changed
// once it is made.
type Surface struct {
	// Version is that of the rules: see [Version].
	Version int `json:"version"`
	// Items are sorted by kind and value, each once.
	Items []Item `json:"items"`
	// Texts are the texts that a model reads: the names, then the files by path.
	Texts []Text `json:"texts"`
	// Entries are the paths of the programs that the skill and its tools start.
	Entries []string `json:"-"`
}

// Of returns the surface of a skill, or of the skill whose tool it is, with the files
// of its folder. Files that are not text, and files over the limits, are items of their
// own, so that nothing hides behind them. The error is one of reading the folder.
func Of(skill *skills.Skill, files fs.FS) (*Surface, error) { return Read(skill, files, nil) }

// Read returns the surface as [Of] does, and calls visit with each text of the folder.
func Read(skill *skills.Skill, files fs.FS, visit func(*File)) (*Surface, error) {
	owner := skill.Owner()
	c := collectDeclared(owner)
	if err := c.folder(owner, files, visit); err != nil {
		return nil, err
	}
	return c.surface(), nil
}

// maxItems bounds the items of a surface. Those over it are one item, which a change of
// any of them changes.
const maxItems = 4096

// surface returns the sorted surface.
func (c *collector) surface() *Surface {
	s := &Surface{Version: Version, Items: make([]Item, 0, len(c.items)), Texts: c.texts, Entries: c.entries}
	for _, item := range c.items {
		s.Items = append(s.Items, item)
	}
	slices.SortFunc(s.Items, Compare)
	s.bound()
	return s
}

// Compare orders items by kind, the most dangerous first, and then by value.
func Compare(a, b Item) int {
	return cmp.Or(cmp.Compare(a.Kind.rank(), b.Kind.rank()), cmp.Compare(a.Value, b.Value))
}

// bound replaces the items over the limit by one with their digest.
func (s *Surface) bound() {
	if len(s.Items) <= maxItems {
		return
	}
	h := newHash()
	for _, item := range s.Items[maxItems-1:] {
		h.add(item.key())
	}
	s.Items = append(s.Items[:maxItems-1:maxItems-1], Item{Kind: Unread, Value: "more capabilities than are listed", Digest: h.sum()})
}
