package source

import (
	"fmt"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"
)

// cleanPath returns a slash-separated path inside a source: relative, without "." and
// "..", the folder of the SKILL.md or marketplace.json that it ends in. "" is all.
func cleanPath(text string) (string, error) {
	if strings.Contains(text, `\`) || strings.HasPrefix(text, "/") || strings.ContainsFunc(text, isInvisible) || !utf8.ValidString(text) {
		return "", fmt.Errorf("the folder %+q: write it relative, with slashes", text)
	}
	for part := range strings.SplitSeq(text, "/") {
		if part == ".." {
			return "", fmt.Errorf("the folder %q leads out of the source; write it without %q", text, "..")
		}
	}
	text = path.Clean(text)
	if base := path.Base(text); isSkillFile(base) {
		text = path.Dir(text)
	} else if base == marketplaceFile {
		text = strings.TrimSuffix(path.Dir(text), ".claude-plugin")
		text = path.Clean(text)
	}
	if text == "." {
		return "", nil
	}
	return text, nil
}

// hasArchiveName reports whether a path or URL path has the extension of an archive
// that can be unpacked.
func hasArchiveName(name string) bool {
	name = strings.ToLower(name)
	for _, extension := range []string{".zip", ".skill", ".tar.gz", ".tgz"} {
		if strings.HasSuffix(name, extension) && len(path.Base(name)) > len(extension) {
			return true
		}
	}
	return false
}

// isSkillFile reports the name of a skill's main file. Sites write it in either case.
func isSkillFile(base string) bool { return strings.EqualFold(base, "SKILL.md") }

// marketplaceFile is the name of the list of a Claude Code marketplace.
const marketplaceFile = "marketplace.json"

// isInvisible reports characters that a person does not see in a text on a terminal.
func isInvisible(r rune) bool {
	return unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp) || r == '\u00a0'
}
