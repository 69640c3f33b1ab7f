package terminal

import (
	"io"
	"strings"

	"github.com/skillsmcp/skills-mcp/server/termtext"
)

// A Table is the layout of rows, whose cells are separated by tabs. Off a terminal, cells
// are whole and lines have any length.
type Table struct {
	// Facts are rows without headings. The last cell of each is wrapped where it does not
	// fit; other tables cut it.
	Facts bool
	// Headless tables go on: the row of headings is not printed.
	Headless bool
	// Optional names the columns that a narrow terminal goes without, the first of them
	// first.
	Optional []string
}

// gap is the number of spaces between two columns.
const gap = 2

// Write writes the rows to w.
func (t Table) Write(w io.Writer, rows string) error { return t.WriteScreen(w, Of(w), rows) }

// WriteScreen writes the rows to w, as they are fit for a screen.
func (t Table) WriteScreen(w io.Writer, s Screen, rows string) error {
	g := grid{Table: t, screen: s}
	for line := range strings.Lines(termtext.Text(rows)) {
		g.rows = append(g.rows, strings.Split(strings.TrimSuffix(line, "\n"), "\t"))
	}
	g.measure()
	if s.Width > 0 && !t.Facts {
		g.fit()
	}
	var out strings.Builder
	for i, row := range g.rows {
		if i > 0 || !t.Headless {
			g.row(&out, row, i == 0 && !t.Facts)
		}
	}
	_, err := io.WriteString(w, out.String())
	return err
}

// A grid is a table with its cells.
type grid struct {
	Table
	screen Screen
	rows   [][]string
	widths []int // of columns
}

// measure sets the widths of the columns to those of their widest cells. The last cell of a
// fact does not count, as it is wrapped.
func (g *grid) measure() {
	g.widths = nil
	for _, row := range g.rows {
		for i, cell := range row {
			if i == len(g.widths) {
				g.widths = append(g.widths, 0)
			}
			if !g.Facts || i < len(row)-1 {
				g.widths[i] = max(g.widths[i], Width(cell))
			}
		}
	}
}

// The last cells have texts: for roomy columns of these, others are left out, and for the
// least number of columns, others are narrowed.
const (
	roomyText = 48
	leastText = 24
)

// fit leaves columns out, and narrows the others, until a row fits the screen.
func (g *grid) fit() {
	for _, name := range g.Optional {
		last := len(g.widths) - 1
		if g.excess()-max(0, g.widths[last]-roomyText) <= 0 {
			break
		}
		g.drop(name)
	}
	last := len(g.widths) - 1
	g.widths[last] -= min(max(0, g.excess()), max(0, g.widths[last]-leastText))
	for g.excess() > 0 {
		widest := 0
		for i, n := range g.widths {
			if n >= g.widths[widest] {
				widest = i
			}
		}
		if g.widths[widest] <= 3 {
			return
		}
		g.widths[widest]--
	}
}

// excess returns the number of columns by which a row is longer than a line.
func (g *grid) excess() int {
	sum := -gap
	for _, n := range g.widths {
		sum += n + gap
	}
	return sum - g.screen.Width
}

// drop leaves out a column.
func (g *grid) drop(name string) {
	for at, heading := range g.rows[0] {
		if heading != name {
			continue
		}
		for i, row := range g.rows {
			if at < len(row) {
				g.rows[i] = append(row[:at:at], row[at+1:]...)
			}
		}
		g.widths = append(g.widths[:at], g.widths[at+1:]...)
		return
	}
}

// row writes a row.
func (g *grid) row(out *strings.Builder, row []string, heading bool) {
	column, pending := 0, 0 // spaces that another cell follows
	for i, cell := range row {
		lines := []string{cell}
		switch room := g.screen.Width - column; {
		case g.screen.Width == 0:
		case !g.Facts:
			if lines[0] = Cut(cell, g.widths[i]); i == 0 {
				lines[0] = CutMiddle(cell, g.widths[i])
			}
		case i == len(row)-1 && room >= leastText && Width(cell) > room:
			lines = Wrap(cell, room)
		}
		for n, line := range lines {
			if n > 0 {
				out.WriteByte('\n')
				pending = column
			}
			if line != "" {
				out.WriteString(strings.Repeat(" ", pending) + g.screen.Paint(g.style(row, i, heading), line))
				pending = 0
			}
		}
		if i < len(row)-1 {
			pending += g.widths[i] + gap - Width(lines[0])
			column += g.widths[i] + gap
		}
	}
	out.WriteByte('\n')
}

// style returns the style of a cell of a row. Only columns and facts with one of a few words
// have one, and a mark at the beginning of a fact.
func (g *grid) style(row []string, i int, heading bool) Style {
	cell := strings.TrimSpace(row[i])
	name := ""
	switch {
	case heading:
		return Bold
	case !g.Facts && i < len(g.rows[0]):
		name = strings.ToLower(g.rows[0][i])
	case g.Facts && i == 0 && len(row) > 1:
		if cell == "ok" || cell == "warn" || cell == "FAIL" {
			return Tone(cell)
		}
	case g.Facts && i == 1:
		name = strings.TrimSpace(row[0])
	}
	switch name {
	case "state", "class", "outcome":
		word, _, _ := strings.Cut(cell, " ")
		return Tone(strings.TrimSuffix(word, ":"))
	}
	return Plain
}
