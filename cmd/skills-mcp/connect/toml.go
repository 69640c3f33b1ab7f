package connect

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
)

// tomlFormat edits TOML, with a table for each entry.
type tomlFormat struct {
	section string
}

func (f tomlFormat) within() string { return f.section }

func (f tomlFormat) snippet(name string, entry fields) []byte {
	return []byte(f.table(name, entry, "\n"))
}

func (f tomlFormat) table(name string, entry fields, newline string) string {
	lines := []string{"[" + toml.Key{f.section, name}.String() + "]"}
	for _, one := range entry {
		lines = append(lines, one.key+" = "+tomlValue(one.value))
	}
	return strings.Join(append(lines, ""), newline)
}

// tomlValue returns a string, a list of strings, or an inline table of one, in TOML.
func tomlValue(value any) string {
	var words []string
	switch value := value.(type) {
	case fields:
		return "{ " + value[0].key + " = " + tomlValue(value[0].value) + " }"
	case map[string]any: // as it is read from a file
		for key, one := range value {
			return tomlValue(fields{{key, one}})
		}
	case []string:
		for _, word := range value {
			words = append(words, tomlString(word))
		}
	case []any: // as it is read from a file
		for _, word := range value {
			words = append(words, tomlValue(word))
		}
	default:
		return tomlString(fmt.Sprint(value))
	}
	return "[" + strings.Join(words, ", ") + "]"
}

// tomlString returns a basic string, or a literal one for a Windows path, which is
// easier to read.
func tomlString(s string) string {
	plain := !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f })
	if plain && strings.Contains(s, `\`) && !strings.Contains(s, "'") {
		return "'" + s + "'"
	}
	var out strings.Builder
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			out.WriteString(`\` + string(r))
		case r < ' ' || r == 0x7f:
			fmt.Fprintf(&out, `\u%04X`, r)
		default:
			out.WriteRune(r)
		}
	}
	return `"` + out.String() + `"`
}

// The parser's time grows with the square of the nesting of keys, so that this is
// bounded, and the size in bytes.
const (
	maxTOMLDepth = 16
	maxTOML      = 1 << 20
)

func (f tomlFormat) tree(data []byte) (map[string]any, error) {
	if len(data) > maxTOML {
		return nil, fmt.Errorf("it is larger than %d MiB", maxTOML>>20)
	}
	if max(deepest(data, skipTOML), mostDots(data)) > maxTOMLDepth {
		return nil, fmt.Errorf("it is nested deeper than %d", maxTOMLDepth)
	}
	tree := map[string]any{}
	_, err := toml.Decode(string(data), &tree)
	var failed toml.ParseError
	if errors.As(err, &failed) {
		return nil, fmt.Errorf("line %d: %s", failed.Position.Line, failed.Message)
	}
	return tree, err
}

func (f tomlFormat) text(data []byte, name string) string {
	var text strings.Builder
	for _, t := range f.tables(data, name) {
		text.Write(data[t.start:t.end])
	}
	return strings.TrimRight(text.String(), "\r\n")
}

// tables returns the tables of an entry: its own, and nested ones.
func (f tomlFormat) tables(data []byte, name string) []table {
	return slices.DeleteFunc(tables(data), func(t table) bool {
		return len(t.key) < 2 || t.key[0] != f.section || t.key[1] != name
	})
}

func (f tomlFormat) set(data []byte, name string, entry fields) ([]byte, error) {
	nl := newline(data)
	text := f.table(name, entry, nl)
	old := f.tables(data, name)
	if len(old) == 0 {
		return appendTable(data, text, nl), f.alone(data, name)
	}
	var splices []splice
	for i, t := range old {
		if i > 0 {
			text = ""
		}
		splices = append(splices, splice{t.start, t.end, text})
	}
	return apply(data, splices...), nil
}

// alone returns an error if an entry exists without a table of its own, or cannot
// have one.
func (f tomlFormat) alone(data []byte, name string) error {
	if inline(data, f.section) {
		return fmt.Errorf("%s is not written as tables; edit it by hand", f.section)
	}
	found, err := entries(f, data)
	if err != nil {
		return err
	}
	if _, there := found[name]; there {
		return fmt.Errorf("%s.%s has no table [%s] of its own; edit it by hand", f.section, name, toml.Key{f.section, name})
	}
	return nil
}

func appendTable(data []byte, text, newline string) []byte {
	if kept := bytes.TrimRight(data, "\r\n"); len(kept) > 0 {
		between := newline
		if !bytes.HasSuffix(data, []byte("\n")) {
			between += newline
		}
		return append(slices.Concat(data, []byte(between)), text...)
	}
	return []byte(text)
}

func (f tomlFormat) remove(data []byte, name string) ([]byte, error) {
	old := f.tables(data, name)
	if len(old) == 0 {
		return nil, f.alone(data, name)
	}
	var splices []splice
	for _, t := range old {
		splices = append(splices, splice{blankBefore(data, t.start, t.end), t.end, ""})
	}
	return apply(data, splices...), nil
}

// blankBefore returns the start of the blank line before a range of a file, if the
// range is the last or another blank line follows it; otherwise the range's start.
func blankBefore(data []byte, start, end int) int {
	rest := data[end:]
	if len(rest) > 0 && rest[0] != '\n' && !bytes.HasPrefix(rest, []byte("\r\n")) {
		return start
	}
	for _, nl := range []string{"\r\n", "\n"} {
		if bytes.HasSuffix(data[:start], []byte(nl+nl)) {
			return start - len(nl)
		}
	}
	return start
}
