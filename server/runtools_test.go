package server

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/schema"
)

// keeper is a driver whose commands print their sandbox, argv and stdin.
type keeper struct{ open atomic.Int32 }

func (k *keeper) Run(_ context.Context, cmd *sandbox.Command) (*sandbox.Exit, error) {
	return echo("fresh", cmd)
}

func (k *keeper) Close() error { return nil }

func (k *keeper) Open(context.Context, *sandbox.Command) (sandbox.Session, error) {
	k.open.Add(1)
	return (*keptBox)(k), nil
}

type keptBox keeper

func (k *keptBox) Run(_ context.Context, cmd *sandbox.Command) (*sandbox.Exit, error) {
	return echo("kept", cmd)
}

func (k *keptBox) Close() error {
	k.open.Add(-1)
	return nil
}

func echo(where string, cmd *sandbox.Command) (*sandbox.Exit, error) {
	cmd.Started()
	stdin := ""
	if cmd.Stdin != nil {
		data, err := io.ReadAll(cmd.Stdin)
		if err != nil {
			return nil, err
		}
		stdin = string(data)
	}
	_, _ = fmt.Fprintf(cmd.Stdout, "%s %s %s", where, cmd.Argv[0], stdin)
	exit := &sandbox.Exit{Sandbox: "keeper"}
	if strings.HasPrefix(stdin, "exit") {
		exit.Code = 3
	}
	return exit, nil
}

var allTools = Options{RunCode: true, KeptSandboxes: true}

func TestSandboxToolsList(t *testing.T) {
	b := newBenchWith(t, &keeper{}, allTools)
	var list struct{ Tools []map[string]any }
	if err := json.Unmarshal([]byte(b.ask("tools/list", "{}")), &list); err != nil {
		t.Fatal(err)
	}
	var shown []map[string]any
	for _, tool := range list.Tools {
		switch tool["name"] {
		case "open_sandbox", "close_sandbox", "run_code", "run_skill":
			shown = append(shown, tool)
		}
	}
	encoded, err := json.Marshal(shown)
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "sandbox_tools.json", indent(t, string(encoded)))
	if alone := newBenchWith(t, &keeper{}, Options{RunCode: true}).ask("tools/list", "{}"); strings.Contains(alone, "container_id") || !strings.Contains(alone, `"run_code"`) {
		t.Errorf("run_code alone: %s", alone)
	}
}

// TestOutputSchemas has the structures of the fixed tools, those of errors too, keep to the
// schemas that the tools declare; the tools whose results may lack a structure declare none.
func TestOutputSchemas(t *testing.T) {
	b := newBenchWith(t, &keeper{}, Options{Feedback: newBook(t), RunCode: true, KeptSandboxes: true, MatchSkills: true})
	tools, _ := b.tools()
	c := b.connect()
	opened := b.as(c, "open_sandbox", `{}`)
	calls := map[string]string{
		"search_skills": `{"query": "a thing"}`, "list_skills": `{}`, "list_plugins": `{}`, "get_skill": `{"name": "run"}`, "reload_skills": `{}`,
		"rate_skill": `{"name": "run", "ok": true}`, "open_sandbox": `{}`, "close_sandbox": fmt.Sprintf(`{"container_id": %q}`, opened["container_id"]),
	}
	for name, raw := range tools {
		var tool struct{ OutputSchema json.RawMessage }
		if err := json.Unmarshal(raw, &tool); err != nil {
			t.Fatal(err)
		}
		if declares := tool.OutputSchema != nil; declares != (calls[name] != "") {
			t.Errorf("%s: output schema %s", name, tool.OutputSchema)
		}
	}
	for name, right := range calls {
		var tool struct {
			OutputSchema struct {
				Properties map[string]struct{ Type string }
			}
		}
		if err := json.Unmarshal(tools[name], &tool); err != nil {
			t.Fatal(err)
		}
		declared, err := schema.Compile(tools[name], "#/outputSchema")
		if err != nil {
			t.Fatal(err)
		}
		for _, args := range []string{right, `{"wrong": 1}`} {
			structure := b.as(c, name, args)
			if err := declared.Check(encoded(structure)); err != nil {
				t.Errorf("%s %s: %v: %s", name, args, err, encoded(structure))
			}
			for field := range structure {
				if args == right && name != "get_skill" && tool.OutputSchema.Properties[field].Type == "" {
					t.Errorf("%s: the schema has no %s", name, field)
				}
			}
		}
	}
}

// as calls a tool for a client, and returns its structure.
func (b *bench) as(c mcpserver.ClientSession, tool, args string) map[string]any {
	b.t.Helper()
	message := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, tool, args)
	encoded, err := json.Marshal(b.core.HandleMessage(b.core.WithContext(b.t.Context(), c), json.RawMessage(message)))
	if err != nil {
		b.t.Fatal(err)
	}
	var a struct {
		Result struct{ StructuredContent map[string]any }
	}
	if err := json.Unmarshal(encoded, &a); err != nil || a.Result.StructuredContent == nil {
		b.t.Fatalf("%v in %s", err, encoded)
	}
	return a.Result.StructuredContent
}

func code(structure map[string]any) any {
	failed, _ := structure["error"].(map[string]any)
	return failed["code"]
}

func TestKeptSandboxTools(t *testing.T) {
	driver := &keeper{}
	b := newBenchWith(t, driver, allTools)
	ann, bob := b.connect(), &client{id: "bob"}
	opened := b.as(ann, "open_sandbox", `{"skill": "run"}`)
	id, _ := opened["container_id"].(string)
	delete(opened, "container_id")
	delete(opened, "digest")
	if diff := cmp.Diff(map[string]any{"skill": "demo/run", "workspaces": []any{}, "idle_seconds": 600.0, "lifetime_seconds": 3600.0}, opened); diff != "" || id == "" {
		t.Errorf("opened %q: %s", id, diff)
	}
	run := `{"name": "run", "params": {"target": "x"}, "container_id": "` + id + `"}`
	program := `{"language": "python", "code": "print(1)", "container_id": "` + id + `"}`
	if got := b.as(ann, "run_skill", run)["stdout"]; got != "kept bash " {
		t.Errorf("run_skill: %v", got)
	}
	if got := b.as(ann, "run_code", program)["stdout"]; got != "kept python3 print(1)" {
		t.Errorf("run_code: %v", got)
	}
	for tool, args := range map[string]string{"run_skill": run, "run_code": program, "close_sandbox": `{"container_id": "` + id + `"}`} {
		if got := code(b.as(bob, tool, args)); got != "NOT_FOUND" {
			t.Errorf("%s of another: %v", tool, got)
		}
	}
	if got := b.as(ann, "close_sandbox", `{"container_id": "`+id+`"}`)["closed"]; got != id || driver.open.Load() != 0 {
		t.Errorf("close_sandbox: %v, %d open", got, driver.open.Load())
	}
	if got := code(b.as(ann, "run_code", program)); got != "NOT_FOUND" {
		t.Errorf("after the close: %v", got)
	}
	if got := code(b.as(ann, "open_sandbox", `{"skill": "nothing"}`)); got != "NOT_FOUND" {
		t.Errorf("for a skill that is not there: %v", got)
	}

	// So does the end of its skill for the client, whose folder it has.
	lost := b.as(ann, "open_sandbox", `{"skill": "run"}`)["container_id"].(string)
	catalog := b.Catalog()
	b.Publish(&skills.Catalog{})
	if got := code(b.as(ann, "run_code", `{"language": "bash", "code": "cat /skill/*", "container_id": "`+lost+`"}`)); got != "NOT_FOUND" || driver.open.Load() != 0 {
		t.Errorf("in a sandbox of a skill that is gone: %v, %d open", got, driver.open.Load())
	}
	b.Publish(catalog)

	// Its client's leaving ends it too.
	again := b.as(ann, "open_sandbox", `{}`)["container_id"].(string)
	b.core.UnregisterSession(t.Context(), ann.id)
	if got := code(b.as(ann, "close_sandbox", `{"container_id": "`+again+`"}`)); got != "NOT_FOUND" {
		t.Errorf("after its client left: %v", got)
	}
}

func TestRunCodeTool(t *testing.T) {
	b := newBenchWith(t, &keeper{}, Options{RunCode: true})
	c := &client{id: "c"}
	got := b.as(c, "run_code", `{"language": "bash", "code": "echo"}`)
	if got["stdout"] != "fresh bash echo" || got["skill"] != nil || got["digest"] != nil || got["exit_code"] != 0.0 {
		t.Errorf("%v", got)
	}
	got = b.as(c, "run_code", `{"language": "bash", "code": "exit 3", "skill": "guide"}`)
	failed, _ := got["error"].(map[string]any)
	if failed["message"] != "the code failed with exit code 3; it wrote nothing to its error output: what it printed may say why" || got["skill"] != "demo/guide" || got["digest"] == nil {
		t.Errorf("%v", got)
	}
	for tool, args := range map[string]string{
		"run_code":  `{"language": "bash", "code": "echo", "container_id": "box"}`,
		"run_skill": `{"name": "run", "params": {"target": "x"}, "container_id": "box"}`,
	} {
		failed, _ := b.as(c, tool, args)["error"].(map[string]any)
		if message := fmt.Sprint(failed["message"]); failed["code"] != "INVALID_PARAM" || !strings.HasPrefix(message, `"container_id" is not used: sandboxes are not kept here`) {
			t.Errorf("%s: %v", tool, failed)
		}
	}
	for _, args := range []string{`{}`, `{"language": "perl", "code": "1"}`, `{"language": "bash", "code": "1", "timeout_seconds": 0}`, `{"language": "bash", "code": 1}`} {
		if got := code(b.as(c, "run_code", args)); got != "INVALID_PARAM" {
			t.Errorf("%s: %v", args, got)
		}
	}
}

// A tool that is not turned on is not listed.
func TestSandboxToolsAreOff(t *testing.T) {
	b := newBench(t, &keeper{})
	for _, tool := range []string{"run_code", "open_sandbox", "close_sandbox"} {
		if got := b.ask("tools/call", `{"name": "`+tool+`", "arguments": {}}`); !strings.Contains(got, "-32602") {
			t.Errorf("%s: %s", tool, got)
		}
	}
}
