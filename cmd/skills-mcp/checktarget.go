package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/setup"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/scan"
)

// A target is the folder or file of a PATH of check.
type target struct {
	dir    string // absolute, without links
	file   string // the only file to check; "" checks all in dir
	packed bool   // dir is a package
}

// findTarget returns the target of a path: a folder, the folder of a manifest, or one
// file.
func findTarget(path string) (target, error) {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return target{}, err
	}
	info, err := os.Stat(absolute)
	if err != nil {
		return target{}, err
	}
	if info.IsDir() {
		real, err := filepath.EvalSymlinks(absolute)
		return target{dir: real}, err
	}
	if !info.Mode().IsRegular() {
		return target{}, fmt.Errorf("%s is no file and no folder", path)
	}
	if setup.IsArchive(absolute) {
		return target{dir: absolute, packed: true}, nil
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(absolute))
	if err != nil {
		return target{}, err
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
		return target{dir: dir}, nil
	default:
		return target{dir: dir, file: filepath.Join(dir, name)}, nil
	}
}

// roots returns the roots to scan. Plugins come first, as they own the skills in them.
func (t target) roots() []scan.Root {
	found := scan.Root{Source: skills.SourceExtra, Dir: t.dir}
	if t.packed {
		return []scan.Root{found}
	}
	return []scan.Root{{Source: skills.SourceExtra, Dir: t.dir, Plugins: true}, found}
}

// only returns the part of a catalog that comes from the target.
func (t target) only(catalog *skills.Catalog) *skills.Catalog {
	if t.file == "" {
		return catalog
	}
	return &skills.Catalog{
		Skills:   slices.DeleteFunc(everySkill(catalog), func(s *skills.Skill) bool { return s.File != t.file }),
		Problems: slices.DeleteFunc(slices.Clone(catalog.Problems), func(p skills.Problem) bool { return p.Path != t.file }),
	}
}

// everySkill returns the skills of a catalog, shadowed ones included.
func everySkill(catalog *skills.Catalog) []*skills.Skill {
	found := slices.Clone(catalog.Skills)
	for _, shadow := range catalog.Shadowed {
		found = append(found, shadow.Skill)
	}
	return found
}
