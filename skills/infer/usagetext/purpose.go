package usagetext

import (
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/lazyregexp"
)

// details matches the first line of a part that tells how a script is called.
var details = lazyregexp.New(`(?i)^\s*(?:usage|synopsis|syntax|examples?|how to run|positional arguments|(?:optional |required |command[- ]line )?(?:arguments|args|options|parameters|params|flags))\b[^.]{0,40}(?::|$)`)

// Purpose returns the paragraphs of a text that say what a script does, without its
// usage, its lists of arguments and its examples. Where nothing is left, it returns "".
func Purpose(text string) string {
	var kept []string
	skips := false
	for paragraph := range strings.SplitSeq(text, "\n\n") {
		first, _, _ := strings.Cut(strings.TrimLeft(paragraph, "\n"), "\n")
		indented := strings.HasPrefix(first, " ")
		if skips = details.MatchString(first) || skips && indented; skips {
			continue
		}
		lines := strings.Split(paragraph, "\n")
		for at, line := range lines {
			if at > 0 && details.MatchString(line) {
				lines, skips = lines[:at], true
				break
			}
		}
		kept = append(kept, strings.Join(lines, "\n"))
	}
	return strings.TrimSpace(strings.Join(kept, "\n\n"))
}
