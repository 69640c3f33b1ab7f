package scan

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"

	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/manifest"
	"github.com/skillsmcp/skills-mcp/skills/skillfs"
)

// A walker visits the folders of one root, within its bounds.
type walker struct {
	*rootReader
	ctx     context.Context
	options Options
	seen    map[[2]string]bool // folders of this root, without links, that were entered, by scope
	scope   string             // the plugin whose folders are walked; "" outside of plugins
	bounds  bounds
	before  *memory            // of the scan before, or nil
	ahead   map[string]listing // folders that were read before their turn
}

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

// walk calls visit for dir and the folders below it, in sorted order, each
// once, whatever links lead there.
func (s *walker) walk(dir string, depth int, visit func(dir string, entries []fs.DirEntry) (enter bool)) {
	if s.ctx.Err() != nil {
		return
	}
	key := [2]string{s.scope, dir}
	if s.seen[key] || !s.count(dir) {
		return
	}
	s.seen[key] = true
	entries, err := s.list(dir)
	if err != nil {
		s.reject(s.display(dir), err)
		return
	}
	if dir == "." && s.root.Only != "" {
		entries = slices.DeleteFunc(slices.Clone(entries), func(e fs.DirEntry) bool { return e.Name() != s.root.Only })
	}
	if !visit(dir, entries) {
		return
	}
	if depth > 0 && (skillFile(entries) != "" || has(entries, manifest.OngridFile)) {
		outer := s.bounds.own
		s.bounds.own = new(int)
		defer func() { s.bounds.own = outer }()
	}
	children := s.children(dir, entries)
	if depth < s.options.Depth {
		s.readAhead(children)
	}
	for _, child := range children {
		if depth+1 > s.options.Depth {
			s.reportDeep(child)
			continue
		}
		s.walk(child, depth+1, visit)
	}
}

// children returns the folders among a folder's entries, with links followed.
func (s *walker) children(dir string, entries []fs.DirEntry) []string {
	var children []string
	for _, entry := range entries {
		if child := s.child(dir, entry); child != "" {
			children = append(children, child)
		}
	}
	return children
}

// child returns the folder that an entry is, with links followed, or "".
func (s *walker) child(dir string, entry fs.DirEntry) string {
	name := path.Join(dir, entry.Name())
	switch {
	case Skip(entry.Name()):
		return ""
	case entry.IsDir():
		return name
	case entry.Type()&fs.ModeSymlink == 0:
		return ""
	}
	real, err := skillfs.Resolve(s.root.FS, s.root.Dir, name)
	if errors.Is(err, skillfs.ErrLeaves) {
		s.leaving(name)
	}
	if err != nil {
		return ""
	}
	if info, err := fs.Stat(s.root.FS, real); err != nil || !info.IsDir() {
		return ""
	}
	return real
}

// leaving reports a link out of the root, where it leads to a skill.
func (s *walker) leaving(name string) {
	if s.root.Dir == "" {
		return
	}
	target, err := filepath.EvalSymlinks(s.host(name))
	if err != nil || s.builder.reads(target) || findSkillFile(skillfs.DirFS(target), ".") == "" {
		return
	}
	s.problem(skills.Problem{Severity: skills.Warning, Path: s.display(name), Message: "the link leads out of its root to " + target + " and was not followed", Remedy: "add --skills " + target})
}

// list returns the entries of a folder of the root: as the scan before left
// them, or as they were read ahead, or else read now.
func (s *walker) list(dir string) ([]fs.DirEntry, error) {
	host := s.host(dir)
	if l := s.before.listing(host); l != nil {
		s.memory.listings[host] = l
		return l, nil
	}
	if l := s.memory.listing(host); l != nil { // a plugin's folder is walked twice
		return l, nil
	}
	l, read := s.ahead[dir]
	delete(s.ahead, dir)
	if !read {
		var err error
		if l, err = s.read(dir); err != nil {
			return nil, err
		}
	}
	if host != "" {
		s.memory.listings[host] = l
	}
	return l, nil
}

// readAhead reads folders on all processors. A folder that cannot be read is
// reported in its turn.
func (s *walker) readAhead(dirs []string) {
	dirs = s.unread(dirs)
	read := make([]listing, len(dirs))
	share(len(dirs), func(i int) {
		if s.ctx.Err() == nil {
			read[i], _ = s.read(dirs[i])
		}
	})
	for i, l := range read {
		if l != nil {
			s.ahead[dirs[i]] = l
		}
	}
}

// unread returns the folders that will be read, within the root's limit.
func (s *walker) unread(dirs []string) []string {
	var unread []string
	room := s.room()
	for _, dir := range dirs {
		if len(unread) >= room {
			break
		}
		if s.before.listing(s.host(dir)) == nil && s.ahead[dir] == nil {
			unread = append(unread, dir)
		}
	}
	return unread
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
