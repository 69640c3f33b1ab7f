package review

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/setup"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/scan"
)

// A Target is the folder or file of a PATH of check.
type Target struct {
	dir    string // absolute, without links
	file   string // the only file to check; "" checks all in dir
	packed bool   // dir is a package
}

// FindTarget returns the target of a path: a folder, the folder of a manifest, or one
// file.
func FindTarget(path string) (Target, error) {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return Target{}, err
	}
	info, err := os.Stat(absolute)
	if err != nil {
		return Target{}, err
	}
	if info.IsDir() {
		real, err := filepath.EvalSymlinks(absolute)
		return Target{dir: real}, err
	}
	if !info.Mode().IsRegular() {
		return Target{}, fmt.Errorf("%s is no file and no folder", path)
	}
	if setup.IsArchive(absolute) {
		return Target{dir: absolute, packed: true}, nil
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(absolute))
	if err != nil {
		return Target{}, err
	}
	switch name := filepath.Base(absolute); name {
	case "plugin.json", "marketplace.json", "gemini-extension.json":
		above, last := filepath.Dir(dir), filepath.Base(dir)
		switch {
		case last == ".claude-plugin" || last == ".codex-plugin":
			dir = above
		case last == "plugins" && filepath.Base(above) == ".agents": // of Codex
			dir = filepath.Dir(above)
		}
		return Target{dir: dir}, nil
	default:
		return Target{dir: dir, file: filepath.Join(dir, name)}, nil
	}
}

// Roots returns the roots to scan. Plugins come first, as they own the skills in them.
func (t Target) Roots() []scan.Root {
	found := scan.Root{Source: skills.SourceExtra, Dir: t.dir}
	if t.packed {
		return []scan.Root{found}
	}
	return []scan.Root{{Source: skills.SourceExtra, Dir: t.dir, Plugins: true}, found}
}

// Only returns the part of a catalog that comes from the target.
func (t Target) Only(catalog *skills.Catalog) *skills.Catalog {
	if t.file == "" {
		return catalog
	}
	return &skills.Catalog{
		Skills:   slices.DeleteFunc(EverySkill(catalog), func(s *skills.Skill) bool { return s.File != t.file }),
		Problems: slices.DeleteFunc(slices.Clone(catalog.Problems), func(p skills.Problem) bool { return p.Path != t.file }),
	}
}

// EverySkill returns the skills of a catalog, shadowed ones included.
func EverySkill(catalog *skills.Catalog) []*skills.Skill {
	found := slices.Clone(catalog.Skills)
	for _, shadow := range catalog.Shadowed {
		found = append(found, shadow.Skill)
	}
	return found
}
