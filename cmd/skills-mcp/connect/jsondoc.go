package connect

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// A jsonDoc is a parsed file, whose values have their offsets.
type jsonDoc struct {
	data []byte
	root hujson.Value // an object
}

// maxDepth bounds the nesting of a file.
const maxDepth = 1000

func parseJSON(data []byte) (*jsonDoc, error) {
	if empty(data) {
		data = []byte("{}" + newline(data))
	}
	if nesting(data) > maxDepth {
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

// render returns a value in the file's own formatting, for a line of an indentation.
func (d *jsonDoc) render(value any, indent string) (hujson.Value, error) {
	return hujson.Parse([]byte(strings.ReplaceAll(encode(value, indent, d.unit()), "\n", newline(d.data))))
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
func (d *jsonDoc) insert(object hujson.Value, key string, value any) error {
	o := object.Value.(*hujson.Object)
	base, _ := d.indent(object.StartOffset)
	indent := d.memberIndent(base, o.Members)
	rendered, err := d.render(value, indent)
	if err != nil {
		return err
	}
	rendered.BeforeExtra = hujson.Extra(" ")
	if n := len(o.Members); n > 0 && o.Members[n-1].Value.AfterExtra != nil {
		rendered.AfterExtra = hujson.Extra{} // a trailing comma, as before
	}
	comments := bytes.TrimRight(o.AfterExtra, " \t\r\n")
	name := hujson.Value{BeforeExtra: slices.Concat(comments, []byte(newline(d.data)+indent)), Value: hujson.Literal(encode(key, "", ""))}
	o.Members, o.AfterExtra = append(o.Members, hujson.ObjectMember{Name: name, Value: rendered}), hujson.Extra(newline(d.data)+base)
	return nil
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

func (d *jsonDoc) replace(member *hujson.ObjectMember, value any) error {
	indent, _ := d.indent(member.Name.StartOffset)
	rendered, err := d.render(value, indent)
	member.Value.Value = rendered.Value
	return err
}

// remove removes a member of an object and one comma. Comments around it stay.
func remove(o *hujson.Object, member *hujson.ObjectMember) {
	i := slices.IndexFunc(o.Members, func(m hujson.ObjectMember) bool { return m.Name.StartOffset == member.Name.StartOffset })
	before, after := member.Name.BeforeExtra, member.Value.AfterExtra
	o.Members = slices.Delete(o.Members, i, i+1)
	if i < len(o.Members) {
		next := &o.Members[i].Name
		next.BeforeExtra = withoutLine(before, slices.Concat(after, next.BeforeExtra))
		return
	}
	if i > 0 { // the last; the one before it has a comma
		last := &o.Members[i-1].Value
		if after == nil {
			before, last.AfterExtra = slices.Concat(last.AfterExtra, before), nil
		} else if last.AfterExtra == nil {
			last.AfterExtra = hujson.Extra{}
		}
	}
	o.AfterExtra = withoutLine(before, slices.Concat(after, o.AfterExtra))
	if i == 0 && empty(o.AfterExtra) {
		o.AfterExtra = nil
	}
}

// withoutLine joins the text before and after a member, without its lines if they had
// nothing else.
func withoutLine(before, after []byte) hujson.Extra {
	blank, rest, ended := bytes.Cut(after, []byte("\n"))
	if start := bytes.TrimRight(before, " \t"); ended && empty(blank) && bytes.HasSuffix(start, []byte("\n")) {
		return slices.Concat(start, rest)
	}
	return slices.Concat(before, after)
}
