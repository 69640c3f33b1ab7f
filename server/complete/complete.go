// Package complete finds what a person may mean who has begun to write a value:
// one of a list, or a path in a workspace.
//
// Start with [Of] and [Paths].
package complete

import (
	"cmp"
	"slices"
	"strings"
)

// Max is how many values a client can be sent (completion/complete).
const Max = 100

// A List is the first values, best first.
type List struct {
	Values []string // at most [Max]
	Total  int      // how many there are; 0 where that is not known
	More   bool     // there are more than Values
}

// Of returns those of a list that a text is the beginning of, and then those that
// it occurs in. Upper and lower case are one. The list is sorted anew.
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
	return first(values)
}

// first is a list of all values, of which there is room for the first.
func first(all []string) List {
	return List{Values: all[:min(len(all), Max)], Total: len(all), More: len(all) > Max}
}
