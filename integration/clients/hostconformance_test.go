package clients

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skillsmcp/skills-mcp/integration/lab"
)

// The official suite's scenarios for hosts of the Skills extension pass: nothing is fetched
// ahead of need, and a skill that is not as its server has stated it is not used.
func TestHostConformance(t *testing.T) {
	t.Parallel()
	tools := lab.NodeTools(t)
	for _, revision := range []string{"2025-11-25", "2026-07-28"} {
		for scenario, fetches := range map[string]string{
			"sep-2640-client-no-prefetch": "", "sep-2640-client-verify-digest": " --verify", "sep-2640-client-verify-frontmatter": " --verify", "sep-2640-client-verify-size": " --verify",
		} {
			t.Run(revision+"/"+scenario, func(t *testing.T) {
				results := t.TempDir()
				cmd := exec.CommandContext(t.Context(), filepath.Join(tools, "mcp-conformance"), "client",
					"--command", lab.Binary+" connect-server --dry-run"+fetches, "--scenario", scenario, "--spec-version", revision, "--force", "--output-dir", results)
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

// A skill of a server that is made with the official TypeScript SDK is listed and
// verified; one whose frontmatter it states wrongly is not used.
func TestSDKServer(t *testing.T) {
	t.Parallel()
	tools := lab.NodeTools(t)
	scripts := lab.SdkScripts(t, tools)
	uri, text := "skill://team/report/SKILL.md", "---\nname: report\ndescription: Writes reports – with numbers.\nmetadata:\n  version: 1.5\n  tags: [a, b]\n---\nWrite it.\n"
	for _, test := range []struct {
		name, skill, version, want string
		code                       int
	}{
		{"as stated", "report", "1.5", "report", 0},
		{"another field", "report", "1.6", `the field "metadata" in its SKILL.md is not the one`, 1},
		{"none can be used", "Report", "1.5", "none of its 1 skill can be used", 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			target, err := json.Marshal(map[string]any{
				"uri": uri, "files": map[string]string{uri: text, "skill://team/report/notes/data%20%C3%A9.txt": "é\x00\n"},
				"frontmatter": map[string]any{"name": test.skill, "description": "Writes reports – with numbers.", "metadata": map[string]any{"version": json.Number(test.version), "tags": []string{"a", "b"}}},
			})
			if err != nil {
				t.Fatal(err)
			}
			cmd := exec.CommandContext(t.Context(), lab.Binary, "connect-server", "--dry-run", "--verify", "--json", "mcp+stdio:"+filepath.Join(tools, "node"), filepath.Join(scripts, "skillserver.mjs"), string(target))
			cmd.Env = append(os.Environ(), "HOME="+t.TempDir(), "XDG_STATE_HOME="+t.TempDir(), "XDG_CONFIG_HOME="+t.TempDir())
			out, err := cmd.CombinedOutput()
			if code := cmd.ProcessState.ExitCode(); code != test.code || !strings.Contains(string(out), test.want) {
				t.Errorf("exit %d (%v), want %q\n%s", code, err, test.want, out)
			}
			if verified := strings.Contains(string(out), `"verified": true`); verified != (test.code == 0) {
				t.Errorf("verified: %t\n%s", verified, out)
			}
		})
	}
}
