package connect

import (
	"bytes"
	"strings"

	"github.com/BurntSushi/toml"
)

// A table is where a TOML file has one: from its header's line to the end of its
// last value's. Comments and blank lines after that belong to what follows.
type table struct {
	key        toml.Key
	start, end int
}

// tables finds those of a valid file. Tables of an array are not among them, but
// end the one before.
func tables(data []byte) []table {
	var found []table
	open := false
	for i := 0; i < len(data); {
		switch c := data[i]; {
		case c == '\n' || c == '\r' || c == ' ' || c == '\t':
			i++
		case c == '#':
			i = skipTo(data, i, "\n")
		case c == '[':
			start := bytes.LastIndexByte(data[:i], '\n') + 1
			i = skipStatement(data, i)
			key := headerKey(data[start:i])
			if open = key != nil; open {
				found = append(found, table{key, start, i})
			}
		default:
			i = skipStatement(data, i)
			if open {
				found[len(found)-1].end = i
			}
		}
	}
	return found
}

// headerKey returns the key of a line "[a.b]", and nil for "[[a.b]]".
func headerKey(header []byte) toml.Key {
	if bytes.HasPrefix(bytes.TrimSpace(header), []byte("[[")) {
		return nil
	}
	var ignored map[string]any
	meta, err := toml.Decode(string(header), &ignored)
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

// tomlDepth is how deep arrays and inline tables are nested, at most.
func tomlDepth(data []byte) int {
	deepest, now := 0, 0
	for i := 0; i < len(data); {
		switch data[i] {
		case '"', '\'':
			i = skipTOMLString(data, i)
			continue
		case '#':
			i = skipTo(data, i, "\n")
			continue
		case '[', '{':
			now++
			deepest = max(deepest, now)
		case ']', '}':
			now--
		}
		i++
	}
	return deepest
}
