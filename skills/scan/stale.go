package scan

import (
	"context"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/infer"
	"github.com/skillsmcp/skills-mcp/skills/manifest"
)

// Stale returns the paths to read again, with [Scanner.Rescan], before a skill is
// used: its manifest, where that is not as it was read, or where the script was missing
// and is there by now. It costs a look or two. Where the script was removed a moment ago,
// it waits a moment for another one.
func (s *Scanner) Stale(ctx context.Context, skill *skills.Skill) (paths []string) {
	appeared := scriptAppeared(ctx, skill)
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
	for i, file := range manifestsOf(skill.Dir, file) {
		if i == 0 && appeared || s.readings.changed(file) {
			paths = append(paths, there(file))
		}
	}
	return paths
}

// quiet is the time after which a removed script counts as gone: a snapshot waits as long
// for the rest of an edit.
const quiet = 50 * time.Millisecond

// scriptAppeared reports whether a script can be read that was missing when the skill was
// read. Some editors remove a file before they write it anew, and both a scan and this may
// look in between.
func scriptAppeared(ctx context.Context, skill *skills.Skill) bool {
	if !skill.LacksScript() {
		return false
	}
	if readable(skill) {
		return true
	}
	folder, err := fs.Stat(skill.Files, path.Dir(path.Clean(skill.Entry.Script)))
	if err != nil {
		return false
	}
	since := time.Since(folder.ModTime())
	if since < 0 || since >= quiet { // a time in the future says nothing
		return false
	}
	select {
	case <-time.After(quiet - since):
	case <-ctx.Done():
	}
	return readable(skill)
}

func readable(skill *skills.Skill) bool {
	_, err := infer.InterpreterOf(skill, skill.Entry.Script)
	return err == nil
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
