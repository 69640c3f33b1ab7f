package usagetext

import "testing"

// TestPlace describes arguments by their places.
func TestPlace(t *testing.T) {
	for want, got := range map[string]string{
		"The first argument of the command line.":             Text{}.place(0),
		"The ninth argument of the command line.":             Text{}.place(8),
		"Argument 10 of the command line.":                    Text{}.place(9),
		"The arguments of the command line.":                  Text{}.rest(0),
		"The arguments of the command line after the others.": Text{}.rest(2),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
