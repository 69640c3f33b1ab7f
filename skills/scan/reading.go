package scan

import (
	"hash/fnv"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/manifest"
	"github.com/skillsmcp/skills-mcp/skills/skillfs"
	"github.com/skillsmcp/skills-mcp/skills/stamp"
)

// readings are the files that skills were read from, as they were then.
type readings struct{ byFile sync.Map } // host path: reading

// A reading is a file as it was read.
type reading struct {
	stamp   stamp.Stamp // zero where there was nothing
	sum     uint64      // of the content; 0 where that is not known
	settled bool        // another change has another stamp
}

// look returns a file as it is, but for its content.
func look(file string) reading {
	info, err := os.Stat(file) // follows links
	if err != nil {
		return reading{settled: true}
	}
	s := stamp.Of(info)
	return reading{stamp: s, settled: s.Settled(time.Now())}
}

// changed reports whether a file is not as it was read. Of a file that was not
// read nothing was there.
func (r *readings) changed(file string) bool {
	known, ok := r.byFile.Load(file)
	now := look(file)
	if !ok {
		return now.stamp != stamp.Stamp{}
	}
	before := known.(reading)
	if before.stamp != now.stamp {
		return true
	}
	if before.settled {
		return false
	}
	// It was written so lately that its time says nothing.
	if before.sum == 0 || sumOf(file) != before.sum {
		return true
	}
	r.byFile.Store(file, reading{now.stamp, before.sum, now.settled})
	return false
}

// sumOf returns the sum of a file's content, or 0.
func sumOf(name string) uint64 {
	data, err := skillfs.ReadHost(name, manifest.MaxSize)
	if err != nil {
		return 0
	}
	return sum(data)
}

func sum(data []byte) uint64 {
	hash := fnv.New64a()
	_, _ = hash.Write(data) // it never fails
	return hash.Sum64()
}

// manifests are the host files that the candidate is read from.
func (c *candidate) manifests() []string {
	switch {
	case c.packed != nil:
		return []string{c.packed.host}
	case c.skill.Dir == "":
		return nil
	}
	return manifestsOf(c.skill.Dir, filepath.Join(c.skill.Dir, c.file))
}

func manifestsOf(dir, file string) []string {
	if strings.EqualFold(filepath.Base(file), "SKILL.md") {
		return []string{file, filepath.Join(dir, manifest.ToolsFile)}
	}
	return []string{file}
}

// reading notes how the candidate's files are before it is read; done keeps that.
func (c *candidate) reading(r *readings) (done func()) {
	if r == nil {
		return func() {}
	}
	files := c.manifests()
	looks := make([]reading, len(files))
	for i, file := range files {
		if i == 0 || !c.noTools { // else the walk has seen that there is none
			looks[i] = look(file)
		}
	}
	c.sum = 0
	return func() {
		for i, file := range files {
			if i == 0 {
				looks[i].sum = c.sum
			}
			if looks[i].stamp == (stamp.Stamp{}) {
				r.byFile.Delete(file)
			} else {
				r.byFile.Store(file, looks[i])
			}
		}
	}
}

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

// packageOf is the package that a file for people is in, or "".
func (s *Scanner) packageOf(file string) string {
	for ; len(file) > 1 && filepath.IsAbs(file); file = filepath.Dir(file) {
		if _, ok := s.readings.byFile.Load(file); ok {
			return file
		}
		if filepath.Dir(file) == file {
			break
		}
	}
	return ""
}

// there is a path, or the folder above it that is gone.
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
