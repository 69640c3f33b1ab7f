package scan

import (
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/manifest"
)

// Stale returns the paths to read again, with [Scanner.Rescan], before a skill is
// used: its manifest, where that is not as it was read. It costs a look or two.
func (s *Scanner) Stale(skill *skills.Skill) (paths []string) {
	skill = skill.Owner()
	file := skill.File
	if skill.Dir == "" {
		if file = s.packageOf(file); file == "" {
			return nil
		}
		if s.readings.changed(file) {
			return []string{there(file)}
		}
		return nil
	}
	for _, file := range manifestsOf(skill.Dir, file) {
		if s.readings.changed(file) {
			paths = append(paths, there(file))
		}
	}
	return paths
}

// packageOf returns the package that a file for people lies in, or "".
func (s *Scanner) packageOf(file string) string {
	for at := range upwards(file) {
		if _, ok := s.readings.byFile.Load(at); ok {
			return at
		}
	}
	return ""
}

// there returns a path, or the topmost folder above it that is missing.
func there(name string) string {
	for {
		up := filepath.Dir(name)
		if _, err := os.Lstat(up); err == nil || up == name {
			return name
		}
		name = up
	}
}

// Unread returns the paths to read again, with [Scanner.Rescan], before it is said
// that there is no skill of a name: the places where one would be, if something
// lies there that was not read yet. broken is the manifest of that name that did
// not load, or "".
func (s *Scanner) Unread(name, broken string) (paths []string) {
	if _, read := s.readings.byFile.Load(broken); read && s.readings.changed(broken) {
		paths = []string{there(broken)}
	}
	if !validNames(name) {
		return paths
	}
	above, base := path.Split(name)
	for _, root := range s.roots {
		var files []string
		switch {
		case root.Dir == "" || root.Agents:
		case root.Commands:
			files = []string{name + ".md"}
		case root.Plugins && above != "":
			files = []string{above + "skills/" + base + "/SKILL.md"}
		case !root.Plugins:
			files = []string{name + "/SKILL.md", name + "/" + manifest.OngridFile}
		}
		for _, file := range files {
			file = filepath.Join(root.Dir, filepath.FromSlash(file))
			real, err := filepath.EvalSymlinks(filepath.Dir(file))
			if err != nil {
				continue
			}
			real = filepath.Join(real, filepath.Base(file))
			if _, err := os.Stat(real); err == nil && s.readings.changed(real) {
				for at := file; at != root.Dir && len(at) > len(root.Dir); at = filepath.Dir(at) {
					paths = append(paths, at)
				}
			}
		}
	}
	return paths
}

// validNames reports whether a name can be a path of one or two folders.
func validNames(name string) bool {
	parts := strings.Split(name, "/")
	for _, part := range parts {
		if part != manifest.CleanName(part) || part == "" || len(part) > 255 || strings.ContainsAny(part, `\:`) {
			return false
		}
	}
	return len(parts) <= 2
}
