package python

import (
	"maps"
	"math"
	"slices"
)

const unlimited = math.MaxInt32

// A wordPath is a set of ways through a script that were followed up to a statement: the
// numbers of arguments that lead there, and the variables.
type wordPath struct {
	least, most [spaces]int // words
	domains     map[element]domain
	vars        map[string]value // of the function
	globals     map[string]value
	depth       int // of calls; at 0 vars are globals
	asked       int // conditions on options that were met
	ended       bool
}

func newWordPath() *wordPath {
	vars := map[string]value{}
	return &wordPath{most: [spaces]int{unlimited, unlimited}, domains: map[element]domain{}, vars: vars, globals: vars}
}

// size returns the number of variables, which a copy costs.
func (p *wordPath) size() int { return len(p.globals) + len(p.vars) }

func (p *wordPath) clone() *wordPath {
	c := *p
	c.domains = maps.Clone(p.domains)
	c.globals = maps.Clone(p.globals)
	c.vars = c.globals
	if p.depth > 0 {
		c.vars = maps.Clone(p.vars)
	}
	return &c
}

// enter sets the variables of a function that is called, and returns those of the
// caller, for leave.
func (p *wordPath) enter(vars map[string]value) (before map[string]value) {
	before = p.vars
	p.depth++
	p.vars = vars
	return before
}

// leave ends a function.
func (p *wordPath) leave(before map[string]value) {
	if p.depth--; p.depth == 0 {
		before = p.globals
	}
	p.vars = before
}

func (p *wordPath) lookup(name string) value {
	if v, ok := p.vars[name]; ok {
		return v
	}
	if v, ok := p.globals[name]; ok {
		return v
	}
	return reference("builtins." + name)
}

// limit keeps the ways with a number of words between two, and reports whether there
// are any.
func (p *wordPath) limit(s space, least, most int) bool {
	p.least[s], p.most[s] = max(p.least[s], least), min(p.most[s], most)
	if p.least[s] > p.most[s] {
		p.ended = true
	}
	return !p.ended
}

// restrict keeps the ways on which a word is one of some texts.
func (p *wordPath) restrict(e element, texts []string) {
	if known, ok := p.domains[e]; ok {
		texts = slices.DeleteFunc(slices.Clone(texts), func(text string) bool { return !slices.Contains(known, text) })
	}
	p.domains[e] = texts
	p.ended = p.ended || len(texts) == 0
}

// exclude drops the ways on which a word is one of some texts.
func (p *wordPath) exclude(e element, texts []string) {
	known, ok := p.domains[e]
	if !ok {
		return
	}
	known = slices.DeleteFunc(slices.Clone(known), func(text string) bool { return slices.Contains(texts, text) })
	p.domains[e] = known
	p.ended = p.ended || len(known) == 0
}

// join returns the ways of both paths. Merged is told of variables with two values.
func (p *wordPath) join(other *wordPath, merged func(a, b value) value) *wordPath {
	switch {
	case p.ended:
		return other
	case other.ended:
		return p
	}
	c := p.clone()
	for s := range spaces {
		c.least[s], c.most[s] = min(p.least[s], other.least[s]), max(p.most[s], other.most[s])
	}
	c.domains = map[element]domain{}
	for _, pair := range [][2]*wordPath{{p, other}, {other, p}} {
		for e, texts := range pair[0].domains {
			more, ok := pair[1].domains[e]
			if absent := pair[1].most[e.space] < e.at; ok || absent {
				all := append(slices.Clone(texts), more...)
				slices.Sort(all)
				c.domains[e] = slices.Compact(all)
			}
		}
	}
	joinVars(c.globals, other.globals, merged)
	if c.depth > 0 {
		joinVars(c.vars, other.vars, merged)
	}
	return c
}

func joinVars(to, from map[string]value, merged func(a, b value) value) {
	for name, v := range from {
		if before, ok := to[name]; !ok {
			to[name] = v
		} else if !same(before, v) {
			to[name] = merged(before, v)
		}
	}
}

// same reports whether two values are certainly the same.
func same(a, b value) bool {
	switch a.(type) {
	case *sequence, *mapping, *function, *class, nil, bool, int64, float64, string, none, reference, vector, element, count, flagTest, vague:
		return a == b
	}
	return isUnknown(a) && isUnknown(b)
}

// readOn notes the texts of earlier words on a path that reads the argument.
func (place *wordPlace) readOn(p *wordPath, e element) {
	if place.under == nil {
		place.under = map[element]domain{}
	}
	for other, texts := range p.domains {
		if other.at < e.at {
			place.under[other] = append(place.under[other], texts...)
		}
	}
}

// depends reports whether an argument was read for some texts of an earlier word alone:
// for the others it may be anything.
func (place *wordPlace) depends(final *wordPath) bool {
	for e, texts := range place.under {
		if all, closed := final.domains[e]; !closed || slices.ContainsFunc(all, func(text string) bool { return !slices.Contains(texts, text) }) {
			return true
		}
	}
	return false
}
