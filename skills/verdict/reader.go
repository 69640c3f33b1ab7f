package verdict

import (
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/lazyregexp"
	"github.com/skillsmcp/skills-mcp/skills/surface"
)

// A reader matches rules with one file. Sets that several rules share are looked for once.
type reader struct {
	file   *surface.File
	hidden bool // the file has hidden characters
	seen   map[key][]int
}

// A key is a set of passages, by its first, in code or in all of a text.
type key struct {
	set  *string
	code bool
}

func newReader(file *surface.File) *reader {
	r := &reader{file: file, seen: map[key][]int{}}
	for _, item := range file.Items {
		r.hidden = r.hidden || item.Kind == surface.Hidden
	}
	return r
}

// severity returns the severity that a match has in the file; "" is none.
func (r *reader) severity(m *match) Severity {
	switch {
	case r.file.Script:
		return m.Severity[0]
	case r.file.Main:
		return m.Severity[1]
	}
	return m.Severity[2]
}

// find returns the offset of the first match; -1 without one.
func (r *reader) find(m *match) int {
	if m.hidden != nil {
		if at := m.hidden.FindStringSubmatchIndex(r.file.Content); r.hidden && at != nil {
			return at[0]
		}
		return -1
	}
	code := r.file.Script || m.Code
	for _, set := range m.Also {
		if len(r.places(m.Near[0], code)) == 0 || len(r.places(set, code)) == 0 {
			return -1
		}
	}
	for _, at := range r.places(m.Near[0], code) {
		far := func(set []string) bool {
			return !slices.ContainsFunc(r.places(set, code), func(other int) bool { return r.near(at, other, m.Within) })
		}
		if slices.ContainsFunc(m.Near[1:], far) {
			continue
		}
		text := r.around(r.file.Lower, at, m.Within)
		explained := slices.ContainsFunc(m.Unless, func(passage string) bool { return strings.Contains(text, passage) })
		if !explained && (m.wants == nil || m.wants.MatchString(text)) {
			return at
		}
	}
	return -1
}

// lineLength is the length in bytes from which on a line counts as several: minified code
// is one line.
const lineLength = 240

// near reports whether two offsets are within a number of lines.
func (r *reader) near(a, b, lines int) bool {
	a, b = min(a, b), max(a, b)
	return b-a <= (lines+1)*lineLength && r.file.Line(b)-r.file.Line(a) <= lines
}

// around returns the lines of a text within a number of lines of an offset.
func (r *reader) around(text string, at, lines int) string {
	line, reach := r.file.Line(at), (lines+1)*lineLength
	begin, end := r.file.Offset(line-lines), r.file.Offset(line+lines+1)
	return text[max(begin, at-reach):min(end, at+reach)]
}

// maxPlaces bounds the occurrences of a passage that are looked at.
const maxPlaces = 64

// places returns the offsets of a set in the code of the file, or in all of its text.
func (r *reader) places(set []string, code bool) (all []int) {
	k := key{&set[0], code}
	if known, ok := r.seen[k]; ok {
		return known
	}
	text := r.file.Lower
	if code {
		text = r.file.Code
	}
	for _, passage := range set {
		if strings.HasPrefix(passage, "#") && len(passage) > 1 {
			all = append(all, r.items(passage)...)
			continue
		}
		n := 0
		for at := range surface.Whole(text, passage) {
			all = append(all, at)
			if n++; n == maxPlaces {
				break
			}
		}
	}
	r.seen[k] = all
	return all
}

// items returns the offsets of the lines with a capability.
func (r *reader) items(passage string) (all []int) {
	kind, value, _ := strings.Cut(passage[1:], " ")
	for _, item := range r.file.Items {
		if string(item.Kind) == kind && strings.HasPrefix(item.Value, value) {
			all = append(all, r.file.Offset(item.Line))
		}
	}
	return all
}

var quoted = lazyregexp.New("`[^`\n]*`|\"[^\"\n]*\"|“[^”\n]*”|„[^“\n]*“|'[^'\n]{12,}'")

// mentions reports whether a text only speaks of the passage at an offset: a script looks for
// it by a pattern; a text has it in code, in a table, or in quotation marks, without which the
// passage is gone.
func (r *reader) mentions(m *match, at int) bool {
	if r.file.Script {
		const reach = 24
		text := r.file.Content[max(0, at-reach):min(len(r.file.Content), at+reach)]
		return slices.ContainsFunc([]string{`\s`, `\b`, `\+`, `\.`, `.*`, "re.compile(", `(r"`, `(r'`, ` r"`, ` r'`}, func(sign string) bool { return strings.Contains(text, sign) })
	}
	if !m.Spoken {
		return false
	}
	text := r.around(r.file.Content, at, 2)
	if !strings.HasPrefix(r.file.Code[at:], " ") || strings.HasPrefix(strings.TrimSpace(r.around(r.file.Content, at, 0)), "|") {
		return true
	}
	text = quoted.ReplaceAllString(text, " ")
	instructions, lower := surface.Instructions(text), strings.ToLower(text)
	return !slices.ContainsFunc(m.Near[0], func(passage string) bool {
		value, _ := strings.CutPrefix(passage, "#"+string(surface.Instruction)+" ")
		return strings.Contains(lower, passage) || slices.ContainsFunc(instructions, func(i surface.Item) bool { return strings.HasPrefix(i.Value, value) })
	})
}
