package integration

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// The official suite's scenarios for hosts of the Skills extension pass: nothing is fetched
// ahead of need, and a skill that is not as its server has stated it is not used.
func TestHostConformance(t *testing.T) {
	t.Parallel()
	tools := nodeTools(t)
	for _, revision := range []string{"2025-11-25", "2026-07-28"} {
		for scenario, fetches := range map[string]string{
			"sep-2640-client-no-prefetch": "", "sep-2640-client-verify-digest": " --verify", "sep-2640-client-verify-frontmatter": " --verify", "sep-2640-client-verify-size": " --verify",
		} {
			t.Run(revision+"/"+scenario, func(t *testing.T) {
				results := t.TempDir()
				cmd := exec.CommandContext(t.Context(), filepath.Join(tools, "mcp-conformance"), "client",
					"--command", binary+" connect-server --dry-run"+fetches, "--scenario", scenario, "--spec-version", revision, "--force", "--output-dir", results)
				cmd.Dir = t.TempDir()
				cmd.Env = append(os.Environ(), "HOME="+t.TempDir(), "XDG_STATE_HOME="+t.TempDir(), "XDG_CONFIG_HOME="+t.TempDir())
				out, err := cmd.CombinedOutput()
				if failed := new(exec.ExitError); err != nil && !errors.As(err, &failed) {
					t.Fatal(err)
				}
				found, _ := filepath.Glob(filepath.Join(results, scenario+"-2*", "checks.json")) // the pattern is a good one
				if len(found) != 1 {
					t.Fatalf("there are %d results:\n%s", len(found), out)
				}
				var checks []suiteCheck
				data, err := os.ReadFile(found[0])
				if err == nil {
					err = json.Unmarshal(data, &checks)
				}
				if err != nil || len(checks) == 0 {
					t.Fatalf("%d checks: %v", len(checks), err)
				}
				for _, c := range checks {
					if c.Status != "SUCCESS" {
						t.Errorf("%s: %s: %s\n%s", c.Status, c.ID, c.ErrorMessage, out)
					}
				}
			})
		}
	}
}
