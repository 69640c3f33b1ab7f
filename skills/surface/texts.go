package surface

import (
	"fmt"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/truncate"
)

// The limits of a difference of texts.
const (
	maxDiffLines = 200 // that are returned
	maxDiffWidth = 240 // bytes of one
	maxDiffCells = 1 << 22
	contextLines = 2
)

// TextDiff returns how the texts that a model reads differ from those of another surface,
// as a unified difference of at most 200 lines; "" if they do not. A stranger's
// characters that are invisible or control a terminal are codes.
func (s *Surface) TextDiff(since *Surface) string {
	var lines []string
	var names []string
	for _, t := range slices.Concat(since.Texts, s.Texts) {
		if !slices.Contains(names, t.Name) {
			names = append(names, t.Name)
		}
	}
	for _, name := range names {
		now, before := s.text(name), since.text(name)
		if now == nil {
			now = &Text{}
		}
		if before == nil {
			before = &Text{}
		}
		if now.Digest == before.Digest {
			continue
		}
		shown := strings.TrimPrefix(name, ":")
		lines = append(lines, "--- "+shown, "+++ "+shown)
		hunks := diff(splitLines(before.Content), splitLines(now.Content))
		if len(hunks) == 0 {
			hunks = []string{"  the part that differs is not kept"}
		}
		lines = append(lines, hunks...)
	}
	if len(lines) > maxDiffLines {
		lines = append(lines[:maxDiffLines:maxDiffLines], fmt.Sprintf("… and %d more lines", len(lines)-maxDiffLines))
	}
	var b strings.Builder
	for _, line := range lines {
		b.WriteString(escape(truncate.String(line, maxDiffWidth), true) + "\n")
	}
	return b.String()
}

func splitLines(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

// diff returns the unified difference of two lists of lines.
func diff(before, now []string) []string {
	from := 0
	for from < len(before) && from < len(now) && before[from] == now[from] {
		from++
	}
	end := 0
	for end < len(before)-from && end < len(now)-from && before[len(before)-1-end] == now[len(now)-1-end] {
		end++
	}
	edits := editsOf(before[from:len(before)-end], now[from:len(now)-end])
	var all []string
	for _, line := range before[max(0, from-contextLines):from] {
		all = append(all, " "+line)
	}
	all = append(all, folded(edits)...)
	if len(edits) == 0 {
		return nil
	}
	for _, line := range before[len(before)-end : min(len(before), len(before)-end+contextLines)] {
		all = append(all, " "+line)
	}
	return append([]string{fmt.Sprintf("@@ -%d +%d @@", from+1, from+1)}, all...)
}

// editsOf returns the lines of a shortest difference, each with its sign: " ", "-" or
// "+". Two long texts are replaced as a whole.
func editsOf(before, now []string) (edits []string) {
	if len(before)*len(now) > maxDiffCells {
		return append(signed("-", before), signed("+", now)...)
	}
	// common[i][j] is the length of the longest common sequence of before[i:], now[j:].
	width := len(now) + 1
	common := make([]uint16, (len(before)+1)*width)
	for i := len(before) - 1; i >= 0; i-- {
		for j := len(now) - 1; j >= 0; j-- {
			if before[i] == now[j] {
				common[i*width+j] = common[(i+1)*width+j+1] + 1
			} else {
				common[i*width+j] = max(common[(i+1)*width+j], common[i*width+j+1])
			}
		}
	}
	i, j := 0, 0
	for i < len(before) && j < len(now) {
		switch {
		case before[i] == now[j]:
			edits = append(edits, " "+before[i])
			i++
			j++
		case common[(i+1)*width+j] >= common[i*width+j+1]:
			edits = append(edits, "-"+before[i])
			i++
		default:
			edits = append(edits, "+"+now[j])
			j++
		}
	}
	return append(append(edits, signed("-", before[i:])...), signed("+", now[j:])...)
}

func signed(sign string, lines []string) (all []string) {
	for _, line := range lines {
		all = append(all, sign+line)
	}
	return all
}

// folded returns edits with "…" for the lines that are far from a change.
func folded(edits []string) (all []string) {
	near := func(at int) bool {
		for _, edit := range edits[max(0, at-contextLines):min(len(edits), at+contextLines+1)] {
			if edit[0] != ' ' {
				return true
			}
		}
		return false
	}
	skipped := false
	for i, edit := range edits {
		switch {
		case near(i):
			all, skipped = append(all, edit), false
		case !skipped:
			all, skipped = append(all, "…"), true
		}
	}
	return all
}
