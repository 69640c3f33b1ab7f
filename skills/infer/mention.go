package infer

import (
	"cmp"
	"path"
	"regexp"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/lazyregexp"
	"github.com/skillsmcp/skills-mcp/skills/truncate"
)

// maxBorrowed bounds the part of a skill's description that its tools share, in bytes.
const maxBorrowed = 240

// Mention returns what the instructions of a tool's skill say of its script: another cell
// of the row, the rest of the item, or the sentence that names it, the text below a
// headline that does, or the comment or the headline above a command. It is "" where they
// say nothing.
func Mention(tool *skills.Skill) string {
	if tool.Of == nil || tool.Entry == nil || tool.Entry.Script == "" || !strings.Contains(tool.Of.Instructions, path.Base(tool.Entry.Script)) {
		return ""
	}
	name := path.Base(tool.Entry.Script)
	m := &mention{name: name, named: regexp.MustCompile(`(?:^|[^\w-])` + regexp.QuoteMeta(name) + `(?:$|[^\w-])`)}
	text := ""
	for line := range strings.Lines(tool.Of.Instructions) {
		if text = m.line(strings.TrimSpace(line)); text != "" {
			break
		}
	}
	text = cmp.Or(text, m.command)
	if text != "" && len(strings.Fields(text)) < 5 {
		text = strings.TrimSpace(strings.TrimRight(text, ".:") + ". " + firstSentence(tool.Of.Description))
	}
	return truncate.String(text, maxBorrowed)
}

// A mention is the search for what a text says of a file.
type mention struct {
	name    string
	named   *regexp.Regexp // matches a line with the name
	fenced  bool
	heading string
	comment string // above a command
	own     bool   // the headline is the file's
	command string // what is known of the first command with the file
}

// line returns what a line of prose says of the file.
func (m *mention) line(line string) string {
	title, named := strings.HasPrefix(line, "#"), m.named.MatchString(line)
	switch {
	case strings.HasPrefix(line, "```"):
		m.fenced = !m.fenced
	case title:
		text := plainText(line)
		if general.MatchString(text) || !strings.Contains(text, " ") && strings.ContainsAny(text, "._/") {
			text = ""
		}
		if m.comment = text; !m.fenced {
			m.heading, m.comment, m.own = text, "", named
		}
	case named && m.fenced:
		_, comment, _ := strings.Cut(line, " # ")
		m.command = cmp.Or(m.command, plainText(comment), m.comment, m.heading)
	case named:
		return m.prose(line)
	case m.fenced && line != "":
		m.comment = ""
	case m.own && line != "":
		m.own = false
		return sentence(line)
	}
	return ""
}

// prose returns what a line outside of code says of the file that it names.
func (m *mention) prose(line string) string {
	if strings.HasPrefix(line, "|") {
		longest := ""
		for cell := range strings.SplitSeq(line, "|") {
			if len(cell) > len(longest) && !strings.Contains(cell, m.name) {
				longest = cell
			}
		}
		return sentence(longest)
	}
	if before, after, _ := strings.Cut(line, m.name); isItem.MatchString(before) {
		if told := sentence(after); told != "" {
			return told
		}
	}
	for part := range strings.SplitSeq(strings.ReplaceAll(line, ". ", ".\n"), "\n") {
		if m.named.MatchString(part) && sentence(strings.ReplaceAll(part, m.name, "")) != "" {
			return plainText(part)
		}
	}
	return ""
}

var (
	// isItem matches a line up to the file that it is about.
	isItem = lazyregexp.New("^(?:[-*+]|\\d+[.)])?\\s*(?:\\*\\*|__)?\\[?[`\"']?[\\w./${}-]*$")
	// general matches headlines that say nothing of a script.
	general = lazyregexp.New(`(?i)^(?:(?:basic|advanced|quick|how to) )?(?:usages?|use|cli|operations?|start|quickstart|scripts?|commands?|examples?|steps?|installation|setup|(?:directory|file|folder)?s? ?structure|files|overview|execution|run(?:ning)?|api|reference|instructions?|workflow|change ?log|version history)$`)
	marks   = strings.NewReplacer("`", "", "**", "", "__", "")
	link    = lazyregexp.New(`\[([^\]]*)\]\([^)]*\)`)
)

// plainText returns a line of Markdown as plain text.
func plainText(line string) string {
	line = link.ReplaceAllString(marks.Replace(line), "$1")
	return strings.TrimSpace(strings.TrimLeft(line, "#*+-–—:> \t0123456789.)"))
}

// sentence returns a line as plain text, if it has three words.
func sentence(line string) string {
	if text := plainText(line); len(strings.Fields(text)) >= 3 {
		return text
	}
	return ""
}

// firstSentence returns a text up to its first full stop before a space.
func firstSentence(text string) string {
	text = strings.TrimSpace(text)
	if at := strings.Index(text, ". "); at > 0 {
		return text[:at+1]
	}
	first, _, _ := strings.Cut(text, "\n")
	return first
}
