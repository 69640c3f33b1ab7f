package connect

import (
	"bytes"
	"strings"

	"github.com/BurntSushi/toml"
)

// A table is the range of a table in a TOML file, from its header's line to the end
// of its last value's. Comments and blank lines after that belong to the next.
type table struct {
	key        toml.Key
	start, end int
}

// statements calls visit for each header and each "key = value" of a valid file,
// with the range of its lines.
func statements(data []byte, visit func(start, end int, header bool)) {
	start, level, header := -1, 0, false
	for i, c := range structure(data, skipTOML) {
		level += nesting(c)
		switch {
		case start < 0 && !strings.ContainsRune(" \t\r\n", rune(c)):
			start, header = bytes.LastIndexByte(data[:i], '\n')+1, c == '['
		case start >= 0 && level == 0 && c == '\n':
			visit(start, i+1, header)
			start = -1
		}
	}
	if start >= 0 {
		visit(start, len(data), header)
	}
}

// tables returns the tables of a valid file. It omits tables of an array, which end
// the one before.
func tables(data []byte) []table {
	var found []table
	open := false
	statements(data, func(start, end int, header bool) {
		switch {
		case header:
			key := headerKey(data[start:end])
			if open = key != nil; open {
				found = append(found, table{key, start, end})
			}
		case open:
			found[len(found)-1].end = end
		}
	})
	return found
}

// inline reports whether a key has its value at the top of a file, before all
// tables. Clients' parsers then allow no table of that key, though ours does.
func inline(data []byte, name string) bool {
	found, top := false, true
	statements(data, func(start, end int, header bool) {
		if top = top && !header; top && !found {
			key := keyOf(data[start:end])
			found = len(key) == 1 && key[0] == name
		}
	})
	return found
}

// keyOf returns the key of a line "key = value".
func keyOf(statement []byte) toml.Key {
	for i, c := range structure(statement, skipTOML) {
		if c == '=' {
			return lastKey(append(bytes.Clone(statement[:i]), "= 0"...))
		}
	}
	return nil
}

// headerKey returns the key of a line "[a.b]", and nil for "[[a.b]]".
func headerKey(header []byte) toml.Key {
	if bytes.HasPrefix(bytes.TrimSpace(header), []byte("[[")) {
		return nil
	}
	return lastKey(header)
}

func lastKey(text []byte) toml.Key {
	var ignored map[string]any
	meta, err := toml.Decode(string(text), &ignored)
	if keys := meta.Keys(); err == nil && len(keys) > 0 {
		return keys[len(keys)-1]
	}
	return nil
}

// skipTOML is a [skipper] of TOML's strings and comments.
func skipTOML(data []byte, i int) int {
	switch data[i] {
	case '"', '\'':
		return skipTOMLString(data, i)
	case '#':
		return lineEnd(data, i)
	}
	return i
}

// skipTOMLString returns the offset after the string that begins at i: basic or
// literal, of one line or of several.
func skipTOMLString(data []byte, i int) int {
	quote := string(data[i])
	triple := strings.Repeat(quote, 3)
	switch {
	case bytes.HasPrefix(data[i:], []byte(triple)):
		return skipLines(data, i+3, triple)
	case quote == "'":
		return skipTo(data, i+1, "'")
	}
	return skipString(data, i)
}

// skipLines returns the offset after the end of a string of several lines, which
// may have up to two quotes right before its end.
func skipLines(data []byte, i int, triple string) int {
	for ; i < len(data); i++ {
		switch {
		case data[i] == '\\' && triple[0] == '"':
			i++
		case bytes.HasPrefix(data[i:], []byte(triple)):
			i += len(triple)
			for more := 0; more < 2 && i < len(data) && data[i] == triple[0]; more++ {
				i++
			}
			return i
		}
	}
	return len(data)
}

// mostDots returns the highest number of dots in a key.
func mostDots(data []byte) (most int) {
	dots := 0
	for _, c := range structure(data, skipTOML) {
		switch c {
		case '.':
			dots++
			most = max(most, dots)
		case '\n', '=', ',':
			dots = 0
		}
	}
	return most
}
