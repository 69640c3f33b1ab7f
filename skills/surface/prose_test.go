package surface

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
)

// TestDirectiveStarts: each match of a directive's expression begins with one of its
// starts. Texts of the words of the expression are searched with and without them.
func TestDirectiveStarts(t *testing.T) {
	t.Parallel()
	for _, d := range directives() {
		expression := d.expression.String()
		words := regexp.MustCompile(`[a-z]+`).FindAllString(strings.ReplaceAll(expression, `\b`, ""), -1)
		everywhere := regexp.MustCompile(`\b` + strings.TrimPrefix(expression, "^"))
		random, found := rand.New(rand.NewPCG(1, 2)), 0
		for range 8_000 {
			var text strings.Builder
			for range 24 {
				text.WriteString(words[random.IntN(len(words))] + " ")
			}
			want := -1
			for _, m := range everywhere.FindAllStringIndex(text.String(), -1) {
				if want < 0 && d.meant(text.String()[max(0, m[0]-24):m[0]], text.String()[m[1]:]) {
					want = m[0]
				}
			}
			if want >= 0 {
				found++
			}
			// One that overlaps with one that is not meant is found only at its start.
			if got := d.find(newGramText(text.String())); want >= 0 && (got < 0 || got > want) {
				t.Fatalf("%s: found at %d, want %d: %s", d.value, got, want, text.String())
			}
		}
		if found == 0 {
			t.Errorf("%s: no text has it", d.value)
		}
	}
}
