package markdown

import "strings"

const (
	// maxCost bounds the sum, over the paragraphs of a text, of bytes times delimiters: the
	// parser compares delimiters with each other. This is half a second; a long page of
	// instructions has a thousandth of it.
	maxCost = 500_000_000
	// maxMarkers bounds the quotes and lists that one line begins.
	maxMarkers = 32
	// maxDepth bounds the nesting of elements; browsers stop at 512.
	maxDepth = 128
)

// hostile reports whether a text would take longer to parse than any that people write.
func hostile(text string) bool {
	cost, size, delimiters := 0, 0, 0
	for line := range strings.Lines(text) {
		if markers(line) > maxMarkers {
			return true
		}
		if strings.TrimLeft(line, " \t\r\n") == "" { // a paragraph ends
			size, delimiters = 0, 0
			continue
		}
		cost -= size * delimiters
		size += len(line)
		delimiters += count(line)
		if cost += size * delimiters; cost > maxCost {
			return true
		}
	}
	return false
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

// markers returns the number of quotes and list items that a line may begin.
func markers(line string) (n int) {
	for i := range len(line) {
		switch c := line[i]; {
		case c == '>':
			n++
		case c == ' ' || c == '\t' || c >= '0' && c <= '9':
		case strings.IndexByte("-+*.)", c) >= 0:
			if i+1 < len(line) && (line[i+1] == ' ' || line[i+1] == '\t') {
				n++
			}
		default:
			return n
		}
	}
	return n
}

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
