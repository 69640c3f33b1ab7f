package embeddings

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/search"
	"github.com/skillsmcp/skills-mcp/skills/truncate"
)

// maxText bounds the characters of a text that is sent: models read about as many.
const maxText = 2000

// passage returns the text of a skill that is sent: its name and what it is for.
func passage(s *skills.Skill) string {
	return truncate.String(strings.TrimSpace(s.Name+": "+s.Description+"\n"+s.WhenToUse), maxText)
}

// vectors are the vectors of a search; those that are missing are nil. After its
// goroutine has started, only it uses the maps until it ends.
type vectors struct {
	texts, passages   []string
	ofText, ofPassage map[string][]float32
}

func (v *vectors) complete() bool {
	return len(missing(v.texts, v.ofText)) == 0 && len(missing(v.passages, v.ofPassage)) == 0
}

// missing returns each text without a vector once.
func missing(texts []string, of map[string][]float32) []string {
	var without []string
	for _, text := range texts {
		if of[text] == nil && !slices.Contains(without, text) {
			without = append(without, text)
		}
	}
	return without
}

// damping weakens the first ranks when ranks are fused: a hit must be good in both
// orders.
const damping = 10

var errDimensions = errors.New("the endpoint returned vectors of different lengths")

// ranked returns hits in the order of the fused ranks. It removes vectors from the cache
// that the endpoint would not return any more.
func (v *vectors) ranked(hits []search.Hit, cache *store) ([]search.Hit, error) {
	similarities, outdated := make([]float64, len(v.passages)), false
	for i, passage := range v.passages {
		for _, text := range v.texts {
			query, found := v.ofText[text], v.ofPassage[passage]
			if len(query) != len(found) {
				cache.remove(passage)
				outdated = true
				break
			}
			similarities[i] += product(query, found)
		}
	}
	if outdated {
		return nil, errDimensions
	}
	return fuse(hits, similarities), nil
}

// fuse returns hits in the order of their ranks and of the ranks of their similarities
// together; of equal ones the more similar is first.
func fuse(hits []search.Hit, similarities []float64) []search.Hit {
	order := make([]int, len(similarities))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(similarities[b], similarities[a]) })
	scores := make([]float64, len(order))
	for rank, i := range order {
		scores[i] = 1/float64(damping+i) + 1/float64(damping+rank)
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	ranked := make([]search.Hit, len(hits))
	for rank, i := range order {
		ranked[rank] = hits[i]
	}
	return ranked
}
