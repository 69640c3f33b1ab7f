package terminal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf16"

	"github.com/skillsmcp/skills-mcp/server/termtext"
)

const (
	maxResult  = 256 << 10 // bytes of a JSON value that is laid out
	maxBegin   = 4 << 10   // bytes of which each write is checked: others may be a prompt
	maxNesting = 32
	maxRows    = 1000
	maxColumns = 12
)

// A Result writes what a skill prints to a terminal: JSON as a table, if it is an array of
// flat objects, or else indented and coloured, once it is complete; other texts as they
// come. It is for one goroutine.
type Result struct {
	screen Screen
	out    io.Writer // for what is laid out
	plain  io.Writer // sanitizes
	held   []byte    // that may be JSON
	first  bool      // the first line of held has ended, and is no JSON by itself
	passes bool
}

// NewResult returns a Result on a screen. The caller must close it.
func NewResult(w io.Writer, s Screen) *Result {
	return &Result{screen: s, out: w, plain: termtext.NewWriter(w)}
}

// Write writes a part of the output.
func (r *Result) Write(p []byte) (int, error) {
	if r.passes {
		return r.plain.Write(p)
	}
	r.held = append(r.held, p...)
	for len(r.held) > 0 {
		begin := bytes.TrimLeft(r.held, " \t\r\n")
		line, rest, ended := bytes.Cut(begin, []byte("\n"))
		if ended && !r.first && len(line) <= maxResult && json.Valid(line) { // perhaps of many: each is shown as it comes
			r.held = line
			err := r.layOut()
			if r.held = rest; err != nil {
				return 0, err
			}
			continue
		}
		r.first = ended
		if r.passes = len(r.held) > maxResult || len(r.held) <= maxBegin && !mayBeJSON(begin); r.passes {
			return len(p), r.flush()
		}
		break
	}
	return len(p), nil
}

// mayBeJSON reports whether a text may be the beginning of objects and arrays.
func mayBeJSON(text []byte) bool {
	if len(text) > 0 && text[0] != '{' && text[0] != '[' {
		return false
	}
	var value json.RawMessage
	d := json.NewDecoder(bytes.NewReader(text))
	err := d.Decode(&value)
	for err == nil {
		err = d.Decode(&value)
	}
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

// Close writes what is left.
func (r *Result) Close() error { return r.layOut() }

// flush writes the held bytes as they are.
func (r *Result) flush() error {
	_, err := r.plain.Write(r.held)
	r.held = nil
	return err
}

// layOut writes the held bytes as a table or as indented JSON, if they are a value.
func (r *Result) layOut() error {
	if rows, ok := flatRows(r.held, r.screen.Width); ok {
		r.held = nil
		return Table{}.WriteScreen(r.out, r.screen, rows)
	}
	var text bytes.Buffer
	if len(r.held) == 0 || nesting(r.held) > maxNesting || json.Indent(&text, bytes.TrimSpace(r.held), "", "  ") != nil {
		return r.flush()
	}
	r.held = nil
	_, err := io.WriteString(r.out, r.screen.highlight(EscapeJSON(text.String()))+"\n")
	return err
}

// nesting returns the depth of a JSON value, or more if strings have brackets.
func nesting(value []byte) (deepest int) {
	depth := 0
	for _, b := range value {
		switch b {
		case '{', '[':
			depth++
			deepest = max(deepest, depth)
		case '}', ']':
			depth--
		}
	}
	return deepest
}

// flatRows returns the rows of an array of objects whose values are no arrays and no
// objects. ok is false for others, and for those whose columns would be cut to few
// characters.
func flatRows(value []byte, width int) (rows string, ok bool) {
	var elements []json.RawMessage
	if json.Unmarshal(value, &elements) != nil || len(elements) == 0 || len(elements) > maxRows {
		return "", false
	}
	var names []string
	objects := make([]map[string]string, len(elements))
	for i, element := range elements {
		if objects[i], ok = flatObject(element, &names); !ok {
			return "", false
		}
	}
	if len(names) == 0 || len(names) > maxColumns || width < 10*len(names) {
		return "", false
	}
	lines := []string{strings.Join(names, "\t")}
	for _, object := range objects {
		row := make([]string, len(names))
		for i, name := range names {
			row[i] = object[name]
		}
		lines = append(lines, strings.Join(row, "\t"))
	}
	return strings.Join(lines, "\n"), true
}

// flatObject returns the cells of an object by the names of their columns, and adds new
// names.
func flatObject(value []byte, names *[]string) (cells map[string]string, ok bool) {
	d := json.NewDecoder(bytes.NewReader(value))
	d.UseNumber()
	if token, err := d.Token(); err != nil || token != json.Delim('{') {
		return nil, false
	}
	cells = map[string]string{}
	for d.More() {
		token, err := d.Token()
		name, _ := token.(string)
		item, err2 := d.Token()
		if _, nested := item.(json.Delim); nested || err != nil || err2 != nil {
			return nil, false
		}
		if name = cell(name); !slices.Contains(*names, name) {
			*names = append(*names, name)
		}
		if cells[name] = ""; item != nil {
			cells[name] = cell(fmt.Sprint(item))
		}
	}
	return cells, len(*names) <= maxColumns
}

// cell returns a text in one line.
func cell(text string) string { return strings.Join(strings.Fields(termtext.Text(text)), " ") }

// highlight colours indented JSON.
func (s Screen) highlight(text string) string {
	if !s.Color {
		return text
	}
	var out strings.Builder
	for text != "" {
		n, style := 1, Plain
		switch {
		case text[0] == '"':
			n, style = stringEnd(text), Green
			if strings.HasPrefix(text[n:], ":") {
				style = Cyan
			}
		case strings.IndexByte("{}[]:, \n", text[0]) < 0:
			if n = strings.IndexAny(text, ",]} \n"); n < 0 {
				n = len(text)
			}
			style = Yellow
		}
		out.WriteString(s.Paint(style, text[:n]))
		text = text[n:]
	}
	return out.String()
}

// stringEnd returns the length of the JSON string that a text begins with.
func stringEnd(text string) int {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(text)
}

// EscapeJSON returns encoded JSON with escapes for characters of strings that are
// invisible, or that control a terminal.
func EscapeJSON(encoded string) string {
	var b strings.Builder
	for _, r := range encoded {
		plain := r == '\n' || r >= ' ' && r < 0x7f // strings have no line ends
		if plain || termtext.Visible(string(r)) == string(r) {
			b.WriteRune(r)
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			fmt.Fprintf(&b, `\u%04x`, unit)
		}
	}
	return b.String()
}
