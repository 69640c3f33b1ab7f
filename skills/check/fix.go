package check

import (
	"bytes"
	"fmt"
)

// Fix returns a SKILL.md without the faults that have one certain remedy, and the
// changes. It removes a byte order mark and Windows line ends from the
// frontmatter, quotes values with a colon and normalizes the name. Names with underscores, which Colony allows, are normalized
// only if strict. No other byte changes. Fix is idempotent and does not modify data.
func Fix(data []byte, strict bool) ([]byte, []Change) {
	var all []Change
	for _, find := range []func([]byte) []edit{
		quoteColons,
		func(data []byte) []edit { return normalizeName(data, strict) },
		removeReturns, removeMark, // last: the columns of the changes above are those of the file
	} {
		var changes []Change
		data, changes = apply(data, find(data))
		all = append(all, changes...)
	}
	return data, all
}

// removeMark removes a byte order mark before a frontmatter: some clients look for
// the fence in the very first bytes.
func removeMark(data []byte) []edit {
	f, ok := findFrontmatter(data)
	if !ok || f.close < 0 || !bytes.HasPrefix(data, []byte(byteOrderMark)) {
		return nil
	}
	return []edit{{0, len(byteOrderMark), "", &Change{
		Line: 1, Col: 1, Message: "removed the byte order mark",
		Problem: "the file begins with a byte order mark, which some clients do not read past",
	}}}
}

// removeReturns ends the lines of the frontmatter with LF alone.
func removeReturns(data []byte) []edit {
	f, ok := findFrontmatter(data)
	if !ok || f.close < 0 {
		return nil
	}
	var edits []edit
	for at, line := 0, 1; at < f.end; line++ {
		text, next := lineAt(data, at)
		// Windows writes one CR; a line with several is something else.
		if end := at + len(text); bytes.HasPrefix(data[end:next], []byte("\r\n")) && !bytes.HasSuffix(text, []byte("\r")) {
			edits = append(edits, edit{end, end + 1, "", nil})
			if len(edits) == 1 {
				edits[0].change = &Change{Line: line, Problem: "the frontmatter has Windows line ends, which some clients do not read"}
			}
		}
		at = next
	}
	if len(edits) > 0 {
		edits[0].change.Message = fmt.Sprintf("changed the line ends of the frontmatter, %d of them, to LF", len(edits))
	}
	return edits
}
