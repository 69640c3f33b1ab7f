package search

import (
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/search/text"
	"github.com/skillsmcp/skills-mcp/skills/truncate"
)

// MaxWhy is the longest [Hit.Why], in bytes.
const MaxWhy = 160

// Why returns one line of at most [MaxWhy] bytes with the words that matched and where,
// such as "merge, pdf in the description"; "" where nothing in particular did. It reads the
// skill's text, so ask for the hits that are shown only.
func (h Hit) Why() string {
	if h.analyzers == nil || len(h.words) == 0 {
		return ""
	}
	a := h.analyzers.get()
	defer h.analyzers.put(a)
	total := 0.0
	for _, weight := range h.words {
		total += weight
	}
	d, language := newDocument(h.Skill), a.Detect(h.Skill.Description)
	best, line := 0.0, ""
	for _, part := range [...]struct {
		field field
		name  string
	}{
		{descriptionField, "the description"}, {whenField, "when to use it"}, {nameField, "the name"},
		{keywordsField, "the keywords"}, {paramsField, "the parameters"}, {bodyField, "the instructions"},
	} {
		if part.field == bodyField && best >= enough*total {
			break
		}
		if weight, found := h.in(a, language, d.texts[part.field]); weight > best {
			best, line = weight, strings.Join(found[:min(len(found), mostWords)], ", ")+" in "+part.name
		}
	}
	return truncate.String(line, MaxWhy)
}

const (
	// enough is the share of a query's weight in one field with which the body is not read
	// for more of it.
	enough = 0.5
	// mostWords bounds the words that a line names.
	mostWords = 4
)

// in returns the words of the query in texts, as they are written there, and their weight.
func (h Hit) in(a *text.Analyzer, language text.Language, texts []string) (weight float64, found []string) {
	var terms []string
	for _, t := range texts {
		for token := range a.Tokens(t, language) {
			term := token.Term
			if h.words[term] < h.words[token.Native] {
				term = token.Native
			}
			if h.words[term] > 0 && !slices.Contains(terms, term) {
				weight += h.words[term]
				terms, found = append(terms, term), append(found, token.Surface)
			}
		}
	}
	return weight, found
}
