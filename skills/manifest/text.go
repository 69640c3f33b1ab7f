package manifest

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/truncate"
)

// CleanName returns a name that can be typed and that "plugin/skill" can be split
// at.
func CleanName(name string) string {
	name = strings.Map(func(r rune) rune {
		if r == '/' || r == '\\' || unicode.IsSpace(r) || !unicode.IsPrint(r) {
			return '-'
		}
		return r
	}, name)
	return strings.Trim(name, "-.")
}

// CommandName returns the name of a command in a file, whose path has no
// extension.
func CommandName(name string) string { return CleanName(strings.ReplaceAll(name, "/", ":")) }

// hiddenRune finds a character that a person does not see but a model reads.
func hiddenRune(texts ...string) (rune, bool) {
	at, r := skills.FindHidden(strings.Join(texts, "\n"))
	return r, at >= 0
}

// firstParagraph returns the first text of a Markdown body that is no heading, or
// the text behind "description:" where one of its lines begins so: some files
// have their fields without the fences.
func firstParagraph(body string) string {
	for block := range strings.SplitSeq(body, "\n\n") {
		var words []string
		for line := range strings.SplitSeq(strings.TrimSpace(block), "\n") {
			if described, ok := cutField(line, "description"); ok && strings.Trim(described, "|>+-") != "" {
				return described
			}
			if !strings.HasPrefix(line, "#") {
				words = append(words, strings.Fields(line)...)
			}
		}
		if len(words) > 0 {
			return strings.Join(words, " ")
		}
	}
	return ""
}

// cutField returns the value of a line "key: value".
func cutField(line, key string) (value string, ok bool) {
	before, value, found := strings.Cut(line, ":")
	value = strings.Join(strings.Fields(value), " ")
	return value, found && value != "" && strings.EqualFold(strings.TrimSpace(before), key)
}

// splitOutside splits a text at each of some ASCII separators that is not within
// brackets. No part is empty. A bracket that is not closed reaches to the end.
func splitOutside(text string, open, closing rune, separators string) []string {
	var parts []string
	depth, start := 0, 0
	cut := func(end int) {
		if start < end {
			parts = append(parts, text[start:end])
		}
		start = end + 1
	}
	for i, r := range text {
		switch {
		case r == open:
			depth++
		case r == closing:
			depth = max(0, depth-1)
		case depth == 0 && strings.ContainsRune(separators, r):
			cut(i)
		}
	}
	cut(len(text))
	return parts
}

// splitTools splits the names of tools at commas and blanks, but not within
// parentheses: "Bash(git add *), Read".
func splitTools(text string) []string { return splitOutside(text, '(', ')', ", \t\n") }

// splitPaths splits at commas that are not in braces.
func splitPaths(text string) []string { return splitOutside(text, '{', '}', ",") }

// maxEcho bounds an author's or caller's text that a message quotes, in bytes.
const maxEcho = 80

// show renders a value of a message, shortened where it is long.
func show(value any) string {
	data, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	return truncate.String(string(data), maxEcho)
}

// FirstFew shortens a list to n items, and says how many more there are.
func FirstFew(all []string, n int) []string {
	if len(all) <= n {
		return all
	}
	return append(slices.Clone(all[:n]), fmt.Sprintf("%d more", len(all)-n))
}

// beside names a file in the folder of another.
func beside(file, name string) string {
	i := strings.LastIndexFunc(file, func(r rune) bool { return r == '/' || r == filepath.Separator })
	return file[:i+1] + name
}
