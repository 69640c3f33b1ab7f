// Package complete returns completions of a text: values of a list, or paths in a
// workspace.
//
// Start with [Of] and [Paths].
package complete

import (
	"cmp"
	"slices"
	"strings"
)

// maxValues is the number of values in one answer (completion/complete).
const maxValues = 100

// A List is the first values, best first.
type List struct {
	Values []string // at most 100
	Total  int      // number of all values; 0 if that is unknown
	More   bool     // there are more than Values
}

// Of returns the values that begin with a text, and then those that contain it, each
// sorted. Case is ignored.
func Of(all []string, text string) List {
	type match struct {
		at    int
		value string
	}
	var found []match
	text = strings.ToLower(text)
	for _, value := range all {
		if at := strings.Index(strings.ToLower(value), text); at >= 0 {
			found = append(found, match{min(at, 1), value})
		}
	}
	slices.SortFunc(found, func(a, b match) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.value, b.value)) })
	found = slices.Compact(found)
	values := make([]string, len(found))
	for i, m := range found {
		values[i] = m.value
	}
	return First(values)
}

// First returns a list of the first values, in their order.
func First(all []string) List {
	return List{Values: all[:min(len(all), maxValues)], Total: len(all), More: len(all) > maxValues}
}
