package snapshot

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/skillsmcp/skills-mcp/skills/skillfs"
)

// sizes are the folders of the benchmarks: files of so many bytes, ten in a folder.
var sizes = []struct{ files, bytes int }{{2, 1 << 10}, {62, 20 << 10}, {500, 4 << 10}, {100, 2 << 20}}

// populate fills a folder with files.
func populate(tb testing.TB, dir string, files, size int) {
	tb.Helper()
	for i := range files {
		name := filepath.Join(dir, fmt.Sprint(i/10), fmt.Sprint(i))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			tb.Fatal(err)
		}
		if err := os.WriteFile(name, bytes.Repeat([]byte{byte(i)}, size), 0o644); err != nil {
			tb.Fatal(err)
		}
	}
}

// BenchmarkTake measures a call of an unchanged skill, one after a file was written,
// those in the two seconds after that, and the first of a process.
func BenchmarkTake(b *testing.B) {
	for _, size := range sizes {
		source := b.TempDir()
		populate(b, source, size.files, size.bytes)
		time.Sleep(2100 * time.Millisecond) // until all stamps are settled
		files, s := skillfs.Sub(skillfs.DirFS(filepath.Dir(source)), filepath.Base(source)), New(b.TempDir())
		take := func(b *testing.B, s *Store) {
			if _, err := s.Take(b.Context(), files, Use{Skill: "x"}); err != nil {
				b.Fatal(err)
			}
		}
		name := fmt.Sprintf("%d files of %d KiB", size.files, size.bytes>>10)
		b.Run(name+"/unchanged", func(b *testing.B) {
			take(b, s)
			b.ReportAllocs()
			for b.Loop() {
				take(b, s)
			}
		})
		b.Run(name+"/one changed", func(b *testing.B) {
			take(b, s)
			for i := 0; b.Loop(); i++ {
				b.StopTimer()
				if err := os.WriteFile(filepath.Join(source, "0/0"), fmt.Append(nil, i), 0o644); err != nil {
					b.Fatal(err)
				}
				time.Sleep(2 * quiet)
				b.StartTimer()
				take(b, s)
			}
		})
		b.Run(name+"/one changed lately", func(b *testing.B) {
			if err := os.WriteFile(filepath.Join(source, "0/0"), fmt.Append(nil, b.N), 0o644); err != nil {
				b.Fatal(err)
			}
			time.Sleep(2 * quiet)
			take(b, s)
			for b.Loop() {
				take(b, s)
			}
		})
		b.Run(name+"/first", func(b *testing.B) {
			for b.Loop() {
				take(b, New(s.dir))
			}
		})
	}
}
