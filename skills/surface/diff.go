package surface

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/skillsmcp/skills-mcp/skills"
)

// The limits of a difference.
const (
	maxDiffLines = 400     // of all files
	maxFileLines = 120     // of one
	maxDiffWidth = 400     // bytes of a line
	maxDiffBytes = 8 << 20 // of the texts that are compared
)

// Diff returns how the files of a folder differ from those of an earlier version: each
// text as a unified difference, with the path of each file in a line of its own before
// that. Executed files come first, of these entries before others, and then the texts that
// a model follows. The last line counts the changes over the limits. A stranger's
// characters that are invisible or control a terminal are codes.
func Diff(before, now fs.FS, entries []string) (string, error) {
	was, err := versions(before)
	is, failed := versions(now)
	return compare(was, is, entries), errors.Join(err, failed)
}

// DiffTo is [Diff] for an earlier version of which nothing but the surface is kept: files
// that are neither its texts nor its scripts are shown whole.
func (s *Surface) DiffTo(now fs.FS, entries []string) (string, error) {
	is, err := versions(now)
	was, had := map[string]version{}, s.index()
	for _, t := range s.Texts {
		if !strings.HasPrefix(t.Name, ":") {
			was[t.Name] = version{digest: t.Digest, size: int64(len(t.Content)), executable: is[t.Name].executable, content: t.Content}
		}
	}
	maps.DeleteFunc(is, func(_ string, v version) bool { return had[string(Script)+"\x01"+v.digest] })
	return "… the accepted files are not kept: its texts are compared, and other files shown as if they were added\n" + compare(was, is, entries), err
}

// A version is a file in one version of a folder; the zero value is none.
type version struct {
	digest     string
	size       int64
	executable bool
	files      fs.FS  // that have the content, or else
	content    string // that was kept, or names the target of a link
}

// versions returns the files and links of a folder.
func versions(files fs.FS) (map[string]version, error) {
	all := map[string]version{}
	return all, fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() == ".git": // no snapshot has it
			return fs.SkipDir
		case d.Type()&fs.ModeSymlink != 0:
			to, err := fs.ReadLink(files, name)
			all[name] = version{digest: "link " + to, content: "a link to " + to + "\n"}
			return err
		case !d.Type().IsRegular():
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		digest, err := digestOf(files, name)
		all[name] = version{digest: digest, size: info.Size(), executable: info.Mode()&0o111 != 0, files: files}
		return err
	})
}

// same reports whether a file has the same content and mode in both versions.
func (v version) same(other version) bool {
	return v.digest == other.digest && v.executable == other.executable
}

// text returns the content of a text, and reports whether it can be shown.
func (v version) text(name string) (text string, ok bool) {
	if v.files == nil || v.size > maxFile {
		return v.content, v.files == nil
	}
	data, err := fs.ReadFile(v.files, name)
	text, ok = decode(data)
	return text, ok && err == nil && !isMedia(name, data)
}

// compare returns the difference of two versions of a folder.
func compare(was, is map[string]version, entries []string) string {
	names, room := maps.Clone(was), int64(maxDiffBytes)
	maps.Copy(names, is)
	var all []fileChange
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if was[name].same(is[name]) {
			continue
		}
		room -= was[name].size + is[name].size
		c := compareFile(name, was[name], is[name], room >= 0)
		if slices.Contains(entries, name) {
			c.rank, c.notes = 0, append(c.notes, "the entry point")
		}
		all = append(all, c)
	}
	return render(all)
}

// A fileChange is the difference of one file.
type fileChange struct {
	name  string
	rank  int // the first is shown first
	notes []string
	lines []string // unified
}

// compareFile returns the difference of a file; without lines only its state is compared.
func compareFile(name string, was, is version, lines bool) fileChange {
	c := fileChange{name: name, rank: 3}
	before, shown := was.text(name)
	now, also := is.text(name)
	text := cmp.Or(now, before)
	switch l := languageOf(strings.ToLower(path.Ext(name)), text, nil); {
	case is.executable, was.executable, strings.HasPrefix(text, "#!"), l == shellCode, l == pythonCode, l == nodeCode, isProgram(name):
		c.rank, c.notes = 1, []string{"executed"}
	case isDefinition(name):
		c.rank = 2
	}
	switch {
	case was.same(version{}):
		c.notes = append(c.notes, "added")
	case is.same(version{}):
		c.rank, c.notes = c.rank+4, append(c.notes, "removed")
	case is.executable != was.executable:
		c.notes = append(c.notes, fmt.Sprintf("may be executed now: %t", is.executable))
	}
	switch {
	case was.digest == is.digest: // the mode
	case !shown || !also || !lines:
		c.notes = append(c.notes, fmt.Sprintf("not shown: %d bytes, %s; before: %d, %s", is.size, cmp.Or(is.digest, "none"), was.size, cmp.Or(was.digest, "none")))
	case before == now: // in other bytes
		c.notes = append(c.notes, "no line differs")
	default:
		c.lines = unified(name, before, now)
	}
	return c
}

// unified returns the difference of two texts.
func unified(name, before, now string) []string {
	_, hunks, _ := strings.Cut(string(diff.Diff("", []byte(before), "", []byte(now))), "@@")
	return append([]string{"--- " + name, "+++ " + name}, strings.Split("@@"+strings.TrimSuffix(hunks, "\n"), "\n")...)
}

// changed returns the number of lines that were added or removed.
func changed(lines []string) (n int) {
	for _, line := range lines {
		if line[0] == '+' || line[0] == '-' {
			n++
		}
	}
	return n
}

// render returns the lines of all changes, within the limits. A line that does not begin
// with a blank, "+", "-", "@" or "\" is none of a file.
func render(all []fileChange) string {
	slices.SortStableFunc(all, func(a, b fileChange) int { return cmp.Compare(a.rank, b.rank) })
	var b strings.Builder
	room, left, files := maxDiffLines, 0, 0
	write := func(line string) {
		b.WriteString(skills.Visible(shortened(strings.ReplaceAll(line, "\t", "    "))) + "\n")
		room--
	}
	for _, c := range all {
		if room <= 0 {
			left, files = left+max(1, changed(c.lines)-2), files+1
			continue
		}
		write(strings.TrimSuffix("diff "+c.name+" ("+strings.Join(c.notes, ", ")+")", " ()"))
		fits := min(len(c.lines), maxFileLines, max(room, 2))
		for _, line := range c.lines[:fits] {
			write(line)
		}
		if n := changed(c.lines[fits:]); n > 0 {
			left, files = left+n, files+1
		}
	}
	if files > 0 {
		write(fmt.Sprintf("… %d more changed lines in %d files not shown", left, files))
	}
	return b.String()
}

// shortened returns a line within the limit, with its beginning and its end: so blanks push
// nothing out of sight.
func shortened(line string) string {
	const end = maxDiffWidth / 4
	if len(line) <= maxDiffWidth {
		return line
	}
	return fmt.Sprintf("%s … %d bytes … %s", line[:maxDiffWidth-end], len(line)-maxDiffWidth, line[len(line)-end:])
}
