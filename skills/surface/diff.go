package surface

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/skillfs"
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
	if err != nil {
		return "", err
	}
	is, err := versions(now)
	if err != nil {
		return "", err
	}
	all, room := []fileChange(nil), int64(maxDiffBytes)
	names := maps.Clone(was)
	maps.Copy(names, is)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if was[name] != is[name] {
			room -= was[name].size + is[name].size
			c, err := compareFile(name, version{before, was[name]}, version{now, is[name]}, room >= 0)
			if err != nil {
				return "", err
			}
			if slices.Contains(entries, name) {
				c.rank, c.notes = 0, append(c.notes, "the entry point")
			}
			all = append(all, c)
		}
	}
	return render(all), nil
}

// Entries returns the programs that a skill and its tools start, as paths in its folder.
func Entries(skill *skills.Skill) (all []string) {
	for _, s := range append([]*skills.Skill{skill.Owner()}, skill.Owner().Tools...) {
		if s.Entry != nil {
			all = append(all, path.Clean(s.Entry.Script))
		}
	}
	return all
}

// A fileState is the state of a file in one version; the zero value is none.
type fileState struct {
	digest, link string
	size         int64
	executable   bool
}

// versions returns the states of the files and links of a folder.
func versions(files fs.FS) (map[string]fileState, error) {
	all := map[string]fileState{}
	return all, fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() == ".git": // no snapshot has it
			return fs.SkipDir
		case d.Type()&fs.ModeSymlink != 0:
			to, err := fs.ReadLink(files, name)
			all[name] = fileState{link: "a link to " + to}
			return err
		case !d.Type().IsRegular():
			return nil
		}
		file, err := skillfs.OpenRegular(files, name)
		if err != nil {
			return err
		}
		defer file.Close()
		info, err := file.Stat()
		h := newHash()
		if err == nil {
			_, err = io.Copy(h, file)
			all[name] = fileState{digest: h.sum(), size: info.Size(), executable: info.Mode()&0o111 != 0}
		}
		return err
	})
}

// A version is a file of one version of a folder.
type version struct {
	files fs.FS
	fileState
}

// text returns the content of a text, and reports whether it is one that can be shown.
func (v version) text(name string) (text string, ok bool, err error) {
	if v.digest == "" || v.size > maxFile {
		return "", v.digest == "", nil
	}
	data, err := fs.ReadFile(v.files, name)
	text, garbled := decode(data)
	return text, !isMedia(name, data) && (!garbled || mostlyText(text)), err
}

// String names the content of a file that cannot be shown.
func (v version) String() string {
	if v.fileState == (fileState{}) {
		return "nothing"
	}
	return cmp.Or(v.link, fmt.Sprintf("%d bytes, %s", v.size, v.digest))
}

// A fileChange is the difference of one file.
type fileChange struct {
	name  string
	rank  int // the first is shown first
	notes []string
	lines []string // unified
}

// compareFile returns the difference of a file that differs; without read that of its
// state alone.
func compareFile(name string, was, is version, read bool) (fileChange, error) {
	c := fileChange{name: name, rank: 3}
	none := fileState{}
	if isDefinition(name) {
		c.rank = 2
	}
	before, shown, err := was.text(name)
	now, also, failed := is.text(name)
	if err = errors.Join(err, failed); err != nil {
		return c, err
	}
	text := cmp.Or(now, before)
	if l := languageOf(strings.ToLower(path.Ext(name)), text, nil); is.executable || was.executable || strings.HasPrefix(text, "#!") || l == shellCode || l == pythonCode || l == nodeCode || isProgram(name, []byte(text)) {
		c.rank, c.notes = 1, []string{"executed"}
	}
	switch {
	case was.fileState == none:
		c.notes = append(c.notes, "added")
	case is.fileState == none:
		c.rank, c.notes = c.rank+4, append(c.notes, "removed")
	case is.executable != was.executable:
		c.notes = append(c.notes, map[bool]string{true: "may be executed now", false: "may not be executed any more"}[is.executable])
	}
	switch {
	case was.digest == is.digest && was.link == is.link: // the mode
	case !shown || !also || !read || was.link+is.link != "":
		c.notes = append(c.notes, fmt.Sprintf("not shown: was %s, is %s", was, is))
	case before == now:
		c.notes = append(c.notes, "the same text in other bytes")
	default:
		c.lines = unified(name, before, now)
	}
	return c, nil
}

// unified returns the difference of two texts.
func unified(name, before, now string) []string {
	_, hunks, _ := strings.Cut(string(diff.Diff("", []byte(before), "", []byte(now))), "@@")
	return append([]string{"--- " + name, "+++ " + name}, splitLines("@@"+hunks)...)
}

func splitLines(text string) []string { return strings.Split(strings.TrimSuffix(text, "\n"), "\n") }

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
		b.WriteString(escape(shortened(strings.ReplaceAll(line, "\t", "    ")), false) + "\n")
		room--
	}
	for _, c := range all {
		if room <= 0 {
			left, files = left+max(1, changed(c.lines)-2), files+1
			continue
		}
		head := "diff " + c.name
		if len(c.notes) > 0 {
			head += " (" + strings.Join(c.notes, ", ") + ")"
		}
		write(head)
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

// TextDiff is [Diff] for an earlier version whose files are not kept: of the texts that a
// model reads, and with the names of the executed files that differ.
func (s *Surface) TextDiff(since *Surface) string {
	var all []fileChange
	had := since.index()
	for _, i := range s.Items {
		if (i.Kind == Script || i.Kind == Program) && !had[string(i.Kind)+"\x01"+i.Digest] {
			all = append(all, fileChange{name: i.Value, notes: []string{"executed", "what it was is not kept"}})
		}
	}
	var names []string
	for _, t := range slices.Concat(since.Texts, s.Texts) {
		if !slices.Contains(names, t.Name) {
			names = append(names, t.Name)
		}
	}
	for _, name := range names {
		now, before := cmp.Or(s.text(name), &Text{}), cmp.Or(since.text(name), &Text{})
		c := fileChange{name: strings.TrimPrefix(name, ":"), rank: 1}
		switch {
		case now.Digest == before.Digest:
			continue
		case now.Content == before.Content:
			c.notes = []string{"the part that differs is not kept"}
		default:
			c.lines = unified(c.name, before.Content, now.Content)
		}
		all = append(all, c)
	}
	if len(all) == 0 {
		return ""
	}
	return "… the files of the accepted version are not kept: this compares the texts that a model reads\n" + render(all)
}
