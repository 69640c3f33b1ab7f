//go:build amd64 || arm64

package native

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

// BenchmarkBash compares "bash run.sh" in a sandbox with the same on the host,
// which no sandbox can beat.
func BenchmarkBash(b *testing.B) {
	folder := openFolder(b)
	script := filepath.Join(folder, "run.sh")
	if err := os.WriteFile(script, []byte("echo hello\n"), 0o644); err != nil {
		b.Fatal(err)
	}
	b.Run("native", func(b *testing.B) {
		d := newDriver(b)
		measure(b, func() error {
			return try(b, d, sandbox.Command{Argv: []string{"bash", "run.sh"}, Folder: folder}).err
		})
	})
	b.Run("bare", func(b *testing.B) {
		measure(b, func() error { return exec.Command("bash", script).Run() })
	})
}

func measure(b *testing.B, run func() error) {
	var times []time.Duration
	for b.Loop() {
		begin := time.Now()
		if err := run(); err != nil {
			b.Fatal(err)
		}
		times = append(times, time.Since(begin))
	}
	slices.Sort(times)
	b.ReportMetric(float64(times[len(times)/2].Microseconds()), "p50-µs")
	b.ReportMetric(float64(times[len(times)*99/100].Microseconds()), "p99-µs")
}
