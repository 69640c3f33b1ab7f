package connect

import (
	"bytes"
	"iter"
)

// A skipper returns the offset after the string or comment that begins at i, and i
// where none does. A comment ends before its line end.
type skipper func(data []byte, i int) int

// structure returns the bytes of a file outside of strings and comments, with their
// offsets.
func structure(data []byte, skip skipper) iter.Seq2[int, byte] {
	return func(yield func(int, byte) bool) {
		for i := 0; i < len(data); {
			if next := skip(data, i); next > i {
				i = next
				continue
			}
			if !yield(i, data[i]) {
				return
			}
			i++
		}
	}
}

// deepest returns the deepest nesting of a file's brackets.
func deepest(data []byte, skip skipper) (deepest int) {
	level := 0
	for _, c := range structure(data, skip) {
		level += nesting(c)
		deepest = max(deepest, level)
	}
	return deepest
}

// nesting returns 1 for a bracket that opens, -1 for one that closes, otherwise 0.
func nesting(c byte) int {
	switch c {
	case '{', '[':
		return 1
	case '}', ']':
		return -1
	}
	return 0
}

// skipJSON is a [skipper] of JSON's strings and comments.
func skipJSON(data []byte, i int) int {
	switch rest := data[i:]; {
	case rest[0] == '"':
		return skipString(data, i)
	case bytes.HasPrefix(rest, []byte("//")):
		return lineEnd(data, i)
	case bytes.HasPrefix(rest, []byte("/*")):
		return skipTo(data, i+2, "*/")
	}
	return i
}

// skipString returns the offset after the string that begins at i, whose first byte
// is its quote. It may have escapes.
func skipString(data []byte, i int) int {
	quote := data[i]
	for i++; i < len(data); i++ {
		switch data[i] {
		case '\\':
			i++
		case quote:
			return i + 1
		}
	}
	return len(data)
}

// skipTo returns the offset after the next mark, or the end.
func skipTo(data []byte, i int, mark string) int {
	if at := bytes.Index(data[i:], []byte(mark)); at >= 0 {
		return i + at + len(mark)
	}
	return len(data)
}

// lineEnd returns the offset of the next line end, or the end.
func lineEnd(data []byte, i int) int {
	if at := bytes.IndexByte(data[i:], '\n'); at >= 0 {
		return i + at
	}
	return len(data)
}
