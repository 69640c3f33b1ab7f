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
	for i := 0; i < len(data); {
		switch c := data[i]; c {
		case '\n', '\r', ' ', '\t':
			i++
		case '#':
			i = skipTo(data, i, "\n")
		default:
			start := bytes.LastIndexByte(data[:i], '\n') + 1
			i = skipStatement(data, i)
			visit(start, i, c == '[')
		}
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
	for i := 0; i < len(statement); {
		switch statement[i] {
		case '"', '\'':
			i = skipTOMLString(statement, i)
		case '=':
			return lastKey(append(bytes.Clone(statement[:i]), "= 0"...))
		default:
			i++
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

// skipStatement returns the offset of the line after a header or a "key = value"
// that begins at i.
func skipStatement(data []byte, i int) int {
	for depth := 0; i < len(data); {
		switch data[i] {
		case '"', '\'':
			i = skipTOMLString(data, i)
			continue
		case '#':
			i = skipTo(data, i, "\n") - 1
			if data[i] != '\n' {
				return len(data)
			}
			continue
		case '[', '{':
			depth++
		case ']', '}':
			depth--
		case '\n':
			if depth == 0 {
				return i + 1
			}
		}
		i++
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

// tomlDepth returns the deepest nesting of arrays and inline tables, and the
// highest number of dots in a key.
func tomlDepth(data []byte) (depth, dots int) {
	level, row := 0, 0
	for i := 0; i < len(data); {
		switch data[i] {
		case '"', '\'':
			i = skipTOMLString(data, i)
			continue
		case '#':
			i = skipTo(data, i, "\n")
			row = 0
			continue
		case '[', '{':
			level++
			depth = max(depth, level)
		case ']', '}':
			level--
		case '.':
			row++
			dots = max(dots, row)
		case '\n', '=', ',':
			row = 0
		}
		i++
	}
	return depth, dots
}
