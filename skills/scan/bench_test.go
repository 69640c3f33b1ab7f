package scan

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/skillsmcp/skills-mcp/skills"
)

// BenchmarkRescan measures the rescan of one edited SKILL.md at three sizes of catalog.
func BenchmarkRescan(b *testing.B) {
	const text = "---\ndescription: Does things.\nscript: run.sh\n---\nDo it, %d."
	for _, n := range []int{100, 1000, 10_000} {
		root := b.TempDir()
		for i := range n {
			dir := filepath.Join(root, fmt.Sprint("skill-", i))
			must(b, os.Mkdir(dir, 0o755))
			must(b, os.WriteFile(filepath.Join(dir, "SKILL.md"), fmt.Appendf(nil, text, i), 0o644))
			must(b, os.WriteFile(filepath.Join(dir, "run.sh"), []byte("#!/bin/sh\n"), 0o755))
		}
		s := NewScanner([]Root{{Source: skills.SourceUser, Dir: root}}, nil)
		_, err := s.Scan(b.Context())
		must(b, err)
		file := filepath.Join(root, "skill-7", "SKILL.md")
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				must(b, os.WriteFile(file, fmt.Appendf(nil, text, i), 0o644))
				_, err := s.Rescan(b.Context(), []string{file})
				must(b, err)
			}
		})
	}
}
