// Package titles returns the names that clients show a person: of tools, prompts and
// resources. An author's own name precedes; else a title is made of the skill's name, in the
// spelling of its description.
//
// Start with [New].
package titles

import (
	"cmp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/skillsmcp/skills-mcp/server/termtext"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/truncate"
)

// Max is the longest title, in bytes.
const Max = 80

// Titles are the titles of a catalog's skills. They may be used concurrently.
type Titles struct {
	// claims counts the skills of each title, without the case of its letters; it is
	// made when a title is first asked for.
	claims func() map[string]claim
}

// A claim counts the skills that have one title.
type claim struct {
	all   int
	plain int // those outside of plugins and folders
}

// New returns the titles of the skills of a catalog.
func New(all []*skills.Skill) *Titles {
	return &Titles{sync.OnceValue(func() map[string]claim {
		claims := make(map[string]claim, len(all))
		for _, skill := range all {
			k := key(skill)
			c := claims[k]
			c.all++
			if skill.Prefix == "" && skill.Plugin == "" && skill.Folder == "" {
				c.plain++
			}
			claims[k] = c
		}
		return claims
	})}
}

// Of returns the title of a skill: one line without hidden characters, at most [Max]
// bytes, not empty. Where several skills have it, it tells the plugin.
func (t *Titles) Of(skill *skills.Skill) string {
	title, hint := base(skill), ""
	if c := t.claims()[key(skill)]; c.all > 1 {
		above := strings.TrimSuffix(strings.TrimSuffix(skill.QualifiedName(), skill.Name), "/")
		switch {
		case above != "":
			hint = " (" + termtext.Line(above, Max/2) + ")"
		case c.plain > 1:
			hint = " (" + termtext.Line(skill.Name, Max/2) + ")"
		}
	}
	return truncate.String(title, Max-len(hint)) + hint
}

// base returns the title of a skill as if no other had it.
func base(skill *skills.Skill) string {
	if title := termtext.Line(skill.DisplayName, Max); title != "" {
		return title
	}
	if tool, ok := toolOf(skill); ok {
		return join(base(skill.Of), Readable(tool, skill.Description))
	}
	return Readable(skill.Name, skill.Description)
}

// toolOf returns the name of a tool of a skill within that skill.
func toolOf(skill *skills.Skill) (name string, ok bool) {
	if skill.Of == nil {
		return "", false
	}
	return strings.CutPrefix(skill.Name, skill.Of.Name+"__")
}

// key returns a text that is the same for skills with the same base title, whatever the
// case of its letters.
func key(skill *skills.Skill) string {
	if tool, ok := toolOf(skill); ok {
		return key(skill.Of) + ":" + fold(tool)
	}
	return fold(cmp.Or(skill.DisplayName, skill.Name))
}

// fold returns the letters, digits and symbols of a text in lower case.
func fold(text string) string {
	folded := make([]byte, 0, len(text))
	for _, r := range text {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9': // most are: tables take long
			folded = append(folded, byte(r))
		case unicode.In(r, unicode.L, unicode.N, unicode.M, unicode.S):
			folded = utf8.AppendRune(folded, unicode.ToLower(r))
		}
	}
	return string(folded)
}

// Readable returns a name as words, the first with a capital letter: "pdf-tools" is
// "PDF tools" where the description writes PDF.
func Readable(name, description string) string {
	if group, rest, ok := strings.Cut(termtext.Line(name, 4*Max), ":"); ok && group != "" && rest != "" {
		return join(Readable(group, description), Readable(rest, description))
	}
	words := strings.FieldsFunc(termtext.Line(name, 4*Max), func(r rune) bool { return unicode.IsSpace(r) || r == '-' || r == '_' || r == '/' })
	if len(words) == 0 {
		return cmp.Or(termtext.Line(name, Max), "Skill")
	}
	spelt := spelling(words, description)
	for i, word := range words {
		switch other := spelt[strings.ToLower(word)]; {
		case other != "" && word == strings.ToLower(word):
			words[i] = other
		case i == 0:
			words[i] = capital(word)
		}
	}
	return truncate.String(strings.Join(words, " "), Max)
}

// join returns the title of a part of something with a title.
func join(whole, part string) string {
	return truncate.String(whole+": "+lower(part), Max)
}

// lower returns a text with a small first letter, unless others of its first word are
// capital.
func lower(text string) string {
	first, _, _ := strings.Cut(text, " ")
	if first != capital(strings.ToLower(first)) {
		return text
	}
	return strings.ToLower(first) + strings.TrimPrefix(text, first)
}
