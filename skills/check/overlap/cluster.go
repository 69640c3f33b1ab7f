package overlap

import (
	"cmp"
	"maps"
	"slices"
)

const (
	// mostMembers bounds the distinct texts of a group.
	mostMembers = 12
	// mostShared and mostOwn bound the words of a group and of each skill in it.
	mostShared, mostOwn = 6, 4
)

// A cluster is documents of which each two are similar.
type cluster struct {
	members    []int
	similarity float64 // the least
}

// clusters joins similar documents, each to the most similar ones, and adds to them
// those with equal descriptions.
func clusters(pairs []pair, later map[int][]int) []*cluster {
	similar := map[[2]int]float64{}
	for _, p := range pairs {
		similar[[2]int{p.a, p.b}] = p.similarity
	}
	of := map[int]*cluster{}
	for _, first := range slices.Sorted(maps.Keys(later)) {
		of[first] = &cluster{[]int{first}, 1}
	}
	for _, p := range pairs {
		a, b := clusterOf(of, p.a), clusterOf(of, p.b)
		least, ok := a.least(b, similar)
		if a == b || !ok || len(a.members)+len(b.members) > mostMembers {
			continue
		}
		a.members, a.similarity = append(a.members, b.members...), min(a.similarity, b.similarity, least)
		for _, member := range b.members {
			of[member] = a
		}
	}
	return ranked(of, later)
}

func clusterOf(of map[int]*cluster, document int) *cluster {
	if of[document] == nil {
		of[document] = &cluster{[]int{document}, 1}
	}
	return of[document]
}

// least returns the least similarity of a member of a to one of b; ok is false where two
// are not similar.
func (a *cluster) least(b *cluster, similar map[[2]int]float64) (least float64, ok bool) {
	least = 1
	for _, i := range a.members {
		for _, j := range b.members {
			s, ok := similar[[2]int{min(i, j), max(i, j)}]
			if !ok {
				return 0, false
			}
			least = min(least, s)
		}
	}
	return least, true
}

// ranked returns the clusters of several documents, the most similar first.
func ranked(of map[int]*cluster, later map[int][]int) []*cluster {
	var all []*cluster
	for _, document := range slices.Sorted(maps.Keys(of)) {
		c := of[document]
		if c.members[0] != document {
			continue
		}
		for _, member := range slices.Clone(c.members) {
			c.members = append(c.members, later[member]...)
		}
		if slices.Sort(c.members); len(c.members) > 1 {
			all = append(all, c)
		}
	}
	slices.SortStableFunc(all, func(a, b *cluster) int { return cmp.Compare(b.similarity, a.similarity) })
	return all
}
