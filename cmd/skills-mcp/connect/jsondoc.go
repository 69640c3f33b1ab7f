package connect

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/tailscale/hujson"
)

// A jsonDoc is a parsed file, whose values have their offsets.
type jsonDoc struct {
	data []byte
	root hujson.Value // an object
}

// maxDepth bounds the nesting of a file: its parser recurses.
const maxDepth = 1000

func parseJSON(data []byte) (*jsonDoc, error) {
	if empty(data) {
		data = []byte("{}" + newline(data))
	}
	if deepest(data, skipJSON) > maxDepth {
		return nil, fmt.Errorf("it is nested deeper than %d", maxDepth)
	}
	root, err := hujson.Parse(data)
	if err != nil {
		return nil, errors.New(strings.TrimPrefix(err.Error(), "hujson: "))
	}
	if _, ok := root.Value.(*hujson.Object); !ok {
		return nil, fmt.Errorf("line %d: it is not an object", line(data, root.StartOffset))
	}
	return &jsonDoc{data, root}, nil
}

// empty reports whether a file has only blanks, as a new one.
func empty(data []byte) bool { return len(bytes.Trim(data, " \t\r\n")) == 0 }

func line(data []byte, offset int) int { return 1 + bytes.Count(data[:offset], []byte("\n")) }

// find returns the section and the entry, each nil if it is missing.
func (d *jsonDoc) find(section, name string) (in, entry *hujson.ObjectMember, err error) {
	if in, err = d.member(d.root, section); err != nil || in == nil {
		return nil, nil, err
	}
	if _, ok := in.Value.Value.(*hujson.Object); !ok {
		return nil, nil, fmt.Errorf("line %d: %q is not an object; fix it by hand", line(d.data, in.Value.StartOffset), section)
	}
	entry, err = d.member(in.Value, name)
	return in, entry, err
}

// member returns an object's member by key, nil if there is none. A second one is
// an error, because readers differ in which one they use.
func (d *jsonDoc) member(object hujson.Value, key string) (*hujson.ObjectMember, error) {
	var found *hujson.ObjectMember
	members := object.Value.(*hujson.Object).Members
	for i := range members {
		if members[i].Name.Value.(hujson.Literal).String() != key {
			continue
		}
		if found != nil {
			return nil, fmt.Errorf("line %d: %q is there a second time; take one out", line(d.data, members[i].Name.StartOffset), key)
		}
		found = &members[i]
	}
	return found, nil
}

// render returns a value in the file's own formatting.
func (d *jsonDoc) render(value any, prefix string) string {
	if !d.compact() {
		return strings.ReplaceAll(encode(value, prefix, d.unit()), "\n", newline(d.data))
	}
	var out bytes.Buffer
	if json.Compact(&out, []byte(encode(value, "", ""))) != nil {
		return "null"
	}
	return out.String()
}

// compact reports whether the file is one line, with something in it.
func (d *jsonDoc) compact() bool {
	return len(d.root.Value.(*hujson.Object).Members) > 0 && !bytes.Contains(bytes.TrimSpace(d.data), []byte("\n"))
}

// unit returns the file's unit of indentation: that of its first key.
func (d *jsonDoc) unit() string {
	if members := d.root.Value.(*hujson.Object).Members; len(members) > 0 {
		if indent, first := d.indent(members[0].Name.StartOffset); first && indent != "" {
			return indent
		}
	}
	return "  "
}

// indent returns the blanks at the start of an offset's line, and whether nothing
// else precedes the offset.
func (d *jsonDoc) indent(offset int) (blank string, first bool) {
	start := bytes.LastIndexByte(d.data[:offset], '\n') + 1
	text := d.data[start:offset]
	rest := bytes.TrimLeft(text, " \t")
	return string(text[:len(text)-len(rest)]), len(rest) == 0
}

// insert adds a member after an object's members and their comments.
func (d *jsonDoc) insert(object hujson.Value, key string, value any) []byte {
	members := object.Value.(*hujson.Object).Members
	end := object.EndOffset - len("}")
	inner := bytes.TrimRight(d.data[object.StartOffset+1:end], " \t\r\n")
	splices, comma := []splice(nil), ""
	if n := len(members); n > 0 {
		if last := members[n-1].Value; last.AfterExtra == nil {
			splices = append(splices, splice{last.EndOffset, last.EndOffset, ","})
		} else {
			comma = "," // a trailing comma, as before
		}
	}
	text := encode(key, "", "") + ":" + d.render(value, "") + comma
	if !d.compact() {
		base, _ := d.indent(object.StartOffset)
		indent := d.memberIndent(base, members)
		text = newline(d.data) + indent + encode(key, "", "") + ": " + d.render(value, indent) + comma + newline(d.data) + base
	}
	return apply(d.data, append(splices, splice{object.StartOffset + 1 + len(inner), end, text})...)
}

// memberIndent is that of the members that an object has, where they have lines
// of their own.
func (d *jsonDoc) memberIndent(base string, members []hujson.ObjectMember) string {
	if len(members) > 0 {
		if indent, first := d.indent(members[0].Name.StartOffset); first {
			return indent
		}
	}
	return base + d.unit()
}

func (d *jsonDoc) replace(member hujson.ObjectMember, value any) []byte {
	indent, _ := d.indent(member.Name.StartOffset)
	return apply(d.data, splice{member.Value.StartOffset, member.Value.EndOffset, d.render(value, indent)})
}

var errNoMember = errors.New("the entry is not there")

// delete removes the member of a key and one comma. Comments around it stay.
func (d *jsonDoc) delete(object hujson.Value, key string) ([]byte, error) {
	obj := object.Value.(*hujson.Object)
	for i, member := range obj.Members {
		if member.Name.Value.(hujson.Literal).String() != key {
			continue
		}
		if len(obj.Members) == 1 && !d.hasComments(object, member) {
			return apply(d.data, splice{object.StartOffset, object.EndOffset, "{}"}), nil
		}
		start, end := d.wholeLines(member.Name.StartOffset, member.Value.EndOffset)
		splices := []splice{{start, end, ""}}
		if comma := commaOf(obj.Members, i); comma >= end || comma >= 0 && comma < start {
			splices = append(splices, splice{comma, comma + 1, ""})
		}
		return apply(d.data, splices...), nil
	}
	return nil, errNoMember
}

// hasComments reports whether an object has anything beside one member.
func (d *jsonDoc) hasComments(object hujson.Value, member hujson.ObjectMember) bool {
	around := string(d.data[object.StartOffset+1:member.Name.StartOffset]) + string(d.data[member.Value.EndOffset:object.EndOffset-1])
	return strings.Trim(around, " \t\r\n,") != ""
}

// wholeLines widens a range to its lines, with a comma after it, if they have
// nothing else.
func (d *jsonDoc) wholeLines(start, end int) (from, to int) {
	indent, first := d.indent(start)
	rest := d.data[end:]
	if i := bytes.IndexByte(rest, '\n'); i >= 0 && first {
		if tail := strings.TrimSpace(string(rest[:i])); tail == "" || tail == "," {
			return start - len(indent), end + i + 1
		}
	}
	return start, end
}

// commaOf returns the offset of the comma to remove with a member: the one after
// it, or else the one before; -1 if there is none.
func commaOf(members []hujson.ObjectMember, i int) int {
	after := func(v hujson.Value) int { return v.EndOffset + len(v.AfterExtra) }
	if i < len(members)-1 || members[i].Value.AfterExtra != nil {
		return after(members[i].Value)
	}
	if i > 0 {
		return after(members[i-1].Value)
	}
	return -1
}
