package overlap

import (
	"cmp"
	"math"
	"slices"

	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/search/text"
)

// A corpus is the names and descriptions of skills as weighted words.
type corpus struct {
	documents []*document
	holders   []int // documents that have a term
}

// A document is the words of a skill.
type document struct {
	skill *skills.Skill
	terms []term // by id
	// text is the description, folded.
	text string
}

// A term is a word of a document.
type term struct {
	id     int
	word   string // as it is first written, folded
	count  int
	weight float64 // all of a document are a vector of length 1
	// named and told report that the skill's name and description have it.
	named, told bool
	// request reports a word about the use of a skill, not about its subject.
	request bool
}

// nameWeight is the factor of a word that only a name has: a model chooses by the
// description.
const nameWeight = 0.5

func newCorpus(all []*skills.Skill) *corpus {
	c := &corpus{}
	r := reader{analyzer: text.New(), ids: map[string]int{}}
	for _, s := range all {
		if s.Of != nil || !s.ModelInvocable || s.Description == "" {
			continue
		}
		c.documents = append(c.documents, r.read(s))
	}
	c.holders = make([]int, len(r.ids))
	for _, d := range c.documents {
		for _, t := range d.terms {
			c.holders[t.id]++
		}
	}
	for _, d := range c.documents {
		c.weigh(d)
	}
	return c
}

// weigh weighs the terms of a document: a term that few have weighs more.
func (c *corpus) weigh(d *document) {
	sum := 0.0
	for i := range d.terms {
		t := &d.terms[i]
		if t.request || t.count == 0 {
			continue
		}
		t.weight = (1 + math.Log(float64(t.count))) * math.Log(1+float64(len(c.documents))/float64(c.holders[t.id]))
		if !t.told {
			t.weight *= nameWeight
		}
		sum += t.weight * t.weight
	}
	for i := range d.terms {
		d.terms[i].weight /= math.Sqrt(max(sum, math.SmallestNonzeroFloat64))
	}
}

// A reader makes documents.
type reader struct {
	analyzer *text.Analyzer
	ids      map[string]int // of terms
}

func (r *reader) read(s *skills.Skill) *document {
	d := &document{skill: s}
	language := r.analyzer.Detect(s.Description)
	r.add(d, s.QualifiedName(), language, term{named: true})
	r.add(d, s.Name, language, term{count: 1, named: true})
	for _, purpose := range []string{s.Description, s.WhenToUse} {
		d.text += text.Fold(purpose) + "\n"
		for sentence := range text.Sentences(purpose) {
			if !text.Excludes(sentence) {
				r.add(d, sentence, language, term{count: 1, told: true})
			}
		}
	}
	slices.SortStableFunc(d.terms, func(a, b term) int { return cmp.Compare(a.id, b.id) })
	d.terms = merge(d.terms)
	return d
}

// add appends the words of a text to a document, each like a term.
func (r *reader) add(d *document, of string, language text.Language, like term) {
	for token := range r.analyzer.Tokens(of, language) {
		if token.Stop || token.Kind == text.Joined || token.Kind == text.Part {
			continue
		}
		key := cmp.Or(token.Native, token.Term)
		id, known := r.ids[key]
		if !known {
			id = len(r.ids)
			r.ids[key] = id
		}
		like.id, like.word, like.request = id, token.Surface, isRequest(token.Term)
		d.terms = append(d.terms, like)
	}
}

// merge joins adjacent terms of the same id.
func merge(terms []term) []term {
	merged := terms[:0]
	for _, t := range terms {
		last := len(merged) - 1
		if last < 0 || merged[last].id != t.id {
			merged = append(merged, t)
			continue
		}
		m := &merged[last]
		m.count, m.named, m.told = m.count+t.count, m.named || t.named, m.told || t.told
	}
	return merged
}

// isRequest reports the stem of a word that a description has about its use, not its
// subject.
func isRequest(stem string) bool {
	switch stem {
	case "use", "user", "skill", "ask", "want", "need", "help", "tool", "task", "work", "trigger", "mention", "request",
		"includ", "provid", "support", "make", "also", "whenev", "etc", "eg", "ie", "new", "guid", "via":
		return true
	}
	return false
}

// has reports whether a document has a term.
func (d *document) has(id int) bool {
	_, found := slices.BinarySearchFunc(d.terms, id, func(t term, id int) int { return cmp.Compare(t.id, id) })
	return found
}
