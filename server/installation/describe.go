// Package installation describes changes of the installed skills to people: where they
// come from, what was checked, what they could do, and what is new about them.
//
// Start with [Describe].
package installation

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"path"
	"path/filepath"
	"slices"

	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/install"
	"github.com/skillsmcp/skills-mcp/skills/install/source"
	"github.com/skillsmcp/skills-mcp/skills/surface"
	"github.com/skillsmcp/skills-mcp/skills/verdict"
)

// A Change describes a plan. Strangers wrote most of its texts, which are raw.
type Change struct {
	Source string `json:"source,omitempty"` // as a person writes it; "" for the sources of the items
	// Checked are the proofs that were checked; Notes state what the source says.
	Checked []string      `json:"checked"`
	Notes   []source.Note `json:"notes"`
	Items   []Item        `json:"items"`
	// Digest identifies the sources, the content and the capabilities.
	Digest string `json:"digest"`
}

// An Item is one skill or plugin of a change.
type Item struct {
	Name        string   `json:"name"`
	Kind        string   `json:"kind"` // "skill" or "plugin"
	Description string   `json:"description,omitempty"`
	Skills      []string `json:"skills"`
	Source      string   `json:"source"`
	Revision    string   `json:"revision,omitempty"`
	Folder      string   `json:"folder,omitempty"` // in the source
	Path        string   `json:"path"`             // on the host
	Link        string   `json:"link,omitempty"`   // in the folder of Claude Code, on the host
	Digest      string   `json:"digest"`
	Unproved    []string `json:"unproved,omitempty"`
	// Capabilities are sorted, the most dangerous first.
	Capabilities []surface.Item `json:"capabilities"`
	// Replaces is the installed version; nil if there is none. Gained and Lost are lines,
	// Diff is the difference of the files, as [surface.Diff] has it.
	Replaces *Version         `json:"replaces,omitempty"`
	Gained   []string         `json:"gained,omitempty"`
	Lost     []string         `json:"lost,omitempty"`
	Diff     string           `json:"diff,omitempty"`
	Edited   []string         `json:"edited,omitempty"` // files that go aside
	Problems []skills.Problem `json:"problems"`
	// Findings of the scan of its files, the worst first. Blocked says that skills
	// with such ones are blocked here.
	Findings []verdict.Finding `json:"findings,omitempty"`
	Blocked  bool              `json:"blocked,omitempty"`
}

// A Version is a version of an installed skill or plugin.
type Version struct {
	Source   string `json:"source"`
	Revision string `json:"revision,omitempty"`
	Digest   string `json:"digest"`
}

// Describe describes a plan for a target. Its files are scanned; blocks reports whether
// findings block a skill.
func Describe(plan *install.Plan, target install.Target, blocks func([]verdict.Finding) bool) *Change {
	c := &Change{Source: sourceText(plan.Source), Checked: append([]string{}, plan.Fetched.Checked...), Notes: append([]source.Note{}, plan.Fetched.Notes...), Items: []Item{}}
	slices.SortStableFunc(c.Notes, func(a, b source.Note) int { return rank(a) - rank(b) })
	h := sha256.New()
	add := func(text string) {
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(text)))) // a hash never fails
		h.Write([]byte(text))
	}
	add(c.Source)
	for _, planned := range plan.Items {
		item := describe(planned, target)
		item.Blocked = blocks(item.Findings)
		c.Items = append(c.Items, item)
		add(planned.Path)
		add(item.Source)
		add(item.Digest)
		for _, capability := range planned.Surface {
			add(string(capability.Kind))
			add(capability.Value)
		}
	}
	c.Digest = "sha256:" + hex.EncodeToString(h.Sum(nil))
	return c
}

func rank(n source.Note) int {
	if n.Suspicious {
		return 0
	}
	return 1
}

// describe describes one item.
func describe(planned *install.Item, target install.Target) Item {
	state := planned.State
	item := Item{
		Name: state.Name, Kind: state.Kind, Skills: []string{}, Source: sourceText(state.Source), Revision: state.Revision, Folder: state.Path,
		Path: filepath.Join(target.Dir, filepath.FromSlash(planned.Path)), Digest: state.Digest, Unproved: state.Unproved,
		Capabilities: append([]surface.Item{}, planned.Surface...), Diff: planned.Diff, Problems: append([]skills.Problem{}, planned.Problems...),
	}
	for _, skill := range planned.Skills {
		if skill.Of == nil {
			item.Skills = append(item.Skills, skill.Name)
			item.scan(skill)
		}
		if item.Description == "" && (state.Kind == "skill" || len(planned.Skills) == 1) {
			item.Description = skill.Description
		}
	}
	verdict.Sort(item.Findings)
	if before := planned.Replaces; before != nil {
		item.Replaces = &Version{sourceText(before.Source), before.Revision, before.Digest}
	}
	for _, change := range planned.Gained {
		item.Gained = append(item.Gained, change.String())
	}
	for _, change := range planned.Lost {
		item.Lost = append(item.Lost, change.String())
	}
	for _, edited := range planned.Edited {
		item.Edited = append(item.Edited, edited.File)
	}
	return item
}

// scan adds the findings in the files of a skill.
func (i *Item) scan(skill *skills.Skill) {
	found, err := verdict.Of(skill, skill.Files)
	if err != nil {
		i.Problems = append(i.Problems, skills.Problem{Severity: skills.Warning, Path: skill.File, Message: "its files cannot be scanned: " + err.Error()})
	}
	for _, f := range found {
		if skill.Name != i.Name { // one of several
			f.File = path.Join(skill.Name, f.File)
		}
		i.Findings = append(i.Findings, f)
	}
}

// Suspicious reports whether the source states something that no script may accept.
func (c *Change) Suspicious() bool {
	return slices.ContainsFunc(c.Notes, func(n source.Note) bool { return n.Suspicious })
}

// Harmless reports whether the change needs no person: each item replaces an installed
// version, comes from where that came from, has gained nothing, has nothing critical in its
// files, loses no file that somebody has edited, and is not given to Claude Code.
func (c *Change) Harmless() bool {
	return !c.Suspicious() && !slices.ContainsFunc(c.Items, func(i Item) bool {
		return i.Replaces == nil || i.Link != "" || i.Replaces.Source != i.Source || len(i.Gained)+len(i.Edited) > 0 || verdict.Worst(i.Findings) == verdict.Critical
	})
}

// Grown returns the names of the items that have gained a capability.
func (c *Change) Grown() (names []string) {
	for _, item := range c.Items {
		if item.Replaces != nil && len(item.Gained) > 0 {
			names = append(names, item.Name)
		}
	}
	return names
}

// sourceText returns a source as a person writes it; "" for none.
func sourceText(s source.Source) string {
	if s == (source.Source{}) {
		return ""
	}
	return s.String()
}
