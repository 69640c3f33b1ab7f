package manifest

import "strings"

// splitOutside splits a text at each of some ASCII separators that is not within
// brackets. No part is empty. A bracket that is not closed reaches to the end.
func splitOutside(text string, open, closing rune, separators string) []string {
	var parts []string
	depth, start := 0, 0
	cut := func(end int) {
		if start < end {
			parts = append(parts, text[start:end])
		}
		start = end + 1
	}
	for i, r := range text {
		switch {
		case r == open:
			depth++
		case r == closing:
			depth = max(0, depth-1)
		case depth == 0 && strings.ContainsRune(separators, r):
			cut(i)
		}
	}
	cut(len(text))
	return parts
}
