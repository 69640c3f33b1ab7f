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
	case []string:
		for _, word := range value {
			words = append(words, tomlString(word))
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

// Bounds of a file: the parser's time grows with the square of the nesting of keys.
const (
	maxTOMLDepth = 100
	maxTOML      = 1 << 20
)

func (f tomlFormat) tree(data []byte) (map[string]any, error) {
	if len(data) > maxTOML {
		return nil, fmt.Errorf("it is larger than %d MiB", maxTOML>>20)
	}
	dots := 0
	for line := range bytes.Lines(data) {
		dots = max(dots, bytes.Count(line, []byte(".")))
	}
	if max(nesting(data), dots) > maxTOMLDepth {
		return nil, fmt.Errorf("it is nested deeper than %d", maxTOMLDepth)
	}
	tree := map[string]any{}
	_, err := toml.Decode(string(data), &tree)
	if failed, ok := errors.AsType[toml.ParseError](err); ok {
		return nil, fmt.Errorf("line %d: %s", failed.Position.Line, failed.Message)
	}
	return tree, err
}

func (f tomlFormat) text(data []byte, name string) string {
	lines := slices.Collect(strings.Lines(string(data)))
	var own strings.Builder
	for _, t := range f.tables(lines, name) {
		own.WriteString(strings.Join(lines[t.start:t.end], ""))
	}
	return strings.TrimRight(own.String(), "\r\n")
}

func (f tomlFormat) set(data []byte, name string, entry fields) ([]byte, error) {
	nl := newline(data)
	text := f.table(name, entry, nl)
	lines := slices.Collect(strings.Lines(string(data)))
	own := f.tables(lines, name)
	if len(own) > 0 {
		first := own[0].start
		lines = cutLines(lines, own)
		return []byte(strings.Join(slices.Insert(lines, first, text), "")), nil
	}
	if err := f.addable(data, lines, name); err != nil {
		return nil, err
	}
	if n := len(lines); n > 0 && !strings.HasSuffix(lines[n-1], "\n") {
		lines[n-1] += nl
	}
	if strings.TrimSpace(string(data)) != "" {
		lines = append(lines, nl)
	}
	return []byte(strings.Join(append(lines, text), "")), nil
}

func (f tomlFormat) remove(data []byte, name string) ([]byte, error) {
	lines := slices.Collect(strings.Lines(string(data)))
	own := f.tables(lines, name)
	if len(own) == 0 {
		return nil, f.addable(data, lines, name)
	}
	for i, t := range own { // with the blank line before it, if that would be one too many
		if t.start > 0 && blank(lines[t.start-1]) && (t.end == len(lines) || blank(lines[t.end])) {
			own[i].start--
		}
	}
	return []byte(strings.Join(cutLines(lines, own), "")), nil
}

// A span is a range of lines.
type span struct{ start, end int }

// tables returns the tables of an entry, its own and nested ones: each from its header to its
// last value, so that the comments before the next header are that one's. It takes lines in
// texts of several lines for headers, too: then the edit is refused, as it changes more.
func (f tomlFormat) tables(lines []string, name string) (own []span) {
	inside := false
	for i, line := range lines {
		switch key := tableKey(line); {
		case key != nil:
			inside = len(key) > 1 && key[0] == f.section && key[1] == name
			if inside {
				own = append(own, span{i, i + 1})
			}
		case inside && !blank(line) && !strings.HasPrefix(strings.TrimSpace(line), "#"):
			own[len(own)-1].end = i + 1
		}
	}
	return own
}

// addable returns an error if an entry exists without a table of its own, or cannot have one.
func (f tomlFormat) addable(data []byte, lines []string, name string) error {
	top := len(lines)
	if at := slices.IndexFunc(lines, func(line string) bool { return tableKey(line) != nil }); at >= 0 {
		top = at
	}
	for _, line := range lines[:top] { // clients' parsers then allow no table of the key
		if key, _, ok := strings.Cut(line, "="); ok && strings.Trim(key, " \t'\"") == f.section {
			return fmt.Errorf("%s is not written as tables; edit it by hand", f.section)
		}
	}
	found, err := entries(f, data)
	if _, there := found[name]; there {
		return fmt.Errorf("%s.%s has no table [%s] of its own; edit it by hand", f.section, name, toml.Key{f.section, name})
	}
	return err
}

// tableKey returns the key of a line "[a.b]" or "[[a.b]]"; nil for another line.
func tableKey(line string) toml.Key {
	if !strings.HasPrefix(strings.TrimSpace(line), "[") {
		return nil
	}
	var ignored map[string]any
	meta, err := toml.Decode(line, &ignored)
	if keys := meta.Keys(); err == nil && len(keys) > 0 {
		return keys[len(keys)-1]
	}
	return nil
}

func blank(line string) bool { return strings.TrimSpace(line) == "" }

// cutLines returns the lines that are in no span.
func cutLines(lines []string, spans []span) (rest []string) {
	at := 0
	for _, s := range spans {
		rest, at = append(rest, lines[at:s.start]...), s.end
	}
	return append(rest, lines[at:]...)
}
