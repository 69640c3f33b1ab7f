package scan

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/skillsmcp/skills-mcp/skills"
)

// claims are the names that belong to skills, plugins and agents which an untrusted
// workspace must not be mistaken for, by their keys: see keyOf.
type claims map[string]bool

func (c claims) add(names ...string) {
	for _, name := range names {
		if key := keyOf(name); key != "" {
			c[key] = true
		}
	}
}

// prefix returns what to put before qualified names of which one is claimed; "" if none
// is.
func (c claims) prefix(names ...string) string {
	if !slices.ContainsFunc(names, c.claimed) {
		return ""
	}
	prefix := "workspace"
	for n := 2; slices.ContainsFunc(names, func(name string) bool { return c.claimed(prefix + "/" + name) }); n++ {
		prefix = fmt.Sprintf("workspace-%d", n)
	}
	return prefix
}

// claimed reports whether a name could be mistaken for a claimed one, as a whole or by
// its first part, or for SOURCE:NAME. A name without a letter could be mistaken for any.
func (c claims) claimed(name string) bool {
	at := strings.IndexAny(name+"/", "/:")
	key, first := keyOf(name), name[:at]
	return key == "" || c[key] || c[keyOf(first)] ||
		strings.HasPrefix(name[at:], ":") && slices.Contains(skills.Sources(), skills.Source(first))
}

// keyOf returns the letters and digits of a name, without case, accents and the
// differences between letters that look alike: names with the same key could be mistaken
// for each other. Tool names of one key are one file name, or one tool, to some client.
func keyOf(name string) string {
	var key strings.Builder
	for _, r := range norm.NFKD.String(name) {
		r = unicode.ToLower(lookalike(r))
		switch {
		case r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r)):
			key.WriteRune(r)
		case r < utf8.RuneSelf || !unicode.In(r, unicode.L, unicode.N, unicode.S): // marks, separators, hidden
		default:
			key.WriteRune(lookalike(r))
		}
	}
	return key.String()
}

// lookalike returns the Latin letter that a letter of another script, or with a stroke,
// looks like; or else r. The pairs are of Unicode Technical Standard 39, as far as they
// concern Latin letters.
func lookalike(r rune) rune {
	const (
		others = "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧ" + "аеорсухіјѕԁһӏԛԝѵкмтвнгпэ" + "αορνυικτχγηεβωσ" + "օոսհցզյ" + "ıɑɡłøđɩ"
		latin  = "abezhikmnoptyx" + "aeopcyxijsdhlqwvkmtbhrne" + "aopvuiktxynebwo" + "onuhgqj" + "iaglodi"
	)
	if r < utf8.RuneSelf {
		return r
	}
	if at := strings.IndexRune(others, r); at >= 0 {
		return rune(latin[utf8.RuneCountInString(others[:at])])
	}
	return r
}
