package git

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/skillsmcp/skills-mcp/skills/install/quarantine"
)

// BenchmarkFetch fetches a skill of 1 MB from git daemon beside "git clone --depth 1", in
// turn, and reports the medians.
func BenchmarkFetch(b *testing.B) {
	o := newOrigin(b)
	files := map[string]string{"pdf/SKILL.md": skillText}
	for i := range 20 {
		files[fmt.Sprintf("pdf/f%d", i)] = fmt.Sprint(i) + noise(50<<10)
	}
	o.files("main", files)
	location := o.daemon()
	fetcher, env := New(&Options{Env: gitEnv(b.TempDir())}), gitEnv(b.TempDir())
	var ours, clones []time.Duration
	for b.Loop() {
		start := time.Now()
		into, err := quarantine.New(b.TempDir(), nil)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := fetcher.Fetch(b.Context(), request(location), into); err != nil {
			b.Fatal(err)
		}
		ours = append(ours, time.Since(start))
		into.Close()
		clone := exec.Command("git", "clone", "--quiet", "--depth=1", location, filepath.Join(b.TempDir(), "x"))
		clone.Env = env
		start = time.Now()
		if err := clone.Run(); err != nil {
			b.Fatal(err)
		}
		clones = append(clones, time.Since(start))
	}
	median := func(all []time.Duration) float64 {
		slices.Sort(all)
		return float64(all[len(all)/2]) / 1e6
	}
	b.ReportMetric(median(ours), "ms/fetch")
	b.ReportMetric(median(clones), "ms/clone")
	b.ReportMetric(median(ours)/median(clones), "fetch/clone")
}
