package manifest

import (
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/skillsmcp/skills-mcp/skills/lazyregexp"
)

// hasEmptyBlock reports whether a field announces a block of text and has none: the
// text was not indented, and its lines with a colon became fields.
func hasEmptyBlock(node *yaml.Node) bool {
	if node == nil || node.Kind != yaml.MappingNode {
		return false
	}
	return slices.ContainsFunc(node.Content, func(n *yaml.Node) bool {
		return n.Kind == yaml.ScalarNode && n.Value == "" && n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0
	})
}

// plainField matches "key: value", where the value is plain text.
var plainField = lazyregexp.New(`^(\s*(?:- )?[A-Za-z0-9_.-]+:[ \t]+)([^\s"'|>&*!%@{\[#\x60].*)$`)

// flowField matches "key: [value" and "key: *value", where the value is plain text
// if YAML cannot read it: "[file] [line]" or "**/*.go".
var flowField = lazyregexp.New(`^(\s*(?:- )?[A-Za-z0-9_.-]+:[ \t]+)(\[[^\]\n]*\][ \t]*[^\s#,\]].*|\*[*./].*)$`)

// quoteColons quotes the plain values that contain a colon, the most frequent
// fault of frontmatter, and those that only look like lists or aliases. It
// returns the lines, and the indices of those that it changed.
func quoteColons(lines []string) (repaired []string, changed []int) {
	repaired = append(repaired, lines...)
	block := -1 // indentation of the field whose text this is
	for i, line := range lines {
		if block >= 0 && (strings.TrimSpace(line) == "" || indentOf(line) > block) {
			continue
		}
		block = -1
		if header := blockField.FindStringSubmatch(line); header != nil {
			block = len(header[1])
			continue
		}
		m, flow := plainField.FindStringSubmatch(line), false
		if m == nil {
			m, flow = flowField.FindStringSubmatch(line), true
		}
		if m == nil && !continues(lines[i:]) {
			m = sameLine.FindStringSubmatch(line)
		}
		if m == nil {
			continue
		}
		value := strings.TrimRight(m[2], " \t")
		if flow || strings.Contains(value, ": ") || strings.HasSuffix(value, ":") {
			repaired[i] = m[1] + "'" + strings.ReplaceAll(value, "'", "''") + "'"
			changed = append(changed, i)
		}
	}
	return repaired, changed
}

// blockField matches "key: |", with text below it, and sameLine "key: | text", which
// no YAML has.
var (
	blockField = lazyregexp.New(`^(\s*(?:- )?)[A-Za-z0-9_.-]+:[ \t]+[|>][-+0-9]*[ \t]*(?:#.*)?$`)
	sameLine   = lazyregexp.New(`^(\s*(?:- )?[A-Za-z0-9_.-]+:[ \t]+)[|>][-+]?[ \t]+([^\s#].*)$`)
	anyField   = lazyregexp.New(`^[ \t]*[A-Za-z_][A-Za-z0-9_.-]*:(?:[ \t]|$)`)
)

func indentOf(line string) int { return len(line) - len(strings.TrimLeft(line, " \t")) }

// continues reports whether the value of the first line goes on in the next.
func continues(lines []string) bool {
	return len(lines) > 1 && strings.TrimSpace(lines[1]) != "" && indentOf(lines[1]) > indentOf(lines[0])
}

// indentBlocks indents the texts below "key: |" that are not, up to the next
// field. It returns the lines, and the indices of the first that it changed of
// each text. It changes nothing where one of them may be a field that restricts
// the skill.
func indentBlocks(lines []string) (repaired []string, changed []int) {
	repaired = append(repaired, lines...)
	for i := 0; i < len(lines); i++ {
		header := blockField.FindStringSubmatch(lines[i])
		if header == nil {
			continue
		}
		base, first, restricts := 0, true, false
		for i++; i < len(lines); i++ {
			text, indent := strings.TrimLeft(lines[i], " \t"), indentOf(lines[i])
			if text == "" {
				continue
			}
			if indent <= len(header[1]) && anyField.MatchString(lines[i]) {
				break
			}
			restricts = restricts || len(restrictionsIn(text)) > 0
			if base == 0 {
				base = max(indent, len(header[1])+1)
			}
			if indent >= base && !strings.Contains(lines[i][:indent], "\t") {
				continue
			}
			repaired[i] = strings.Repeat(" ", max(indent, base)) + text
			if first {
				changed, first = append(changed, i), false
			}
		}
		if restricts && !first {
			return lines, nil
		}
		i--
	}
	return repaired, changed
}

// restrictions match, in any spelling, the fields that keep models from calling a
// skill or declare that it may do harm.
var restrictions = map[string]*lazyregexp.Regexp{
	"disable-model-invocation": lazyregexp.New(`(?i)\bdisable[-_]?model[-_]?invocation["'*\x60]*\s*[:=]["'*\x60\s]*([\pL\pN]*)`),
	"class":                    lazyregexp.New(`(?i)(?:^[\s>*+"'{<!\d.)\x60-]*|[,{]\s*["']?)class["'*\x60]*\s*[:=]["'*\x60\s]*(mutating|dangerous)\b`),
}

// lostIn returns the lines of a text's fields that restrict, by their keys; at is
// the line before it.
func lostIn(text string, at int) map[string]int {
	found := map[string]int{}
	for line := range strings.Lines(text) {
		at++
		for _, key := range restrictionsIn(line) {
			if found[key] == 0 {
				found[key] = at
			}
		}
	}
	return found
}

// restrictionsIn returns the keys of the fields in a line that restrict a skill.
func restrictionsIn(line string) (keys []string) {
	for key, pattern := range restrictions {
		if m := pattern.FindStringSubmatch(line); m != nil && !isFalse(m[1]) {
			keys = append(keys, key)
		}
	}
	return keys
}
