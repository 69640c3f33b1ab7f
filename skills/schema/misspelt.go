package schema

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/agext/levenshtein"
)

// maxName bounds the names that are compared, in bytes.
const maxName = 256

// Misspelt returns the arguments that are none of the properties, sorted. The
// error is an [*ArgumentError] where one of them is nearly the name of a property
// that was not given: it is that one, misspelt.
func Misspelt(properties []string, args map[string]any) (unknown []string, err error) {
	var faults []string
	for _, name := range slices.Sorted(maps.Keys(args)) {
		if slices.Contains(properties, name) {
			continue
		}
		unknown = append(unknown, name)
		meant := slices.IndexFunc(properties, func(meant string) bool {
			_, given := args[meant]
			return !given && nearly(name, meant)
		})
		if meant >= 0 {
			faults = append(faults, fmt.Sprintf("there is no parameter %q; did you mean %q?", name, properties[meant]))
		}
	}
	if len(faults) > 0 {
		return nil, &ArgumentError{faults}
	}
	return unknown, nil
}

// nearly reports whether the author of one name is likely to have meant the other:
// they differ in case, dashes, the order of letters, or a letter or two. Short
// names are like too many others.
func nearly(name, meant string) bool {
	plain := strings.NewReplacer("-", "", "_", "", ".", "")
	a, b := plain.Replace(strings.ToLower(name)), plain.Replace(strings.ToLower(meant))
	length := max(len(a), len(b))
	switch {
	case a == b:
		return true
	case length < 4 || length > maxName:
		return false
	case letters(a) == letters(b) && a[0] == b[0]:
		return true
	}
	return levenshtein.Distance(a, b, nil) <= 1+length/8
}

// letters returns the letters of a word, sorted.
func letters(word string) string {
	all := []rune(word)
	slices.Sort(all)
	return string(all)
}
