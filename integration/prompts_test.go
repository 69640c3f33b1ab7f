package integration

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
)

// readingWorkspace returns a workspace with a file and three skills.
func readingWorkspace(t *testing.T) string {
	t.Helper()
	workspace := t.TempDir()
	writeFile(t, filepath.Join(workspace, "diary.txt"), "")
	if err := os.Chmod(workspace, 0o755); err != nil { // a sandbox may run as nobody
		t.Fatal(err)
	}
	dir := filepath.Join(workspace, "skills")
	writeFile(t, filepath.Join(dir, "notes", "SKILL.md"), `---
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
	writeFile(t, filepath.Join(dir, "notes", "run.sh"), "echo \"$@\"\n")
	writeFile(t, filepath.Join(dir, "notes", "all.txt"), "all\n")
	writeFile(t, filepath.Join(dir, "mine", "SKILL.md"), "---\nname: mine\ndescription: For me.\nscript: run.sh\ndisable-model-invocation: true\n---\n")
	writeFile(t, filepath.Join(dir, "mine", "run.sh"), "echo mine\n")
	writeFile(t, filepath.Join(dir, "greet", "SKILL.md"), "---\nname: greet\ndescription: Greets.\narguments: [who]\n---\nGreet $who.\n")
	return workspace
}

// prompt returns the texts of a prompt's messages, or its error.
func (c *client) prompt(name string, arguments map[string]string) (text string, err error) {
	c.t.Helper()
	var request mcp.GetPromptRequest
	request.Params.Name, request.Params.Arguments = name, arguments
	result, err := c.GetPrompt(c.t.Context(), request)
	if err != nil {
		return "", err
	}
	var texts []string
	for _, message := range result.Messages {
		texts = append(texts, string(message.Role)+": "+mcp.GetTextFromContent(message.Content))
	}
	return strings.Join(texts, "\n"), nil
}

func (c *client) read(uri string) (string, error) {
	c.t.Helper()
	var request mcp.ReadResourceRequest
	request.Params.URI = uri
	result, err := c.ReadResource(c.t.Context(), request)
	if err != nil {
		return "", err
	}
	text, _ := mcp.AsTextResourceContents(result.Contents[0])
	return text.Text, nil
}

// MCP Inspector gets prompts and reads resources, in both generations.
func TestInspectorPrompts(t *testing.T) {
	t.Parallel()
	tools := nodeTools(t)
	need(t, "SKILLS_MCP_REQUIRE_SANDBOX", checkNative(t.Context()))
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
