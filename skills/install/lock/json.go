package lock

import "bytes"

// indent returns compact JSON with two spaces for each level. Objects and arrays without
// others in them stay on one line: so a file, a source or a capability is one.
func indent(compact []byte) []byte {
	var out bytes.Buffer
	out.Grow(2 * len(compact))
	depth := 0
	newline := func() {
		out.WriteByte('\n')
		for range depth {
			out.WriteString("  ")
		}
	}
	for i := 0; i < len(compact); i++ {
		switch c := compact[i]; c {
		case '"':
			end := stringEnd(compact, i)
			out.Write(compact[i:end])
			i = end - 1
		case '{', '[':
			if end := leafEnd(compact, i); end > 0 {
				out.Write(compact[i:end])
				i = end - 1
				continue
			}
			out.WriteByte(c)
			depth++
			newline()
		case '}', ']':
			depth--
			newline()
			out.WriteByte(c)
		case ',':
			out.WriteByte(c)
			newline()
		case ':':
			out.WriteString(": ")
		default:
			out.WriteByte(c)
		}
	}
	out.WriteByte('\n')
	return out.Bytes()
}

// leafEnd returns the end of the object or array that begins at start, and 0 if another
// is in it.
func leafEnd(json []byte, start int) int {
	for i := start + 1; i < len(json); i++ {
		switch json[i] {
		case '"':
			i = stringEnd(json, i) - 1
		case '{', '[':
			return 0
		case '}', ']':
			return i + 1
		}
	}
	return 0
}

// stringEnd returns the end of the string that begins at start.
func stringEnd(json []byte, start int) int {
	for i := start + 1; i < len(json); i++ {
		switch json[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(json)
}

// duplicate returns the first name that an object of valid JSON has twice, and its line;
// 0 without one. A merge may leave two, of which a decoder takes the last.
func duplicate(json []byte) (name string, line int) {
	var open []map[string]bool // by depth; nil for an array
	for i := 0; i < len(json); i++ {
		switch json[i] {
		case '{':
			open = append(open, map[string]bool{})
		case '[':
			open = append(open, nil)
		case '}', ']':
			open = open[:len(open)-1]
		case '"':
			end := stringEnd(json, i)
			if names := open[len(open)-1]; names != nil && isName(json[end:]) {
				name := string(json[i+1 : end-1])
				if names[name] {
					return name, lineAt(json, int64(i))
				}
				names[name] = true
			}
			i = end - 1
		}
	}
	return "", 0
}

// isName reports whether the string before rest is the name of a member.
func isName(rest []byte) bool {
	rest = bytes.TrimLeft(rest[:min(len(rest), 64)], " \t\r\n")
	return len(rest) > 0 && rest[0] == ':'
}

func lineAt(data []byte, offset int64) int {
	return 1 + bytes.Count(data[:max(0, min(offset, int64(len(data))))], []byte("\n"))
}
