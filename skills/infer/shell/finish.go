package shell

import (
	"fmt"
	"slices"
)

// finish puts together what was read. It is false where the script takes
// nothing, or where that is not plain after all.
func (r *reader) finish() bool {
	slices.SortFunc(r.places, func(a, b positional) int { return a.index - b.index })
	if len(r.places) > 0 && len(r.line.positionals) > 0 {
		return false
	}
	if len(r.line.positionals) == 0 && !r.settlePlaces() {
		return false
	}
	for i := range r.line.options {
		if o := &r.line.options[i]; o.kind != flag {
			o.fallback = r.variables[o.variable]
			o.required = r.needed[o.variable] && o.fallback == "" && !r.computed[o.variable]
		}
	}
	for i, p := range r.line.positionals {
		if p.fallback == "" && r.needsPlace(p) {
			r.line.positionals[i].required = true
		}
	}
	r.name(r.line.leading, -1)
	r.name(r.line.positionals, 1)
	return len(r.line.options)+len(r.line.positionals)+len(r.line.leading) > 0 && r.distinct()
}

// needsPlace reports whether a variable that has a positional must be set.
func (r *reader) needsPlace(p positional) bool {
	for variable, at := range r.fromPlace {
		if at == p.index && !p.rest && r.needed[variable] && !r.computed[variable] {
			return true
		}
	}
	return false
}

// settlePlaces makes the positionals of the places that the script refers to.
// Those that it does not refer to are there all the same.
func (r *reader) settlePlaces() bool {
	if !r.looped {
		for i := range r.places {
			r.places[i].required = r.places[i].required || !r.places[i].rest && r.places[i].index <= r.atLeast
		}
	}
	for i, p := range r.places {
		if p.index != i+1 || p.rest && i != len(r.places)-1 {
			return false
		}
	}
	for i := len(r.places) - 2; i >= 0; i-- { // what comes before one that is needed is needed
		r.places[i].required = r.places[i].required || r.places[i+1].required && r.places[i].fallback == ""
	}
	r.line.positionals = r.places
	return true
}

// name names what has no name, and adds what is known of each. The sign is that
// of the places.
func (r *reader) name(positionals []positional, sign int) {
	for i := range positionals {
		p := &positionals[i]
		if p.careful = r.careful[sign*p.index]; p.rest && p.careful == "" {
			p.careful = r.careful[all]
		}
		switch {
		case p.name == "" && p.rest:
			p.name = "args"
		case p.name == "":
			p.name = fmt.Sprintf("arg%d", p.index)
		}
	}
}

// distinct reports whether no two properties share a name.
func (r *reader) distinct() bool {
	names := map[string]bool{}
	for _, o := range r.line.options {
		names[o.name] = true
	}
	for _, p := range slices.Concat(r.line.leading, r.line.positionals) {
		names[p.name] = true
	}
	return len(names) == len(r.line.options)+len(r.line.leading)+len(r.line.positionals)
}
