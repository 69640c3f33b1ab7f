package scan

import (
	"fmt"

	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/manifest"
)

// maxOwnFolders bounds the folders of one skill that are searched for nested
// skills.
const maxOwnFolders = 10_000

// maxTooDeep bounds the skills reported as too deep.
const maxTooDeep = 20

// bounds counts the folders and manifests read below one root.
type bounds struct {
	folders, manifests int
	nested             int  // folders inside of skills
	own                *int // those of the skill that is walked; nil outside of skills

	// The first folder that is left out for each bound, "" without one.
	tooMany, tooNested, tooManySkills string
	skillsLeft                        int // skills that are left out
	tooDeep                           int // skills that were reported
}

// room returns the number of folders that may still be read here.
func (s *walker) room() int {
	if s.bounds.own != nil {
		return min(maxOwnFolders-*s.bounds.own, s.options.Folders-s.bounds.nested)
	}
	return s.options.Folders - s.bounds.folders
}

// count reports whether one more folder of the root may be read. A folder inside
// of a skill does not count against other skills.
func (s *walker) count(dir string) bool {
	b := &s.bounds
	switch {
	case s.room() > 0 && b.own != nil:
		*b.own++
		b.nested++
		return true
	case s.room() > 0:
		b.folders++
		return true
	case b.own != nil && b.tooNested == "":
		b.tooNested = dir
	case b.own == nil && b.tooMany == "":
		b.tooMany = dir
	}
	return false
}

// countManifest reports whether one more skill, command or plugin of the root may
// be read.
func (s *walker) countManifest(dir string) bool {
	b := &s.bounds
	if b.manifests < s.options.Manifests {
		b.manifests++
		return true
	}
	if b.skillsLeft++; b.skillsLeft == 1 {
		b.tooManySkills = dir
	}
	return false
}

// reportDeep reports a skill, or a plugin, that lies one level too deep. Whether others
// lie below is not known.
func (s *walker) reportDeep(dir string) {
	if s.bounds.tooDeep >= maxTooDeep || !s.count(dir) {
		return
	}
	entries, err := s.list(dir)
	if err != nil || skillFile(entries) == "" && !has(entries, manifest.OngridFile) && findManifest(s.files, dir, entries) == "" {
		return
	}
	s.bounds.tooDeep++
	s.problem(skills.Problem{Severity: skills.Error, Path: s.display(dir), Message: fmt.Sprintf("it lies more than %d folders below its root and is left out", s.options.Depth),
		Remedy: "name it with --skills, or raise scan.depth in the configuration"})
}

// reportBounds reports the bounds that were reached.
func (s *walker) reportBounds() {
	b := &s.bounds
	report := func(severity skills.Severity, dir, message, remedy string) {
		if dir != "" {
			s.problem(skills.Problem{Severity: severity, Path: s.display(dir), Message: message, Remedy: remedy})
		}
	}
	report(skills.Error, b.tooMany, fmt.Sprintf("the root has more than %d folders; those from this one on are left out", s.options.Folders),
		"name the folders that have skills with --skills, or raise scan.folders in the configuration")
	report(skills.Note, b.tooNested, fmt.Sprintf("skills have more than %d folders inside, or one has more than %d; no skill is looked for in those from this one on", s.options.Folders, maxOwnFolders),
		"name the folders that have skills with --skills")
	report(skills.Error, b.tooManySkills, fmt.Sprintf("the root has more than %d skills; left out are this one and %d more", s.options.Manifests, b.skillsLeft-1),
		"name the folders that you use with --skills, or raise scan.manifests in the configuration")
}
