// Package collation orders file names as localeCompare of JavaScript does, which other
// installers sort by before they hash a folder.
//
// Start with [Compare]. golang.org/x/text/collate would order all scripts, and its tables
// add 1.2 MB to the program: a twenty-eighth of it, for the few names in question.
package collation

import (
	"cmp"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// order has the ASCII characters in the order of the Unicode collation algorithm with the
// data of the CLDR's root (UTS #35), where letters have the primary weight of their lower
// case. Control characters have no weight.
const order = "\t\n\v\f\r _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$0123456789abcdefghijklmnopqrstuvwxyz"

// Compare compares two texts: first by base characters, then by diacritics, then by case,
// lower case first. It is exact for ASCII. Beyond it, characters of other scripts follow
// in the order of their code points, as the letters of an alphabet mostly do.
func Compare(a, b string) int {
	var x, y key
	x.add(a)
	y.add(b)
	return cmp.Or(compare(x.primary, y.primary), compare(x.secondary, y.secondary), compare(x.tertiary, y.tertiary))
}

// A key is a text as the weights of each level.
type key struct{ primary, secondary, tertiary []rune }

func (k *key) add(text string) {
	for _, r := range norm.NFD.String(text) {
		if unicode.Is(unicode.Mn, r) {
			k.secondary, k.tertiary = append(k.secondary, r), append(k.tertiary, 0)
			continue
		}
		lower := unicode.ToLower(r)
		weight := lower
		if r < unicode.MaxASCII {
			if weight = rune(strings.IndexRune(order, lower)); weight < 0 {
				continue
			}
		}
		k.primary, k.secondary = append(k.primary, weight), append(k.secondary, 0)
		if lower != r {
			k.tertiary = append(k.tertiary, 1)
		} else {
			k.tertiary = append(k.tertiary, 0)
		}
	}
}

func compare(a, b []rune) int { return strings.Compare(string(a), string(b)) }
