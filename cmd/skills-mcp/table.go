package main

import (
	"io"
	"strings"

	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/terminal"
)

// table writes a row of headings and rows, whose cells are separated by tabs. A narrow
// terminal goes without the optional columns, the first of them first.
func table(w io.Writer, rows func(w io.Writer), optional ...string) error {
	return writeTable(w, terminal.Table{Optional: optional}, rows)
}

// facts writes rows of a name and a text, separated by a tab.
func facts(w io.Writer, rows func(w io.Writer)) error {
	return writeTable(w, terminal.Table{Facts: true}, rows)
}

func writeTable(w io.Writer, t terminal.Table, rows func(w io.Writer)) error {
	var text strings.Builder
	rows(&text)
	return t.Write(w, text.String())
}
