package scan

import (
	"context"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"time"

	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/infer"
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
