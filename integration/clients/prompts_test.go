package clients

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skillsmcp/skills-mcp/integration/lab"
)

// readingWorkspace returns a workspace with a file and three skills.
func readingWorkspace(t *testing.T) string {
	t.Helper()
	workspace := t.TempDir()
	lab.WriteFile(t, filepath.Join(workspace, "diary.txt"), "")
	if err := os.Chmod(workspace, 0o755); err != nil { // a sandbox may run as nobody
		t.Fatal(err)
	}
	dir := filepath.Join(workspace, "skills")
	lab.WriteFile(t, filepath.Join(dir, "notes", "SKILL.md"), `---
name: notes
description: Notes of a day.
script: run.sh
params:
  day: {type: string, enum: [monday, tuesday], required: true}
  file: {type: string, format: path}
resources:
  - {uri: "notes:all", file: all.txt}
  - {uri_template: "notes:on/{day}", mime_type: text/plain}
---
`)
	lab.WriteFile(t, filepath.Join(dir, "notes", "run.sh"), "echo \"$@\"\n")
	lab.WriteFile(t, filepath.Join(dir, "notes", "all.txt"), "all\n")
	lab.WriteFile(t, filepath.Join(dir, "mine", "SKILL.md"), "---\nname: mine\ndescription: For me.\nscript: run.sh\ndisable-model-invocation: true\n---\n")
	lab.WriteFile(t, filepath.Join(dir, "mine", "run.sh"), "echo mine\n")
	lab.WriteFile(t, filepath.Join(dir, "greet", "SKILL.md"), "---\nname: greet\ndescription: Greets.\narguments: [who]\n---\nGreet $who.\n")
	return workspace
}

// MCP Inspector gets prompts and reads resources, in both generations.
func TestInspectorPrompts(t *testing.T) {
	t.Parallel()
	tools := lab.NodeTools(t)
	lab.Requires(t, "SKILLS_MCP_REQUIRE_SANDBOX", lab.CheckNative(t.Context()))
	workspace := readingWorkspace(t)
	for _, era := range []string{"legacy", "modern"} {
		for _, test := range []struct {
			field, want string
			args        []string
		}{
			{"prompts", `"name":"greet"`, []string{"--method", "prompts/list"}},
			{"messages", `Greet Ann.`, []string{"--method", "prompts/get", "--prompt-name", "greet", "--prompt-args", "who=Ann"}},
			{"messages", `--day monday`, []string{"--method", "prompts/get", "--prompt-name", "notes", "--prompt-args", "day=monday"}},
			{"resources", `"uri":"notes:all"`, []string{"--method", "resources/list"}},
			{"resourceTemplates", `"uriTemplate":"notes:on/{day}"`, []string{"--method", "resources/templates/list"}},
			{"contents", `--day tuesday`, []string{"--method", "resources/read", "--uri", "notes:on/tuesday"}},
		} {
			t.Run(fmt.Sprintf("%s %s", era, test.args[1]), func(t *testing.T) {
				t.Parallel()
				target := inspected(t, "stdio", "native", "--workspace", workspace)
				result, exit := inspector(t, tools, append([]string{"--protocol-era", era}, target...), test.args...)
				if exit != 0 || !strings.Contains(string(result[test.field]), test.want) {
					t.Errorf("exit %d, %s", exit, result)
				}
			})
		}
	}
}
