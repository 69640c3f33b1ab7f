package lab

import (
	"regexp"
	"testing"
	"time"
)

// Awaits waits until a pattern matches a text, and returns the text.
func Awaits(t *testing.T, pattern string, text func() string) string {
	t.Helper()
	deadline := time.After(Patience)
	for tick := time.NewTicker(100 * time.Millisecond); ; {
		seen := text()
		if regexp.MustCompile(pattern).MatchString(seen) {
			return seen
		}
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("%q is not to be seen:\n%s", pattern, seen)
		}
	}
}
