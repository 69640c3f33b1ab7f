package integration

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// inspector runs MCP Inspector's command line on the built binary and returns
// its result as JSON. tools is the folder that integration/node-tools prints.
func inspector(t *testing.T, tools, driver, workspace string, args ...string) (result map[string]json.RawMessage, exit int) {
	t.Helper()
	home := t.TempDir()
	config := filepath.Join(home, "config.yaml")
	writeFile(t, config, configuration())
	// A skill that is broken must not harm what the Inspector sees.
	writeFile(t, filepath.Join(home, "skills", "broken", "SKILL.md"), "---\nname: broken\nparams: {a: {type: 5}}\n")
	writeFile(t, filepath.Join(home, "skills", "odd", "SKILL.md"), "---\nname: \"odd\\nname\"\ndescription: d\nscript: run.sh\nparams: {anything: {type: whatever}, \"$ref\": string}\n---\n")
	writeFile(t, filepath.Join(home, "skills", "odd", "run.sh"), "echo \"$@\"\n")
	options := []string{"-q", "--format", "json", "-e", "HOME=" + home, "-e", "XDG_CACHE_HOME=" + home}
	if host := os.Getenv("DOCKER_HOST"); host != "" {
		options = append(options, "-e", "DOCKER_HOST="+host)
	}
	args = append(options, args...)
	args = append(args, "--", binary, "serve", "--config", config, "--skills", filepath.Join(home, "skills"), "--sandbox", driver, "--workspace", workspace)
	cmd := exec.Command(filepath.Join(tools, "mcp-inspector-cli"), args...)
	cmd.Env = append(os.Environ(), "HOME="+home)
	out, err := cmd.Output()
	var failed *exec.ExitError
	if err != nil && !errors.As(err, &failed) {
		t.Fatal(err)
	}
	if failed != nil {
		t.Logf("%v: %s", args, failed.Stderr)
	}
	var answer struct{ Result map[string]json.RawMessage }
	if len(out) > 0 {
		if err := json.Unmarshal(out, &answer); err != nil {
			t.Fatalf("%v in %s", err, out)
		}
	}
	return answer.Result, cmd.ProcessState.ExitCode()
}

// nodeTools returns the folder of MCP Inspector.
func nodeTools(t *testing.T) string {
	t.Helper()
	tools := os.Getenv("SKILLS_MCP_TEST_TOOLS")
	if tools == "" {
		need(t, "SKILLS_MCP_REQUIRE_TOOLS", errors.New("SKILLS_MCP_TEST_TOOLS does not name the folder of MCP Inspector; integration/node-tools installs it and prints its name"))
	}
	return tools
}

// MCP Inspector initializes, lists and calls, in both generations of the
// protocol, on real code.
func TestInspector(t *testing.T) {
	tools := nodeTools(t)
	library := pythonLibrary(t)
	drivers(t, func(t *testing.T, driver string) {
		for _, era := range []string{"legacy", "modern"} {
			t.Run(era, func(t *testing.T) {
				ask := func(args ...string) (map[string]json.RawMessage, int) {
					t.Helper()
					return inspector(t, tools, driver, library, append([]string{"--protocol-era", era}, args...)...)
				}
				if result, exit := ask("--method", "initialize"); exit != 0 || result["capabilities"] == nil {
					t.Errorf("initialize: exit %d, %s", exit, result)
				}
				result, exit := ask("--method", "tools/list", "--strict")
				names := string(result["tools"])
				for _, name := range []string{"colony-samples__code-complexity", "run_skill", "odd-name"} {
					if !strings.Contains(names, fmt.Sprintf(`"name":%q`, name)) {
						t.Errorf("there is no tool %s: %s", name, names)
					}
				}
				if exit != 0 {
					t.Errorf("tools/list --strict: exit %d, %s", exit, result["schemaFindings"])
				}
				result, exit = ask("--method", "tools/call", "--tool-name", "colony-samples__code-complexity", "--tool-args-json", `{"path": "decoder.py", "top_n": 1}`)
				if !strings.Contains(string(result["structuredContent"]), `"file":"decoder.py"`) || exit != 0 {
					t.Errorf("tools/call: exit %d, %s", exit, result)
				}
				// What fails is a tool's error (exit code 5), not a protocol's.
				result, exit = ask("--method", "tools/call", "--tool-name", "colony-samples__code-complexity", "--tool-args-json", `{"path": "decoder.py", "top_n": {}}`)
				if !strings.Contains(string(result["content"]), "INVALID_PARAM") || exit != 5 {
					t.Errorf("a bad argument: exit %d, %s", exit, result)
				}
			})
		}
	})
}
