package terminal

import (
	"io"
	"strings"
)

// Columns writes a row of headings and rows, whose cells are separated by tabs. A narrow
// terminal goes without the optional columns, the first of them first.
func Columns(w io.Writer, rows func(w io.Writer), optional ...string) error {
	return Table{Optional: optional}.Rows(w, rows)
}

// Facts writes rows of a name and a text, separated by a tab.
func Facts(w io.Writer, rows func(w io.Writer)) error { return Table{Facts: true}.Rows(w, rows) }

// Rows writes the rows that a function writes.
func (t Table) Rows(w io.Writer, rows func(w io.Writer)) error {
	var text strings.Builder
	rows(&text)
	return t.Write(w, text.String())
}
