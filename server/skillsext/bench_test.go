package skillsext

import (
	"fmt"
	"log/slog"
	"testing"
)

// All entries of 1,000 skills of five files, whose digests are known but for
// those that were written just now.
func BenchmarkList(b *testing.B) {
	files := map[string]string{}
	for i := range 1000 {
		name := fmt.Sprintf("s%04d", i)
		files[name+"/SKILL.md"] = skillMD(name)
		for j := range 4 {
			files[fmt.Sprintf("%s/f%d", name, j)] = "x"
		}
	}
	l := newShelf(b, files).library()
	for b.Loop() {
		for cursor, first := "", true; first || cursor != ""; first = false {
			_, next, err := l.List(b.Context(), cursor, slog.New(slog.DiscardHandler))
			if err != nil {
				b.Fatal(err)
			}
			cursor = next
		}
	}
}
