package search

import (
	"context"
	"slices"

	"github.com/skillsmcp/skills-mcp/skills"
)

// A snapshot is the index of one catalog. It is not changed once it is published.
type snapshot struct {
	catalog *skills.Catalog
	// model are the segments of the skills that a model may call, and person those of
	// the others: nothing of these is in what a model's search computes.
	model, person []part
}

// A part is a segment and the documents of it that are in the catalog.
type part struct {
	*segment
	dead bitset
	live totals
}

// totals are sums over documents.
type totals struct {
	docs  int
	words [fieldCount]int // of each field
	with  [fieldCount]int // documents that have the field
}

func (t *totals) add(d *doc, sign int) {
	t.docs += sign
	for f, n := range d.lengths {
		if n > 0 {
			t.words[f] += sign * int(n)
			t.with[f] += sign
		}
	}
}

func (t *totals) sum(other *totals) {
	t.docs += other.docs
	for f := range fieldCount {
		t.words[f] += other.words[f]
		t.with[f] += other.with[f]
	}
}

func newPart(s *segment) part {
	p := part{segment: s}
	for i := range s.docs {
		p.live.add(&s.docs[i], 1)
	}
	return p
}

// without returns the part with more documents dead.
func (p part) without(gone []uint32) part {
	dead := newBitset(len(p.docs))
	copy(dead, p.dead)
	for _, n := range gone {
		dead.add(int(n))
		p.live.add(&p.docs[n], -1)
	}
	p.dead = dead
	return p
}

// A place is the place of a skill in a snapshot.
type place struct {
	segment *segment
	doc     uint32
}

// compact merges the parts that are no larger than those after them, so that there are
// few, and each document is merged a few times only. It drops the dead.
func compact(parts []part, places map[*skills.Skill]place) []part {
	parts = slices.DeleteFunc(parts, func(p part) bool { return p.live.docs == 0 })
	for i := len(parts) - 1; i >= 0; i-- {
		last := i+1 == len(parts)
		switch {
		case !last && parts[i].live.docs <= 2*parts[i+1].live.docs:
			parts[i] = joined(parts[i:i+2], places)
			parts = slices.Delete(parts, i+1, i+2)
		case len(parts[i].docs) > 2*parts[i].live.docs:
			parts[i] = joined(parts[i:i+1], places)
		}
	}
	return parts
}

func joined(parts []part, places map[*skills.Skill]place) part {
	var from []*segment
	var dead []bitset
	for _, p := range parts {
		from, dead = append(from, p.segment), append(dead, p.dead)
	}
	p := newPart(merge(from, dead))
	p.locate(places)
	return p
}

// locate adds the places of the part's documents.
func (p part) locate(places map[*skills.Skill]place) {
	for n, d := range p.docs {
		places[d.skill] = place{p.segment, uint32(n)}
	}
}

// next returns the snapshot of another catalog, and changes places accordingly. The
// error is of ctx, and places are unchanged then.
func (s *snapshot) next(ctx context.Context, catalog *skills.Catalog, places map[*skills.Skill]place, from *analyzers) (*snapshot, error) {
	gone, came := difference(s.catalog.Skills, catalog.Skills)
	var model, person []*skills.Skill
	for _, skill := range came {
		if skill.ModelInvocable {
			model = append(model, skill)
		} else {
			person = append(person, skill)
		}
	}
	forModel, err := build(ctx, model, from)
	if err != nil {
		return nil, err
	}
	forPerson, err := build(ctx, person, from)
	if err != nil {
		return nil, err
	}
	removed := map[*segment][]uint32{}
	for _, skill := range gone {
		at := places[skill]
		removed[at.segment] = append(removed[at.segment], at.doc)
		delete(places, skill)
	}
	return &snapshot{
		catalog: catalog,
		model:   replaced(s.model, removed, forModel, places),
		person:  replaced(s.person, removed, forPerson, places),
	}, nil
}

// replaced returns the parts without the documents that were removed, and with those of
// a new segment.
func replaced(parts []part, removed map[*segment][]uint32, added *segment, places map[*skills.Skill]place) []part {
	var next []part
	for _, p := range parts {
		if gone := removed[p.segment]; len(gone) > 0 {
			p = p.without(gone)
		}
		next = append(next, p)
	}
	if len(added.docs) > 0 {
		p := newPart(added)
		p.locate(places)
		next = append(next, p)
	}
	return compact(next, places)
}

// difference returns the skills that only one of two catalogs has. Its cost grows with
// the distance between the first and the last.
func difference(before, after []*skills.Skill) (gone, came []*skills.Skill) {
	for len(before) > 0 && len(after) > 0 && before[0] == after[0] {
		before, after = before[1:], after[1:]
	}
	for len(before) > 0 && len(after) > 0 && before[len(before)-1] == after[len(after)-1] {
		before, after = before[:len(before)-1], after[:len(after)-1]
	}
	return without(before, after), without(after, before)
}

// without returns those of some skills that others do not have.
func without(some, others []*skills.Skill) (rest []*skills.Skill) {
	has := make(map[*skills.Skill]bool, len(others))
	for _, s := range others {
		has[s] = true
	}
	for _, s := range some {
		if !has[s] {
			rest = append(rest, s)
		}
	}
	return rest
}
