package clients

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/skillsmcp/skills-mcp/integration/lab"
)

// An sdkRun is one script of testdata/clients and what it is told to speak.
type sdkRun struct {
	name, script string
	mode         any    // the mode of version negotiation, of sdk2.mjs
	era          string // what comes of it
}

func sdkRuns() []sdkRun {
	return []sdkRun{
		{"sdk1", "sdk1.mjs", nil, ""},
		{"sdk2/legacy", "sdk2.mjs", "legacy", "legacy"},
		{"sdk2/auto", "sdk2.mjs", "auto", "modern"},
		{"sdk2/modern", "sdk2.mjs", map[string]string{"pin": "2026-07-28"}, "modern"},
	}
}

// The official TypeScript SDKs list, call, ask, cancel and are told of changes,
// beside skills that mean harm.
func TestSDKs(t *testing.T) {
	t.Parallel()
	tools := lab.NodeTools(t)
	lab.Requires(t, "SKILLS_MCP_REQUIRE_SANDBOX", lab.CheckNative(t.Context()))
	scripts := lab.SdkScripts(t, tools)
	for _, transport := range []string{"stdio", "http"} {
		for _, run := range sdkRuns() {
			t.Run(transport+"/"+run.name, func(t *testing.T) {
				t.Parallel()
				runSDK(t, tools, filepath.Join(scripts, run.script), run.target(t, transport))
			})
		}
	}
}

// target is what the script connects to: a process that it starts, or a server
// that runs already.
func (r sdkRun) target(t *testing.T, transport string) map[string]any {
	t.Helper()
	home := t.TempDir()
	changing := filepath.Join(home, "changing")
	if err := os.Mkdir(changing, 0o755); err != nil {
		t.Fatal(err)
	}
	hostile := filepath.Join(home, "hostile")
	hostileSkills(t, hostile)
	args := []string{"--expose", "all", "--skills", absolute(t, "testdata", "conformance", "skills"), "--skills", changing, "--skills", hostile}
	target := map[string]any{"changing": changing, "mode": r.mode, "era": r.era}
	if transport == "http" {
		target["url"] = endpoint(t, "native", args...)
		return target
	}
	target["process"] = map[string]any{
		"command": lab.Binary, "cwd": home,
		"args": append([]string{"serve", "--sandbox", "native"}, args...),
		"env":  map[string]string{"HOME": home, "XDG_CONFIG_HOME": home, "XDG_CACHE_HOME": filepath.Join(home, "cache"), "PATH": os.Getenv("PATH")},
	}
	return target
}

// runSDK runs a script, whose steps are tests of node's own.
func runSDK(t *testing.T, tools, script string, target map[string]any) {
	t.Helper()
	argument, err := json.Marshal(target)
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), filepath.Join(tools, "node"), "--test-reporter=spec", script, string(argument)).CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
