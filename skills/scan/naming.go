package scan

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/manifest"
	"github.com/skillsmcp/skills-mcp/skills/skillfs"
)

// settleNames separates skills of one root that have the same name: each gets the
// name of a folder before its own, as alice/deploy and bob/deploy. Copies of one
// skill count once. addSkill decides which one shadows the other between roots.
func settleNames(candidates []*candidate) (problems []skills.Problem) {
	type name struct{ root, plugin, name string }
	first := map[name]*candidate{}
	groups := map[name][]*candidate{}
	var order []name
	for _, c := range candidates {
		if c.err != nil {
			continue
		}
		key := name{c.root.String(), c.skill.Plugin, c.skill.Name}
		switch {
		case first[key] == nil:
			first[key] = c
		case groups[key] == nil:
			groups[key] = []*candidate{first[key], c}
			order = append(order, key)
		default:
			groups[key] = append(groups[key], c)
		}
	}
	if len(order) > 0 {
		names := map[string]bool{}
		for key := range first {
			names[joinNames(key.plugin, key.name)] = true
		}
		for _, key := range order {
			problems = append(problems, settleName(groups[key], names)...)
		}
	}
	for _, c := range candidates {
		if c.err == nil {
			c.settle(c.above, "")
		}
	}
	return problems
}

// settleName names candidates of one root that have the same name.
func settleName(group []*candidate, names map[string]bool) []skills.Problem {
	group = withoutCopies(rivals(group))
	if len(group) < 2 {
		return nil
	}
	var told []string
	for i, folder := range foldersOf(group, names) {
		group[i].above = folder
		told = append(told, fmt.Sprintf("%s (%s)", group[i].with(folder), group[i].skill.File))
	}
	return []skills.Problem{{Severity: skills.Warning, Path: group[1].skill.File, Message: fmt.Sprintf("%d different skills have the name %q and are told apart by their folders: %s", len(group), joinNames(group[0].skill.Plugin, group[0].skill.Name), skills.Enumerate(manifest.FirstFew(told, 5), "and")),
		Remedy: "rename all but one of them"}}
}

// rivals returns the candidates of highest rank, which compete for one name. As in
// Claude Code a skill comes before a command, and as in ongrid the first skill.json
// of a name is the only one; a package comes after the folders that it may be made
// from.
func rivals(group []*candidate) []*candidate {
	rank := func(c *candidate) int {
		switch {
		case c.command:
			return 2
		case c.packed != nil:
			return 1
		}
		return 0
	}
	best := slices.MinFunc(group, func(a, b *candidate) int { return rank(a) - rank(b) })
	ongrid := false
	var kept []*candidate
	for _, c := range group {
		c.behind = rank(c) != rank(best) || c.file == manifest.OngridFile && ongrid
		ongrid = ongrid || c.file == manifest.OngridFile
		if !c.behind {
			kept = append(kept, c)
		}
	}
	return kept
}

// withoutCopies marks candidates that have the same files as an earlier one.
func withoutCopies(group []*candidate) []*candidate {
	first := map[[sha256.Size]byte]*candidate{}
	var kept []*candidate
	for _, c := range group {
		sum, ok := c.digest()
		if c.copied = nil; ok {
			c.copied = first[sum]
		}
		if c.copied != nil {
			continue
		}
		if ok {
			first[sum] = c
		}
		kept = append(kept, c)
	}
	return kept
}

// settle sets the folder and the prefix of the candidate's skill and its tools, and
// whether it is trusted: it may have been otherwise in the scan before. A skill that
// another catalog has is not changed.
func (c *candidate) settle(folder, prefix string) {
	trusted := c.root.trusted && c.skill.Workspace != ""
	if s := c.skill; s.Folder == folder && s.Prefix == prefix && s.Trusted == trusted {
		return
	}
	owner := c.skill.Clone()
	for _, s := range append([]*skills.Skill{owner}, owner.Tools...) {
		s.Folder, s.Prefix, s.Trusted = folder, prefix, trusted
	}
	c.skill = owner
}

// foldersOf returns for each candidate the name of the nearest folder in which they
// differ. names are taken already.
func foldersOf(group []*candidate, names map[string]bool) []string {
	ways := make([][]string, len(group))
	longest := 0
	for i, c := range group {
		ways[i] = c.way()
		longest = max(longest, len(ways[i]))
	}
	var folders []string
	for n := 1; n <= longest; n++ {
		outer, whole := make([]string, len(group)), make([]string, len(group))
		for i, way := range ways {
			end := way[max(0, len(way)-n):]
			outer[i], whole[i] = end[0], strings.Join(end, "-")
		}
		for _, folders = range [][]string{outer, whole} {
			if allDifferent(folders) && !slices.ContainsFunc(folders, func(folder string) bool { return names[group[0].with(folder)] }) {
				return folders
			}
		}
	}
	for i := range folders {
		folders[i] = fmt.Sprintf("%s-%d", folders[i], i+1)
	}
	return folders
}

// with returns the qualified name that the candidate would have with a folder.
func (c *candidate) with(folder string) string {
	return joinNames(c.skill.Plugin, folder, c.skill.Name)
}

// way returns the folders that lead to the candidate, the root's first, without
// those whose names all places share. There is at least one.
func (c *candidate) way() []string {
	root := c.root.String()
	below := strings.TrimPrefix(filepath.ToSlash(c.skill.File), filepath.ToSlash(root))
	folders := strings.Split(strings.Trim(path.Dir(below), "/"), "/")
	if len(folders) > 0 && manifest.CleanName(folders[len(folders)-1]) == c.skill.Name {
		folders = folders[:len(folders)-1]
	}
	folders = append(strings.Split(strings.Trim(filepath.ToSlash(root), "/"), "/"), folders...)
	var way []string
	for _, folder := range folders {
		switch folder = manifest.CleanName(folder); folder {
		case "", "skills", "plugins", "commands":
		default:
			way = append(way, folder)
		}
	}
	if len(way) == 0 {
		return []string{"root"}
	}
	return way
}

func allDifferent(names []string) bool {
	names = slices.Sorted(slices.Values(names))
	return len(slices.Compact(names)) == len(names)
}

// joinNames joins those names that are not empty.
func joinNames(names ...string) string {
	return strings.Join(slices.DeleteFunc(names, func(name string) bool { return name == "" }), "/")
}

// The bounds of a comparison. A larger skill is the copy of none.
const (
	maxSameFiles = 1000
	maxSameBytes = 16 << 20
)

// digest returns the hash of the candidate's files; ok is false where they are too many
// or cannot be read. A command is one file.
func (c *candidate) digest() (sum [sha256.Size]byte, ok bool) {
	files, release, err := c.open()
	if err != nil {
		return sum, false
	}
	defer release()
	names := []string{c.file}
	if !c.command {
		if names, ok = fileNames(files); !ok {
			return sum, false
		}
	}
	hash, room := sha256.New(), int64(maxSameBytes)
	for _, name := range names {
		data, err := skillfs.ReadRegular(files, name, room)
		if err != nil {
			return sum, false
		}
		room -= int64(len(data))
		fmt.Fprintf(hash, "%q %d\n", name, len(data))
		_, _ = hash.Write(data) // it never fails
	}
	return [sha256.Size]byte(hash.Sum(nil)), true
}

// fileNames returns the paths of the files in a folder, in order; ok is false
// where there are too many, or not all can be seen.
func fileNames(fsys fs.FS) (names []string, ok bool) {
	err := fs.WalkDir(fsys, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case Skip(entry.Name()):
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		case entry.IsDir():
			return nil
		case len(names) == maxSameFiles:
			return fs.ErrInvalid
		}
		names = append(names, name)
		return nil
	})
	return names, err == nil
}
