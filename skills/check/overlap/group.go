package overlap

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills"
)

// A Group is skills that a model will confuse with each other, the most similar first.
type Group struct {
	Skills []*skills.Skill
	// Similarity is the least of two of them, in the words of names and descriptions.
	Similarity float64
	// Shared are the words that make them similar, the heaviest first.
	Shared []string
	// Own are the words that only one of them has, for each skill.
	Own [][]string
}

// mostNamed bounds the skills of a group that are named.
const mostNamed = 5

// Problem returns the warning for a group, at the file of its first skill.
func (g Group) Problem() skills.Problem {
	names := g.names()
	listed := skills.Enumerate(names, "and")
	if more := len(names) - mostNamed; more > 0 {
		names = names[:mostNamed]
		listed = fmt.Sprintf("%s and %d more", strings.Join(names, ", "), more)
	}
	message := "a model will confuse " + listed + ": all say " + strings.Join(g.Shared, ", ")
	alike := true
	for i, name := range names {
		if len(g.Own[i]) > 0 {
			message += "; only " + name + " says " + strings.Join(g.Own[i], ", ")
			alike = false
		}
	}
	if alike {
		message += "; nothing tells them apart"
	}
	return skills.Problem{
		Severity: skills.Warning, Path: g.Skills[0].File, Message: message,
		Remedy: "say in each description when not to use the skill, and name the other; or merge them",
	}
}

// names returns the names of the skills, or their files where they share a name.
func (g Group) names() []string {
	var names []string
	for _, s := range g.Skills {
		names = append(names, s.QualifiedName())
	}
	if sorted := slices.Sorted(slices.Values(names)); len(slices.Compact(sorted)) < len(names) {
		for i, s := range g.Skills {
			names[i] = s.File
		}
	}
	return names
}

// group returns the skills of a cluster with their words.
func (c *corpus) group(of *cluster) Group {
	g := Group{Similarity: of.similarity}
	holders, weight, word := map[int]int{}, map[int]float64{}, map[int]string{}
	for _, member := range of.members {
		for _, t := range c.documents[member].terms {
			holders[t.id]++
			weight[t.id] += t.weight
			word[t.id] = cmp.Or(word[t.id], t.word)
		}
	}
	most := slices.Max(slices.Collect(maps.Values(holders)))
	heavier := func(a, b int) int { return cmp.Or(cmp.Compare(weight[b], weight[a]), cmp.Compare(a, b)) }
	for _, id := range slices.SortedFunc(maps.Keys(holders), heavier) {
		if holders[id] == most && weight[id] > 0 && len(g.Shared) < mostShared {
			g.Shared = append(g.Shared, word[id])
		}
	}
	for _, member := range of.members {
		d := c.documents[member]
		g.Skills = append(g.Skills, d.skill)
		g.Own = append(g.Own, own(d, holders))
	}
	return g
}

// own returns the heaviest words of a document that no other of its group has.
func own(d *document, holders map[int]int) []string {
	alone := slices.DeleteFunc(slices.Clone(d.terms), func(t term) bool { return holders[t.id] > 1 || t.weight == 0 })
	slices.SortStableFunc(alone, func(a, b term) int { return cmp.Compare(b.weight, a.weight) })
	var words []string
	for _, t := range alone[:min(len(alone), mostOwn)] {
		words = append(words, t.word)
	}
	return words
}
