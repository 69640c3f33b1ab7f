package check

import (
	"bytes"
	"fmt"
)

// A Change is one thing that was mended.
type Change struct {
	Line, Col int    // from 1, in the file before the change
	Message   string // what was done
	// Problem says what was wrong; "" where loading the skill says it.
	Problem string
}

// edit replaces a range of bytes.
type edit struct {
	start, end int
	text       string
	change     *Change // nil where another edit tells of it
}

// Mend returns a SKILL.md without the faults that can be mended for certain, and
// what was done: a byte order mark and Windows line ends are taken out of the
// frontmatter, its missing end is added, values with a colon are quoted and the
// name is written as the standard wants it. Names with underscores, which Colony
// allows, are left alone unless strict. No other byte is changed, and a mended
// file is mended no further. data is not changed.
func Mend(data []byte, strict bool) ([]byte, []Change) {
	var all []Change
	for _, find := range []func([]byte) []edit{
		closeFront, quoteColons,
		func(data []byte) []edit { return normalizeName(data, strict) },
		takeReturns, takeMark, // last: the columns told above are those of the file
	} {
		var changes []Change
		data, changes = apply(data, find(data))
		all = append(all, changes...)
	}
	return data, all
}

// apply makes edits, which come in order and do not overlap.
func apply(data []byte, edits []edit) ([]byte, []Change) {
	if len(edits) == 0 {
		return data, nil
	}
	var out bytes.Buffer
	var changes []Change
	at := 0
	for _, e := range edits {
		out.Write(data[at:e.start])
		out.WriteString(e.text)
		at = e.end
		if e.change != nil {
			changes = append(changes, *e.change)
		}
	}
	out.Write(data[at:])
	return out.Bytes(), changes
}

// takeMark removes a byte order mark before a frontmatter: some clients look for
// the fence in the very first bytes.
func takeMark(data []byte) []edit {
	f, ok := findFront(data)
	if !ok || f.close < 0 || !bytes.HasPrefix(data, []byte(byteOrderMark)) {
		return nil
	}
	return []edit{{0, len(byteOrderMark), "", &Change{
		Line: 1, Col: 1, Message: "removed the byte order mark",
		Problem: "the file begins with a byte order mark, which some clients do not read past",
	}}}
}

// takeReturns ends the lines of the frontmatter with LF alone.
func takeReturns(data []byte) []edit {
	f, ok := findFront(data)
	if !ok || f.close < 0 {
		return nil
	}
	var edits []edit
	for at, line := 0, 1; at < f.end; line++ {
		text, next := lineAt(data, at)
		// A line that ends with more than one is none of Windows'.
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
