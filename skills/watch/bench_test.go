package watch

import (
	"fmt"
	"log/slog"
	"path/filepath"
	"testing"
	"time"
)

// BenchmarkNew tells what watching a large catalog costs at the start.
func BenchmarkNew(b *testing.B) {
	root := b.TempDir()
	for i := range 1000 {
		mkdir(b, root, fmt.Sprint("skill", i), "scripts")
	}
	for b.Loop() {
		w, err := newBegun([]string{root}, &Options{Folders: 10_000, Logger: slog.New(slog.DiscardHandler)})
		must(b, err)
		if gaps := w.Gaps(); len(gaps) > 0 {
			b.Fatal(gaps[0].Err)
		}
		must(b, w.Close())
	}
}

// BenchmarkEdit tells how long after a file is saved its change is received,
// less the time of settling, at two sizes of catalog.
func BenchmarkEdit(b *testing.B) {
	for _, skills := range []int{10, 1000} {
		b.Run(fmt.Sprint(skills), func(b *testing.B) {
			root := b.TempDir()
			for i := range skills {
				mkdir(b, root, fmt.Sprint("skill", i))
			}
			w, err := newBegun([]string{root}, &Options{quiet: time.Nanosecond})
			must(b, err)
			defer w.Close()
			for b.Loop() {
				write(b, filepath.Join(root, "skill7", "SKILL.md"))
				<-w.Changes()
			}
		})
	}
}
