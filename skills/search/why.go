package search

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/search/text"
)

// MaxWhy is the longest [Hit.Why], in bytes.
const MaxWhy = 160

// Why returns one line of at most [MaxWhy] bytes that shows what matched, for the reader
// of the result; "" where nothing in particular did. It reads the skill's text, so ask
// for the hits that are shown only.
func (h Hit) Why() string {
	if h.analyzers == nil || len(h.words) == 0 {
		return ""
	}
	a := h.analyzers.get()
	defer h.analyzers.put(a)
	e := explanation{analyzer: a, words: h.words, language: a.Detect(h.Skill.Description)}
	d := newDocument(h.Skill)
	for _, f := range []field{descriptionField, whenField, nameField, keywordsField, paramsField} {
		e.read(f, d.texts[f])
	}
	if e.weight < enough*e.total() {
		e.read(bodyField, d.texts[bodyField])
	}
	return e.line(h.Skill)
}

// enough is the share of a query's weight in one sentence with which the body is not
// read for a better one.
const enough = 0.5

// An explanation is the sentence of a skill that matches a query best.
type explanation struct {
	analyzer *text.Analyzer
	language text.Language
	words    map[string]float64

	weight   float64 // of the words in the sentence
	found    []string
	sentence string
	first    int // the byte of the sentence at which the first word begins
	field    field
}

func (e *explanation) total() (sum float64) {
	for _, weight := range e.words {
		sum += weight
	}
	return sum
}

// read reads the texts of a field.
func (e *explanation) read(f field, texts []string) {
	for _, t := range texts {
		for sentence := range text.Sentences(t) {
			e.compare(f, sentence)
		}
	}
}

// compare replaces the sentence by a better one.
func (e *explanation) compare(f field, sentence string) {
	weight, first := 0.0, -1
	var terms, found []string
	for token := range e.analyzer.Tokens(sentence, e.language) {
		term := token.Term
		if e.words[term] < e.words[token.Native] {
			term = token.Native
		}
		if e.words[term] == 0 || slices.Contains(terms, term) {
			continue
		}
		weight += e.words[term]
		terms, found = append(terms, term), append(found, token.Surface)
		if first < 0 {
			first = token.Start
		}
	}
	if weight > e.weight {
		e.weight, e.found, e.sentence, e.first, e.field = weight, found, sentence, first, f
	}
}

// line returns the words that matched, their field, and the sentence.
func (e *explanation) line(*skills.Skill) string {
	if e.weight == 0 {
		return ""
	}
	const mostWords = 4
	line := strings.Join(e.found[:min(len(e.found), mostWords)], ", ") + " in " +
		[...]string{"the name", "the description", "when to use it", "the keywords", "the parameters", "the instructions"}[e.field]
	line = cut(line, MaxWhy)
	sentence, first := e.sentence, e.first
	if e.field == nameField || MaxWhy-len(line) < 40 {
		return line
	}
	room := MaxWhy - len(line) - len(`: "…"`)
	sentence = strings.TrimLeft(plainLine(sentence[min(first, max(0, len(sentence)-room)):]), " ")
	if first <= room/2 || len(e.sentence) <= room {
		sentence = plainLine(e.sentence)
	}
	return line + `: "` + cut(sentence, room) + `"`
}

// plainLine returns a text on one line, without marks of Markdown at its ends.
func plainLine(s string) string {
	s = strings.ToValidUTF8(s, "")
	s = strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || unicode.IsControl(r) || r == '"' {
			return ' '
		}
		return r
	}, s)
	return strings.Trim(strings.Join(strings.Fields(s), " "), "#*-_`> ")
}

// cut returns the beginning of a text that has no more than most bytes.
func cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	most -= len("…")
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most] + "…"
}
