package manifest

import (
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/lazyregexp"
)

// plainField matches "key: value", where the value is plain text.
var plainField = lazyregexp.New(`^(\s*(?:- )?[A-Za-z0-9_.-]+:[ \t]+)([^\s"'|>&*!%@{\[#\x60].*)$`)

// flowField matches "key: [value" and "key: *value", where the value is plain text
// if YAML cannot read it: "[file] [line]" or "**/*.go".
var flowField = lazyregexp.New(`^(\s*(?:- )?[A-Za-z0-9_.-]+:[ \t]+)(\[[^\]\n]*\][ \t]*[^\s#,\]].*|\*[*./].*)$`)

// QuoteColons quotes the plain values that contain a colon, the most frequent
// fault of frontmatter, and those that only look like lists or aliases. It
// returns the lines, and the indices of those that it changed.
func QuoteColons(lines []string) (repaired []string, changed []int) {
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
)

func indentOf(line string) int { return len(line) - len(strings.TrimLeft(line, " \t")) }

// continues reports whether the value of the first line goes on in the next.
func continues(lines []string) bool {
	return len(lines) > 1 && strings.TrimSpace(lines[1]) != "" && indentOf(lines[1]) > indentOf(lines[0])
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
