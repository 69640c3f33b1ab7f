package integration

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
)

// readingWorkspace has a file, and skills that a person picks and clients read.
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

// complete returns the values for an argument.
func (c *client) complete(ref any, name, value string) string {
	c.t.Helper()
	var request mcp.CompleteRequest
	request.Params.Ref, request.Params.Argument = ref, mcp.CompleteArgument{Name: name, Value: value}
	result, err := c.Complete(c.t.Context(), request)
	if err != nil {
		return err.Error()
	}
	return strings.Join(result.Completion.Values, " ")
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

// A person picks skills as prompts, and a client reads what they declare, with
// the help of completion.
func TestPrompts(t *testing.T) {
	drivers(t, func(t *testing.T, driver string) {
		workspace := readingWorkspace(t)
		c := connect(t, driver, "--workspace", workspace)
		for _, test := range []struct {
			name      string
			arguments map[string]string
			want      string
		}{
			{"greet", map[string]string{"who": "Ann B."}, "user: Greet Ann B.."},
			{"notes", map[string]string{"day": "monday", "file": "diary.txt"}, "user: --day monday --file " + workspace + "/diary.txt\n"},
			{"mine", nil, "user: mine\n"},
			{"use_skill", map[string]string{"name": "notes", "arguments": "tuesday"}, "user: --day tuesday\n"},
		} {
			if got, err := c.prompt(test.name, test.arguments); got != test.want {
				t.Errorf("%s: %q, %v; want %q", test.name, got, err, test.want)
			}
		}
		for _, name := range []string{"notes", "nothing"} {
			if _, err := c.prompt(name, nil); !errors.Is(err, mcp.ErrInvalidParams) {
				t.Errorf("%s: %v is not -32602", name, err)
			}
		}

		notes := mcp.PromptReference{Type: "ref/prompt", Name: "notes"}
		template := mcp.ResourceReference{Type: "ref/resource", URI: "notes:on/{day}"}
		for _, got := range []struct{ got, want string }{
			{c.complete(notes, "day", "t"), "tuesday"},
			{c.complete(notes, "file", "d"), "diary.txt"},
			{c.complete(notes, "file", "../"), ""},
			{c.complete(template, "day", ""), "monday tuesday"},
		} {
			if got.got != got.want {
				t.Errorf("completion %q, want %q", got.got, got.want)
			}
		}

		for uri, want := range map[string]string{"notes:all": "all\n", "notes:on/monday": "--day monday\n"} {
			if got, err := c.read(uri); got != want {
				t.Errorf("%s: %q, %v; want %q", uri, got, err, want)
			}
		}
		if _, err := c.read("notes:none"); !errors.Is(err, mcp.ErrResourceNotFound) {
			t.Errorf("notes:none: %v", err)
		}
	})
}

// MCP Inspector gets prompts and reads resources, in both generations.
func TestInspectorPrompts(t *testing.T) {
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
				target := inspected(t, "stdio", "native", "--workspace", workspace)
				result, exit := inspector(t, tools, append([]string{"--protocol-era", era}, target...), test.args...)
				if exit != 0 || !strings.Contains(string(result[test.field]), test.want) {
					t.Errorf("exit %d, %s", exit, result)
				}
			})
		}
	}
}
