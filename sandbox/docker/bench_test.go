package docker

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// BenchmarkRun is one call of a small script: with a container that waits for
// it, and from nothing.
func BenchmarkRun(b *testing.B) {
	for name, warm := range map[string]int{"warm": 1, "cold": -1} {
		b.Run(name, func(b *testing.B) {
			d := realDriver(b)
			cmd := realCommand(b, "")
			cmd.Warm = warm
			if err := os.WriteFile(filepath.Join(cmd.Folder, "run.sh"), []byte("echo hello\n"), 0o644); err != nil {
				b.Fatal(err)
			}
			cmd.Argv = []string{"bash", "run.sh"}
			if _, err := d.Run(b.Context(), cmd); err != nil {
				b.Fatal(err)
			}
			settled(d)
			var times []time.Duration
			for b.Loop() {
				began := time.Now()
				if _, err := d.Run(b.Context(), cmd); err != nil {
					b.Fatal(err)
				}
				times = append(times, time.Since(began))
				settled(d) // for the next to be ready, and the last to be gone
			}
			slices.Sort(times)
			for _, p := range []int{50, 95} {
				b.ReportMetric(float64(times[(len(times)-1)*p/100].Microseconds())/1000, fmt.Sprintf("p%d-ms", p))
			}
		})
	}
}
