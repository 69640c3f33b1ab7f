package skillsext

import (
	"net/url"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/skillsmcp/skills-mcp/skills"
)

// skillFile is what every skill of the extension has in its folder.
const skillFile = "SKILL.md"

// Has reports whether a skill's folder is in a library: not that of a command or
// of a skill in another format, which have no SKILL.md, nor that of a tool, whose
// folder is another skill's.
func Has(skill *skills.Skill) bool {
	return skill.Of == nil && filepath.Base(skill.File) == skillFile
}

// Listed reports whether a skill is named to those who did not ask for it. One
// that only a person may call is not: lists are what models choose from.
func Listed(skill *skills.Skill) bool { return Has(skill) && skill.ModelInvocable }

// Scheme is what all URIs begin with.
const Scheme = "skill://"

// Template is the form of all URIs, as RFC 6570 writes it.
const Template = Scheme + "{+path}"

// maxURI is the longest URI that is looked at, in bytes.
const maxURI = 4 << 10

// URI is that of a skill's SKILL.md: "skill://NAME/SKILL.md", in a plugin
// "skill://PLUGIN/NAME/SKILL.md". That of a tool is its skill's; "" where there
// is no SKILL.md.
func URI(skill *skills.Skill) string {
	if skill = skill.Owner(); !Has(skill) {
		return ""
	}
	return at(skill, skillFile)
}

// at is the URI of a path in a skill's folder, or of the folder: ".".
func at(skill *skills.Skill, name string) string {
	uri := Scheme + escape(skill.QualifiedName())
	if name != "." {
		uri += "/" + escape(name)
	}
	return uri
}

// escape writes a path so that it can only be read in one way. What stands in
// the place of a host must have neither port nor user, so that less is left
// as it is than RFC 3986 allows in a path.
func escape(name string) string {
	var b strings.Builder
	for _, c := range []byte(name) {
		if plain(c) {
			b.WriteByte(c)
		} else {
			b.WriteString("%" + string("0123456789ABCDEF"[c>>4]) + string("0123456789ABCDEF"[c&15]))
		}
	}
	return b.String()
}

func plain(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("-._~/", c) >= 0
}

// split returns the names that a URI consists of. ok is false for one that names
// no file nor folder: nothing leads upwards, and nothing hides a separator.
func split(uri string) (names []string, ok bool) {
	rest, ok := strings.CutPrefix(uri, Scheme)
	if !ok || len(uri) > maxURI || strings.ContainsAny(rest, "?#") {
		return nil, false
	}
	names = strings.Split(rest, "/")
	for i, name := range names {
		plain, err := url.PathUnescape(name)
		if err != nil || !valid(plain) {
			return nil, false
		}
		names[i] = plain
	}
	return names, true
}

func valid(name string) bool {
	return name != "" && name != "." && name != ".." && utf8.ValidString(name) &&
		!strings.ContainsAny(name, "/\x00") && filepath.ToSlash(name) == name
}
