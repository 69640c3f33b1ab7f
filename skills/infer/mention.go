package infer

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/lazyregexp"
	"github.com/skillsmcp/skills-mcp/skills/truncate"
)

// Mention returns what the instructions of a tool's skill say of its script, where they
// name it: the other cells of a table's row, the rest of a list's item, the sentence, the
// text below a headline, or the comment or the headline of a command. It is "" where they
// do not.
func Mention(tool *skills.Skill) string {
	if tool.Of == nil || tool.Entry == nil || tool.Entry.Script == "" {
		return ""
	}
	name := path.Base(tool.Entry.Script)
	if !strings.Contains(tool.Of.Instructions, name) {
		return ""
	}
	text := findMention(tool.Of.Instructions, name)
	if len(text) > 0 && len(strings.Fields(text)) < 5 {
		text = strings.TrimSpace(strings.TrimRight(text, ".:") + ". " + firstSentence(tool.Of.Description))
	}
	return truncate.String(text, maxBorrowed)
}

// A mention is the search for what a text says of a file.
type mention struct {
	name           string
	fenced         bool
	heading, above string // the last headline, and the comment above a command
	own            bool   // the headline is the file's
	command        string // of the first command with the file
}

// findMention looks for the best mention of a file: one in prose.
func findMention(text, name string) string {
	m := &mention{name: name}
	for line := range strings.Lines(text) {
		if told := m.line(strings.TrimSpace(line)); told != "" {
			return told
		}
	}
	return m.command
}

// line returns what a line of prose says of the file.
func (m *mention) line(line string) string {
	title := strings.HasPrefix(line, "#")
	named := names(line, m.name)
	switch {
	case strings.HasPrefix(line, "```"):
		m.fenced = !m.fenced
		return ""
	case title && !m.fenced:
		m.heading, m.above, m.own = headline(line), "", named
		return ""
	case named && !history.MatchString(m.heading):
		if told := m.sayingOf(line); told != "" && !m.fenced {
			return told
		} else if m.command == "" {
			m.command = cmp.Or(told, m.above, m.heading)
		}
	case m.own && !m.fenced && line != "":
		m.own = false
		return sentenceLike(prose(line), "")
	}
	if title {
		m.above = headline(line)
	} else if line != "" {
		m.above = ""
	}
	return ""
}

// history matches headlines of texts on earlier versions, and general headlines that say
// nothing of a script.
var (
	history = lazyregexp.New(`(?i)change ?log|histor|migrat`)
	general = lazyregexp.New(`(?i)^(?:basic |advanced |quick )?(?:usages?|cli|operations?|start|scripts?|commands?|examples?|steps?|installation|setup|(?:directory|file|folder)s?(?: structure)?|overview|how to use.*|execution|run(?:ning)?|quickstart|structure|api|reference|instructions?|workflow)$`)
)

// headline returns a headline as plain text, "" of a general one and of a file's name.
func headline(line string) string {
	text := prose(line)
	if general.MatchString(text) || !strings.Contains(text, " ") && strings.ContainsAny(text, "._/") {
		return ""
	}
	return text
}

// names reports whether a line has the name of a file as a word.
func names(line, name string) bool {
	before, after, ok := strings.Cut(line, name)
	return ok && !strings.ContainsAny(last(before), wordLetters) && (after == "" || !strings.ContainsAny(after[:1], wordLetters))
}

const wordLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"

func last(text string) string { return text[max(len(text)-1, 0):] }

// sayingOf returns what a line says of the file that it names: of a command only its
// comment.
func (m *mention) sayingOf(line string) string {
	if m.fenced {
		_, comment, _ := strings.Cut(line, " # ")
		return prose(comment)
	}
	if strings.HasPrefix(line, "|") {
		longest := ""
		for cell := range strings.SplitSeq(line, "|") {
			if !strings.Contains(cell, m.name) && len(cell) > len(longest) {
				longest = cell
			}
		}
		return sentenceLike(prose(longest), "")
	}
	if before, after, _ := strings.Cut(line, m.name); isItem.MatchString(before) {
		if told := sentenceLike(strings.TrimLeft(prose(after), ":-–—) \t"), ""); told != "" {
			return told
		}
	}
	for sentence := range strings.SplitSeq(strings.ReplaceAll(line, ". ", ".\n"), "\n") {
		if names(sentence, m.name) {
			return sentenceLike(prose(sentence), m.name)
		}
	}
	return ""
}

// isItem matches the part of a line up to a file that the line is about.
var isItem = lazyregexp.New("^(?:[-*+]|\\d+[.)]|#+)?\\s*(?:\\*\\*|__)?\\[?[`\"']?[\\w./${}-]*$")

// marks are those of Markdown around words.
var (
	marks = strings.NewReplacer("`", "", "**", "", "__", "")
	link  = lazyregexp.New(`\[([^\]]*)\]\([^)]*\)`)
)

// prose returns a line of Markdown as plain text.
func prose(line string) string {
	line = link.ReplaceAllString(marks.Replace(line), "$1")
	return strings.TrimSpace(strings.TrimLeft(line, "#*+-> \t0123456789.)"))
}

// sentenceLike returns a text that has three words besides those with a name, else "".
func sentenceLike(text, name string) string {
	words := strings.Fields(text)
	if name != "" {
		words = slices.DeleteFunc(words, func(word string) bool { return strings.Contains(word, name) })
	}
	if len(words) < 3 {
		return ""
	}
	return text
}
