package markdown

import (
	"math"
	"strings"
)

const (
	// maxCost bounds the sum, over the paragraphs of a text, of bytes times delimiters: the
	// parser compares delimiters with each other. This is half a second; a long page of
	// instructions has a thousandth of it.
	maxCost = 500_000_000
	// maxMarkers bounds the quotes and lists that one line begins.
	maxMarkers = 32
	// maxOpen bounds the sum, over the lines, of the lists and quotes that may be open: the
	// parser asks each of them about each line, blank ones too.
	maxOpen = 1_000_000
	// maxCells bounds the cells of tables: the parser fills up short rows.
	maxCells = 100_000
	// maxDepth bounds the nesting of elements; browsers stop at 512.
	maxDepth = 128
)

// hostile reports whether a text would take longer to parse than any that people write.
func hostile(text string) bool {
	var c costs
	for line := range strings.Lines(text) {
		n, column := markers(line)
		if n > maxMarkers {
			return true
		}
		blank := strings.TrimLeft(line, " \t\r\n") == ""
		c.nest(line, n, column, blank)
		c.add(line, blank)
		if c.open > maxOpen || c.inline > maxCost || c.cells > maxCells {
			return true
		}
	}
	return false
}

// costs sums the costs of the lines of a text so far.
type costs struct {
	inline, open, cells int
	// Of the paragraph: its bytes, delimiters, lines, and the most bars of a line.
	size, delimiters, lines, bars int

	lists []list // that may be open, the outer ones first
	depth int    // markers of all lists
	blank bool   // the line before was
}

// A list may be open from the column of its last marker on.
type list struct{ column, markers int }

// add counts a line of a paragraph, or its end.
func (c *costs) add(line string, blank bool) {
	if blank {
		c.size, c.delimiters, c.lines, c.bars = 0, 0, 0, 0
		return
	}
	c.inline -= c.size * c.delimiters
	c.cells -= c.lines * c.bars
	c.size, c.delimiters, c.lines = c.size+len(line), c.delimiters+count(line), c.lines+1
	c.bars = max(c.bars, strings.Count(line, "|"))
	c.inline += c.size * c.delimiters
	c.cells += c.lines * c.bars
}

// nest opens and ends lists at a line, and counts those that are open.
func (c *costs) nest(line string, markers, column int, blank bool) {
	least := column
	if markers == 0 && c.blank && !blank && line[0] != ' ' && line[0] != '\t' {
		least = 0 // a paragraph after all lists
	}
	for last := len(c.lists) - 1; last >= 0 && c.lists[last].column >= least; last-- {
		c.depth -= c.lists[last].markers
		c.lists = c.lists[:last]
	}
	if markers > 0 {
		c.lists = append(c.lists, list{column, markers})
		c.depth += markers
	}
	c.open += c.depth
	c.blank = blank
}

// count returns the number of characters of a line that begin or end inline elements.
func count(line string) (n int) {
	for i := range len(line) {
		switch line[i] {
		case '[', ']', '(', ')', '*', '_', '`', '~', '<', '!', '&', ':', '@':
			n++
		}
	}
	return n
}

// markers returns the number of quotes and list items that a line may begin, and the column
// of the last; without one, a column that is beyond all.
func markers(line string) (n, column int) {
	at := 0
	column = math.MaxInt
	for i := range len(line) {
		switch c := line[i]; {
		case c == '>':
			n, column = n+1, at
		case c == '\t':
			at += tabWidth - 1 - at%tabWidth
		case c == ' ' || c >= '0' && c <= '9':
		case strings.IndexByte("-+*.)", c) >= 0:
			if i+1 == len(line) || strings.IndexByte(" \t\r\n", line[i+1]) >= 0 {
				n, column = n+1, at
			}
		default:
			return n, column
		}
		at++
	}
	return n, column
}

// tabWidth is that of Markdown.
const tabWidth = 4

// deep reports whether the elements of HTML nest too deep. Each '<' begins a tag.
func deep(html string) bool {
	depth := 0
	for {
		_, rest, found := strings.Cut(html, "<")
		switch {
		case !found:
			return false
		case strings.HasPrefix(rest, "/"):
			depth--
		case !strings.HasPrefix(rest, "br") && !strings.HasPrefix(rest, "hr"):
			depth++
		}
		if depth > maxDepth {
			return true
		}
		html = rest
	}
}
