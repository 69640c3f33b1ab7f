package skillsext

import (
	"net/url"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/skillsmcp/skills-mcp/skills"
)

// skillFile is the name of the file that every skill of the extension has.
const skillFile = "SKILL.md"

// Has reports whether a library serves a skill's folder. Commands and skills in other
// formats have no SKILL.md, and the folder of a tool is another skill's. Skills of other
// servers are served by these.
func Has(skill *skills.Skill) bool {
	return skill.Of == nil && skill.Origin().Kind != skills.OriginMCP && filepath.Base(skill.File) == skillFile
}

// Listed reports whether a skill is in lists. One that is blocked is not, nor one that
// only a person may call, because models choose from lists.
func Listed(skill *skills.Skill) bool {
	return Has(skill) && skill.ModelInvocable && skill.Blocked == ""
}

// Scheme is the scheme of all URIs.
const Scheme = "skill://"

// Template is the URI template of all URIs (RFC 6570).
const Template = Scheme + "{+path}"

// maxURI is the longest URI that is served, in bytes.
const maxURI = 4 << 10

// URI returns the URI of a skill's SKILL.md: "skill://NAME/SKILL.md", in a plugin
// "skill://PLUGIN/NAME/SKILL.md". A tool has its skill's URI. It is "" if there is no
// SKILL.md.
func URI(skill *skills.Skill) string {
	if skill = skill.Owner(); !Has(skill) {
		return ""
	}
	return at(skill, skillFile)
}

// at returns the URI of a path in a skill's folder, of which "." is the folder itself.
func at(skill *skills.Skill, name string) string {
	uri := Scheme + escape(skill.QualifiedName())
	if name != "." {
		uri += "/" + escape(name)
	}
	return uri
}

// escape returns a path in a URI's only spelling. It escapes more than RFC 3986 demands
// of a path: the first segment is in the place of the host, and must have no port or
// user.
func escape(name string) string {
	return strings.ReplaceAll(strings.ReplaceAll(url.QueryEscape(name), "+", "%20"), "%2F", "/")
}

// split returns the names of a URI's path. ok is false for a URI that names no file or
// folder: no name leads upwards or has an escaped separator.
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
