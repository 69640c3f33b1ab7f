// Package search finds skills by words: what a person or a model writes when they look
// for a skill whose name they do not know.
//
// Start with [New] and [Index.Search].
package search

import "github.com/skillsmcp/skills-mcp/skills"

// A Query selects and ranks skills.
type Query struct {
	// Text is the wish in the words of who searches, in any language.
	Text string
	// Alternatives are other phrasings of the same wish. The ranking of each is fused
	// with that of Text.
	Alternatives []string
	// Person searches the skills that only a person may call, too. A model's results
	// do not depend on those.
	Person bool
	// Keep reports whether a skill may be found; nil keeps all. Skills that it drops
	// count nowhere in the result.
	Keep func(*skills.Skill) bool
	// Boost returns the factor of a skill's score, near 1; nil is 1 for all.
	Boost func(*skills.Skill) float64
}

// A Hit is a skill that a query found.
type Hit struct {
	Skill *skills.Skill
	// Score is comparable within one result.
	Score float64

	words     map[string]float64 // terms of the query and their weights; see Why
	analyzers *analyzers
}

// MaxHits bounds the hits of a [Result].
const MaxHits = 200

// A Result is the answer to a [Query].
type Result struct {
	// Hits are the first [MaxHits] skills that match, best first. The order is stable:
	// equal scores are ordered by qualified name. A skill and its tools are one hit,
	// unless a tool matches better than its skill: then it is a hit beside it.
	Hits []Hit
	// Total counts the skills that match.
	Total int
	// Doubtful reports that probably no skill fits: Hits are the nearest.
	Doubtful bool
	// Unsure reports that the query has few words of the best skill, or that the result
	// is doubtful: nobody should get that skill who did not ask for it.
	Unsure bool
}
