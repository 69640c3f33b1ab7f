package clients

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skillsmcp/skills-mcp/integration/lab"
)

// inspector runs MCP Inspector's command line and returns its result as JSON.
// tools is the folder that integration/node-tools prints, and target how the
// Inspector reaches the server.
func inspector(t *testing.T, tools string, target []string, args ...string) (result map[string]json.RawMessage, exit int) {
	t.Helper()
	out, exit := inspect(t, tools, target, args...)
	var answer struct{ Result map[string]json.RawMessage }
	if len(out) > 0 {
		if err := json.Unmarshal(out, &answer); err != nil {
			t.Fatalf("%v in %s", err, out)
		}
	}
	return answer.Result, exit
}

// inspect returns what the Inspector prints.
func inspect(t *testing.T, tools string, target []string, args ...string) (out []byte, exit int) {
	t.Helper()
	// It gives a server 15 s to start, of itself.
	args = slices.Concat([]string{"-q", "--format", "json", "--connect-timeout", "600000"}, args, target)
	cmd := exec.Command(filepath.Join(tools, "mcp-inspector-cli"), args...)
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir())
	out, err := cmd.Output()
	var failed *exec.ExitError
	if err != nil && !errors.As(err, &failed) {
		t.Fatal(err)
	}
	if failed != nil {
		t.Logf("%v: %s", args, failed.Stderr)
	}
	return out, cmd.ProcessState.ExitCode()
}

// inspected is how the Inspector reaches a server of the built binary: by
// starting it anew for each question, or at its address.
func inspected(t *testing.T, transport, driver string, args ...string) []string {
	t.Helper()
	if transport == "http" {
		return []string{endpoint(t, driver, args...)}
	}
	home := t.TempDir()
	config := filepath.Join(home, "config.yaml")
	lab.WriteFile(t, config, lab.Configuration())
	target := []string{"-e", "HOME=" + home, "-e", "XDG_CACHE_HOME=" + home}
	if host := os.Getenv("DOCKER_HOST"); host != "" {
		target = append(target, "-e", "DOCKER_HOST="+host)
	}
	return slices.Concat(target, []string{"--", lab.Binary, "serve", "--config", config, "--sandbox", driver}, args)
}

// everyEra runs a test on both transports and in both generations of the
// protocol.
func everyEra(t *testing.T, driver string, args []string, test func(t *testing.T, target []string)) {
	for _, transport := range []string{"stdio", "http"} {
		t.Run(transport, func(t *testing.T) {
			t.Parallel()
			target := inspected(t, transport, driver, args...)
			for _, era := range []string{"legacy", "modern"} {
				t.Run(era, func(t *testing.T) {
					t.Parallel()
					test(t, append([]string{"--protocol-era", era}, target...))
				})
			}
		})
	}
}

// oddSkills writes skills that are wrong, odd or mean: they must not harm what
// the Inspector sees.
func oddSkills(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	lab.WriteFile(t, filepath.Join(folder, "broken", "SKILL.md"), "---\nname: broken\nparams: {a: {type: 5}}\n")
	lab.WriteFile(t, filepath.Join(folder, "odd", "SKILL.md"), "---\nname: \"odd\\nname\"\ndescription: d\nscript: run.sh\nparams: {anything: {type: whatever}, \"$ref\": string}\n---\n")
	lab.WriteFile(t, filepath.Join(folder, "odd", "run.sh"), "echo \"$@\"\n")
	hostileSkills(t, folder)
	return folder
}

// MCP Inspector initializes, lists and calls, on real code.
func TestInspector(t *testing.T) {
	t.Parallel()
	tools := lab.NodeTools(t)
	library := pythonLibrary(t)
	lab.Drivers(t, func(t *testing.T, driver string) {
		everyEra(t, driver, []string{"--workspace", library, "--skills", oddSkills(t)}, func(t *testing.T, target []string) {
			ask := func(args ...string) (map[string]json.RawMessage, int) {
				t.Helper()
				return inspector(t, tools, target, args...)
			}
			result, exit := ask("--method", "initialize")
			if exit != 0 || result["capabilities"] == nil {
				t.Errorf("initialize: exit %d, %s", exit, result)
			}
			if info := string(result["serverInfo"]); !strings.Contains(info, `"title":"Skills"`) || !strings.Contains(info, `"src":"data:image/svg+xml;base64,`) {
				t.Errorf("initialize: the server has no title and icons: %s", info)
			}
			result, exit = ask("--method", "tools/list", "--strict")
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
	})
}

// MCP Inspector finds what is served of each skill to be what its entry says:
// frontmatter, files, sizes and digests.
func TestInspectorVerifiesSkills(t *testing.T) {
	t.Parallel()
	tools := lab.NodeTools(t)
	args := []string{"--skills", absolute(t, "testdata", "conformance", "skills"), "--skills", oddSkills(t)}
	everyEra(t, "native", args, func(t *testing.T, target []string) {
		out, exit := inspect(t, tools, target, "--method", "skills/list", "--verify", "--require-digests")
		if exit != 0 || !strings.Contains(string(out), "field-guide/SKILL.md") {
			t.Errorf("skills/list --verify: exit %d, %s", exit, out)
		}
		out, exit = inspect(t, tools, target, "--method", "resources/directory/read", "--uri", "skill://field-guide")
		if exit != 0 || !strings.Contains(string(out), "field-guide/SKILL.md") {
			t.Errorf("resources/directory/read: exit %d, %s", exit, out)
		}
	})
}
