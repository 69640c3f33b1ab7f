package manifest

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/lazyregexp"
	"gopkg.in/yaml.v3"
)

// posOf returns the position of a value: of the first key of a mapping on one line.
func posOf(node *yaml.Node) Position {
	if node.Kind == yaml.MappingNode && len(node.Content) > 0 && node.Content[0].Line == node.Line {
		node = node.Content[0]
	}
	return Position{node.Line, node.Column}
}

// A field is one key of a mapping, with its value.
type field struct {
	key  string
	at   Position // of the key
	node *yaml.Node
}

// fields gives typed access to a mapping of a manifest. A value of another type
// is reported once and read as absent.
type fields struct {
	list   []field
	index  map[string]int // in list, by key
	report Report
}

// newFields reads the keys of a mapping node. Of equal keys the last wins.
func newFields(node *yaml.Node, report Report) fields {
	f := fields{index: map[string]int{}, report: report}
	node = deref(node)
	if node == nil || node.Kind != yaml.MappingNode {
		return f
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		key := node.Content[i]
		next := field{key.Value, Position{key.Line, key.Column}, deref(node.Content[i+1])}
		if at, twice := f.index[next.key]; twice {
			report(skills.Warning, next.at, "keep one of them", "%q is there twice; the last one counts", next.key)
			f.list[at] = next
			continue
		}
		f.index[next.key] = len(f.list)
		f.list = append(f.list, next)
	}
	return f
}

func deref(node *yaml.Node) *yaml.Node {
	for node != nil && node.Kind == yaml.AliasNode {
		node = node.Alias
	}
	return node
}

// get returns the value of key, or nil where it is absent or null.
func (f fields) get(key string) *yaml.Node {
	i, there := f.index[key]
	if !there || isNull(f.list[i].node) {
		return nil
	}
	return f.list[i].node
}

func isNull(n *yaml.Node) bool { return n == nil || n.Kind == yaml.ScalarNode && n.Tag == "!!null" }

// pos returns the position of a key; that of one which is absent is zero.
func (f fields) pos(key string) Position {
	if i, there := f.index[key]; there {
		return f.list[i].at
	}
	return Position{}
}

func (f fields) wrongType(key, want string) {
	f.report(skills.Warning, f.pos(key), "write "+want, "%q is not %s and is ignored", key, want)
}

// text returns a scalar as it is written.
func (f fields) text(key string) string {
	n := f.get(key)
	if n == nil {
		return ""
	}
	if n.Kind != yaml.ScalarNode {
		f.wrongType(key, "text")
		return ""
	}
	return n.Value
}

// flag returns a boolean as YAML 1.1 and Claude Code write it. It returns
// otherwise where key is absent, and ok = false where it is not readable.
func (f fields) flag(key string, otherwise bool) (value, ok bool) {
	n := f.get(key)
	if n == nil {
		return otherwise, true
	}
	if n.Kind == yaml.ScalarNode {
		if slices.Contains([]string{"true", "yes", "on", "1"}, strings.ToLower(n.Value)) {
			return true, true
		}
		if isFalse(n.Value) {
			return false, true
		}
	}
	return otherwise, false
}

// boolean is [fields.flag] for a field that restricts nothing: one that is not
// readable is reported.
func (f fields) boolean(key string, otherwise bool) bool {
	value, ok := f.flag(key, otherwise)
	if !ok {
		f.wrongType(key, "true or false")
	}
	return value
}

func isFalse(text string) bool {
	return slices.Contains([]string{"false", "no", "off", "0"}, strings.ToLower(text))
}

// seconds returns a time, or 0 where there is none.
func (f fields) seconds(key string) time.Duration {
	n := f.get(key)
	if n == nil {
		return 0
	}
	var value float64
	if n.Kind == yaml.ScalarNode && n.Decode(&value) == nil {
		if d, err := skills.Seconds(value); err == nil {
			return d
		}
	}
	f.wrongType(key, "a number above 0")
	return 0
}

// words returns a list, or a string split by split.
func (f fields) words(key string, split func(string) []string) []string {
	n := f.get(key)
	switch {
	case n == nil:
		return nil
	case n.Kind == yaml.ScalarNode:
		return split(n.Value)
	case n.Kind == yaml.SequenceNode:
		var words []string
		for _, item := range n.Content {
			if item = deref(item); item.Kind == yaml.ScalarNode && !isNull(item) {
				words = append(words, item.Value)
			}
		}
		return words
	}
	f.wrongType(key, "a list")
	return nil
}

// maxValues bounds the values that one manifest expands to. With aliases it could be
// any number.
const maxValues = 100_000

// jsonValue returns a YAML node as the values of encoding/json: map[string]any,
// []any, string, float64 or int64, bool, nil. Dates stay as they are written.
func jsonValue(node *yaml.Node) (any, error) {
	budget := maxValues
	return convert(node, &budget)
}

func convert(node *yaml.Node, budget *int) (any, error) {
	if *budget--; *budget < 0 {
		return nil, fmt.Errorf("it expands to more than %d values", maxValues)
	}
	node = deref(node)
	switch {
	case node == nil:
		return nil, nil
	case node.Kind == yaml.MappingNode:
		return convertMapping(node, budget)
	case node.Kind == yaml.SequenceNode:
		list := make([]any, 0, len(node.Content))
		for _, item := range node.Content {
			value, err := convert(item, budget)
			if err != nil {
				return nil, err
			}
			list = append(list, value)
		}
		return list, nil
	}
	return convertScalar(node), nil
}

func convertMapping(node *yaml.Node, budget *int) (any, error) {
	m := make(map[string]any, len(node.Content)/2)
	for i := 0; i+1 < len(node.Content); i += 2 {
		value, err := convert(node.Content[i+1], budget)
		if err != nil {
			return nil, err
		}
		m[deref(node.Content[i]).Value] = value
	}
	return m, nil
}

func convertScalar(node *yaml.Node) any {
	switch node.Tag {
	case "!!null":
		return nil
	case "!!bool":
		var b bool
		if node.Decode(&b) == nil {
			return b
		}
	case "!!int", "!!float":
		if value := number(node.Value); value != nil && value != math.Inf(1) {
			return value
		}
	}
	return node.Value
}

// coreNumber matches the numbers of YAML 1.2's core schema (10.3.2): decimal, octal,
// hexadecimal, with a fraction, and those that are not finite. The YAML library reads
// YAML 1.1's as well, where 0755 is 493 and 1_000 a number.
var coreNumber = lazyregexp.New(`^(?:([-+]?[0-9]+)|0o([0-7]+)|0x([0-9a-fA-F]+)|([-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?)|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$`)

// number returns a plain scalar as int64 or float64, infinite where JSON has no such
// number; nil if it is no number.
func number(text string) any {
	m := coreNumber.FindStringSubmatch(text)
	if m == nil {
		return nil
	}
	for i, base := range []int{10, 8, 16} {
		if value, err := strconv.ParseInt(m[i+1], base, 64); err == nil {
			return value
		}
	}
	value, err := strconv.ParseFloat(m[1]+m[4], 64)
	if err != nil {
		return math.Inf(1)
	}
	return value
}

// isWords accepts text, and a list of nothing but text.
func isWords(node *yaml.Node) bool {
	if node.Kind == yaml.ScalarNode {
		return true
	}
	return node.Kind == yaml.SequenceNode && !slices.ContainsFunc(node.Content, func(item *yaml.Node) bool {
		item = deref(item)
		return item.Kind != yaml.ScalarNode || isNull(item)
	})
}

func one(s string) []string { return []string{s} }
