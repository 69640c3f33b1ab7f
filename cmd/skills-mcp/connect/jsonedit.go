package connect

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"

	"github.com/tailscale/hujson"
)

// encode writes a value over several lines, the first of which is not indented.
func encode(value any, prefix, unit string) string {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent(prefix, unit)
	if encoder.Encode(value) != nil {
		return "null" // maps, structs and strings can be encoded
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// render writes a value as the file's own are.
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

// unit is what the file is indented by: its first key is.
func (d *jsonDoc) unit() string {
	if members := d.root.Value.(*hujson.Object).Members; len(members) > 0 {
		if indent, first := d.indent(members[0].Name.StartOffset); first && indent != "" {
			return indent
		}
	}
	return "  "
}

// indent returns what the line of an offset begins with, and whether the offset
// is the first in it.
func (d *jsonDoc) indent(offset int) (blank string, first bool) {
	start := bytes.LastIndexByte(d.data[:offset], '\n') + 1
	text := d.data[start:offset]
	rest := bytes.TrimLeft(text, " \t")
	return string(text[:len(text)-len(rest)]), len(rest) == 0
}

// insert adds a member after those that an object has, and after their comments.
func (d *jsonDoc) insert(object hujson.Value, key string, value any) []byte {
	members := object.Value.(*hujson.Object).Members
	end := object.EndOffset - len("}")
	inner := bytes.TrimRight(d.data[object.StartOffset+1:end], " \t\r\n")
	splices, comma := []splice(nil), ""
	if n := len(members); n > 0 {
		if last := members[n-1].Value; last.AfterExtra == nil {
			splices = append(splices, splice{last.EndOffset, last.EndOffset, ","})
		} else {
			comma = "," // as the file has after its last
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

// delete takes out the member of a key and one comma. Comments around it stay.
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

// hasComments reports whether an object has something beside one member.
func (d *jsonDoc) hasComments(object hujson.Value, member hujson.ObjectMember) bool {
	around := string(d.data[object.StartOffset+1:member.Name.StartOffset]) + string(d.data[member.Value.EndOffset:object.EndOffset-1])
	return strings.Trim(around, " \t\r\n,") != ""
}

// wholeLines widens a part of the file to its lines, with the comma after it,
// where there is nothing else in them.
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

// commaOf returns the offset of the comma that goes with a member: the one after
// it, or else the one before; -1 where there is none.
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
