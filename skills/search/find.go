package search

import (
	"cmp"
	"slices"

	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/search/lexicon"
	"github.com/skillsmcp/skills-mcp/skills/search/text"
)

// maxAlternatives bounds the other phrasings that are searched.
const maxAlternatives = 8

// A finder answers one query.
type finder struct {
	scope     *scope
	query     Query
	phrasings []*scores
	words     map[string]float64 // terms of all phrasings, and their weights
}

// ask searches a phrasing.
func (f *finder) ask(a *text.Analyzer, l *lexicon.Lexicon, phrasing string) {
	all := f.scope.clauses(a, l, phrasing)
	f.scope.expand(all)
	for _, c := range all {
		for _, v := range c.variants {
			if n := f.scope.holders(v.term); n > 0 {
				f.words[v.term] = max(f.words[v.term], c.weight*v.weight*f.scope.idf(n))
			}
		}
	}
	f.phrasings = append(f.phrasings, f.scope.rank(all))
}

// result returns the result of all phrasings.
func (f *finder) result(a *analyzers) Result {
	named := f.named()
	all, total := f.scope.matches(f.phrasings, named)
	f.boost(all[min(len(named), len(all)):])
	r := Result{Hits: f.group(all), Total: total}
	if len(named) == 0 {
		r.Doubtful, r.Unsure = !f.confident(doubtOfOne), !f.confident(sureOfOne)
	}
	for i := range r.Hits {
		r.Hits[i].words, r.Hits[i].analyzers = f.words, a
		if r.Hits[i].Skill.Of != nil {
			r.Total++
		}
	}
	return r
}

// boost applies the boost of the query.
func (f *finder) boost(all []match) {
	if f.query.Boost == nil {
		return
	}
	for i, m := range all {
		all[i].score *= f.query.Boost(f.scope.skill(m.doc))
	}
	f.scope.sort(all)
}

// named returns the documents that a phrasing names, those of the text first.
func (f *finder) named() (once []int) {
	var all []int
	for _, phrasing := range append([]string{f.query.Text}, f.query.Alternatives[:min(len(f.query.Alternatives), maxAlternatives)]...) {
		all = append(all, f.scope.named(phrasing)...)
	}
	for _, doc := range all {
		if !slices.Contains(once, doc) {
			once = append(once, doc)
		}
	}
	return once
}

// named returns the documents that have a name: a qualified name before others, the
// person's own skills before those of a workspace that they do not trust, skills before
// tools.
func (s *scope) named(name string) []int {
	name = squash(name[:min(len(name), maxQuery)])
	if name == "" {
		return nil
	}
	var all []int
	for n := range s.docs {
		if !s.hidden.has(n) && slices.Contains(s.docs[n].names, name) {
			all = append(all, n)
		}
	}
	rank := func(skill *skills.Skill) int {
		switch {
		case squash(skill.QualifiedName()) == name:
			return 0
		case skill.Untrusted():
			return 3
		case skill.Of != nil:
			return 2
		}
		return 1
	}
	slices.SortFunc(all, func(a, b int) int {
		x, y := s.skill(a), s.skill(b)
		return cmp.Or(cmp.Compare(rank(x), rank(y)), cmp.Compare(x.QualifiedName(), y.QualifiedName()))
	})
	return all
}

// toolMargin is the factor by which a tool has to match better than its skill.
const toolMargin = 1.1

// group returns the hits of matches. A skill has one tool beside it at the most, and
// that only where the tool matches better.
func (f *finder) group(all []match) (hits []Hit) {
	owners := map[*skills.Skill]float64{}
	for _, m := range all {
		if skill := f.scope.skill(m.doc); skill.Of == nil {
			owners[skill] = m.score
		}
	}
	shown := map[*skills.Skill]bool{} // owners whose tool is a hit
	for _, m := range all {
		skill := f.scope.skill(m.doc)
		if of := skill.Of; of != nil {
			if shown[of] || m.score < toolMargin*owners[of] {
				continue
			}
			shown[of] = true
		}
		if hits = append(hits, Hit{Skill: skill, Score: m.score}); len(hits) == MaxHits {
			break
		}
	}
	return hits
}

// The confidence in the best phrasing below which a result is doubtful, and unsure. One
// phrasing may have none of the words of a skill that fits; several have them. Of the
// doubts about one phrasing, 29 of 39 are right in catalogs of 5 skills and 12 of 15 in
// those of 50, and few are told in larger ones; at 0.05 half or more were wrong.
const (
	doubtOfOne     = -0.7
	doubtOfSeveral = 0.85
	sureOfOne      = 0.05
)

// confident reports whether one phrasing or more reach a confidence.
func (f *finder) confident(ofOne float64) bool {
	least := ofOne
	if len(f.phrasings) > 1 {
		least = doubtOfSeveral
	}
	return slices.ContainsFunc(f.phrasings, func(r *scores) bool { return r.confidence() >= least })
}
