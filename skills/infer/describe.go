package infer

import (
	"cmp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/infer/cli"
	"github.com/skillsmcp/skills-mcp/skills/infer/usagetext"
	"github.com/skillsmcp/skills-mcp/skills/truncate"
)

// BorrowedDescription returns the description of a tool that has none: what the
// instructions say of its script, or else the words of its name, and the first sentence
// of its skill's description.
func BorrowedDescription(tool *skills.Skill) string {
	if text := Mention(tool); text != "" {
		return text
	}
	name := tool.Name[strings.LastIndex(tool.Name, "__")+len("__"):]
	words := strings.Join(strings.FieldsFunc(name, func(r rune) bool { return r == '_' || r == '-' }), " ")
	first, size := utf8.DecodeRuneInString(words)
	words = string(unicode.ToUpper(first)) + words[size:]
	return strings.TrimSpace(words + ". " + truncate.String(firstSentence(tool.Of.Description), maxBorrowed))
}

// Purpose returns the description of a skill or a tool without the parts that its
// schema has: where the arguments are read from the script, those that describe them.
func Purpose(s *skills.Skill) string {
	if s.Entry == nil || !s.Entry.Inferred || len(s.Entry.Unread) > 0 {
		return s.Description
	}
	if _, parsed := s.Entry.Args.(skills.ParsedCLI); !parsed {
		return s.Description
	}
	return cmp.Or(usagetext.Purpose(s.Description), s.Description)
}

// describe gives a tool that has only its skill's description that of its command line.
func describe(tool *skills.Skill, line *cli.CommandLine) {
	if tool.Of == nil || tool.Description != BorrowedDescription(tool) {
		return
	}
	if text := truncate.String(strings.TrimSpace(line.Description()), maxDoc); text != "" {
		tool.Description = text
	}
}
