package verdict

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestCorpus lists the critical findings in a folder of real skills, SKILLS_MCP_TEST_CORPUS,
// and bounds the part of the skills that has one.
func TestCorpus(t *testing.T) {
	corpus := os.Getenv("SKILLS_MCP_TEST_CORPUS")
	if corpus == "" {
		t.Skip("SKILLS_MCP_TEST_CORPUS names no folder of real skills")
	}
	began, all, flagged, counts := time.Now(), 0, 0, map[string]int{}
	err := filepath.WalkDir(corpus, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() != "SKILL.md" {
			return err
		}
		all++
		found := scan(t, os.DirFS(filepath.Dir(path)))
		counts[string(Worst(found))]++
		for _, f := range found {
			if f.Severity.AtLeast(Critical) {
				t.Logf("%s: %s: %s", filepath.Dir(path), f, f.Text)
			}
		}
		if Worst(found).AtLeast(Critical) {
			flagged++
		}
		return nil
	})
	if err != nil || all == 0 {
		t.Fatalf("%d skills in %s: %v", all, corpus, err)
	}
	t.Logf("%d of %d skills flagged, worst %v, in %v", flagged, all, counts, time.Since(began))
	if float64(flagged) > .02*float64(all) {
		t.Errorf("%d of %d flagged, want 2 %%", flagged, all)
	}
}
