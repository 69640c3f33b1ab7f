package scan

import (
	"fmt"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/manifest"
	"path"
)

// How far a root is read where nobody says otherwise.
const (
	DefaultDepth     = 12      // folders below the root, one in the other
	DefaultManifests = 20_000  // skills, commands and plugins of one root
	DefaultFolders   = 200_000 // folders of one root, without those inside of skills
)

const (
	// maxOwnFolders bounds the folders of one skill that are searched for nested
	// skills.
	maxOwnFolders = 10_000
	// maxCounted bounds the skipped folders that are counted.
	maxCounted = 20_000
	// maxTooDeep bounds the folders reported by name as too deep.
	maxTooDeep = 20
)

// bounds counts the folders and manifests read below one root.
type bounds struct {
	folders, manifests int
	nested             int  // folders inside of skills
	own                *int // those of the skill that is walked; nil outside of skills

	tooDeep, tooMany, tooNested []leftOut
	tooManySkills               leftOut
	skillsLeft                  int
}

// leftOut is a folder that is not read.
type leftOut struct {
	dir, key string // key is its key in scanner.seen
	plugins  bool   // plugins are looked for in it, not skills
}

// room returns the number of folders that may still be read here.
func (s *scanner) room() int {
	if s.bounds.own != nil {
		return min(maxOwnFolders-*s.bounds.own, s.options.Folders-s.bounds.nested)
	}
	return s.options.Folders - s.bounds.folders
}

// count reports whether one more folder of the root may be read. A folder inside
// of a skill does not count against other skills.
func (s *scanner) count(dir string) bool {
	b := &s.bounds
	switch {
	case s.room() > 0 && b.own != nil:
		*b.own++
		b.nested++
		return true
	case s.room() > 0:
		b.folders++
		return true
	case b.own != nil:
		b.tooNested = append(b.tooNested, s.leave(dir))
	default:
		b.tooMany = append(b.tooMany, s.leave(dir))
	}
	return false
}

// countManifest reports whether one more skill, command or plugin of the root may
// be read.
func (s *scanner) countManifest(dir string) bool {
	b := &s.bounds
	if b.manifests < s.options.Manifests {
		b.manifests++
		return true
	}
	if b.skillsLeft++; b.skillsLeft == 1 {
		b.tooManySkills = s.leave(dir)
	}
	return false
}

func (s *scanner) leave(dir string) leftOut {
	return leftOut{dir, s.seenKey(dir), s.root.Plugins && s.inPlugin == nil}
}

// reportBounds reports the skipped folders that have skills, and their number. A
// folder without a skill is no loss.
func (s *scanner) reportBounds() {
	b := &s.bounds
	tally := &tally{scanner: s, seen: map[string]bool{}, most: maxCounted}
	named, unnamed := 0, 0
	for _, left := range b.tooDeep {
		_, found := tally.add(left)
		switch {
		case found == 0:
		case named == maxTooDeep:
			unnamed += found
		default:
			named++
			s.tooDeep(left, counted(found, left.what())+" in it")
		}
	}
	if unnamed > 0 {
		s.tooDeep(leftOut{dir: "."}, counted(unnamed, "skill")+" in further folders")
	}
	s.reportFolders(tally, b.tooMany, skills.Error, fmt.Sprintf("the root has more than %d folders", s.options.Folders),
		"name the folders that have skills with --skills, or raise scan.folders in the configuration")
	s.reportFolders(tally, b.tooNested, skills.Note, fmt.Sprintf("skills have more than %d folders inside, or one has more than %d", s.options.Folders, maxOwnFolders),
		"name the folders that have skills with --skills")
	if b.skillsLeft > 0 {
		s.problem(skills.Problem{Severity: skills.Error, Path: s.display(b.tooManySkills.dir), Message: fmt.Sprintf("the root has more than %d skills; left out are this one and %d more", s.options.Manifests, b.skillsLeft-1),
			Remedy: "name the folders that you use with --skills, or raise scan.manifests in the configuration"})
	}
}

func (s *scanner) tooDeep(left leftOut, what string) {
	s.problem(skills.Problem{Severity: skills.Error, Path: s.display(left.dir), Message: fmt.Sprintf("it lies more than %d folders below its root; left out: %s", s.options.Depth, what),
		Remedy: "name it with --skills, or raise scan.depth in the configuration"})
}

// reportFolders reports folders beyond a bound: as an error where they have
// skills, or may have, and with the severity otherwise where they have none.
func (s *scanner) reportFolders(tally *tally, left []leftOut, otherwise skills.Severity, reason, remedy string) {
	if len(left) == 0 {
		return
	}
	folders, manifests := 0, 0
	for _, l := range left {
		f, m := tally.add(l)
		folders, manifests = folders+f, manifests+m
	}
	if folders == 0 && !tally.full {
		return
	}
	least, severity := "", otherwise
	if tally.full {
		least = "at least "
	}
	if manifests > 0 {
		severity = skills.Error
	} else if !tally.full {
		severity = skills.Note
	}
	s.problem(skills.Problem{Severity: severity, Path: s.display(left[0].dir), Message: fmt.Sprintf("%s; left out from this one on: %s%s with %s", reason, least, counted(folders, "folder"), counted(manifests, left[0].what())), Remedy: remedy})
}

func (l leftOut) what() string {
	if l.plugins {
		return "plugin"
	}
	return "skill"
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// A tally counts the folders that were left out, each once.
type tally struct {
	*scanner
	seen map[string]bool
	most int  // folders that are counted
	full bool // there are more
}

// add counts a folder and those below it, unless the scan came to them in
// another way.
func (t *tally) add(left leftOut) (folders, manifests int) {
	if t.scanner.seen[left.key] {
		return 0, 0
	}
	for todo := []string{left.dir}; len(todo) > 0; {
		dir := todo[0]
		todo = todo[1:]
		if t.seen[dir] || t.ctx.Err() != nil {
			continue
		}
		if len(t.seen) == t.most {
			t.full = true
			return folders, manifests
		}
		t.seen[dir] = true
		entries, err := t.list(dir)
		if err != nil {
			continue
		}
		folders++
		switch {
		case left.plugins && findManifest(t.files, dir, entries) != "":
			manifests++
		case !left.plugins && (skillFile(entries) != "" || has(entries, manifest.OngridFile)):
			manifests++
		}
		for _, entry := range entries {
			if entry.IsDir() && !Skip(entry.Name()) {
				todo = append(todo, path.Join(dir, entry.Name()))
			}
		}
	}
	return folders, manifests
}
