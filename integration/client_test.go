package integration

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	mcpclient "github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
)

// client is an MCP client of one server process.
type client struct {
	*mcpclient.Client
	t       *testing.T
	changes chan struct{} // one value for each tools/list_changed
}

// connect starts the built binary as a client does, and initializes it.
func connect(t *testing.T, driver string, args ...string) *client {
	t.Helper()
	home := t.TempDir()
	config := filepath.Join(home, "config.yaml")
	if err := os.WriteFile(config, []byte(configuration()), 0o644); err != nil {
		t.Fatal(err)
	}
	env := []string{"HOME=" + home, "XDG_CONFIG_HOME=" + home, "XDG_CACHE_HOME=" + filepath.Join(home, "cache"), "DOCKER_HOST=" + os.Getenv("DOCKER_HOST")}
	stdio := transport.NewStdioWithOptions(binary, env, append([]string{"serve", "--config", config, "--sandbox", driver}, args...),
		transport.WithCommandFunc(func(ctx context.Context, command string, env, args []string) (*exec.Cmd, error) {
			cmd := exec.CommandContext(ctx, command, args...)
			cmd.Env = append(env, "PATH="+os.Getenv("PATH"))
			cmd.Dir = home
			cmd.Stderr = os.Stderr
			return cmd, nil
		}))
	c := &client{Client: mcpclient.NewClient(stdio), t: t, changes: make(chan struct{}, 100)}
	// The handler is set before the start: nothing may be missed.
	c.OnNotification(func(n mcp.JSONRPCNotification) {
		if n.Method == "notifications/tools/list_changed" {
			c.changes <- struct{}{}
		}
	})
	if err := c.Start(context.WithoutCancel(t.Context())); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Errorf("the server did not end well: %v", err)
		}
	})
	var request mcp.InitializeRequest
	request.Params.ProtocolVersion = "2025-11-25"
	request.Params.ClientInfo = mcp.Implementation{Name: "integration", Version: "1"}
	answer, err := c.Initialize(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	if answer.ServerInfo.Name != "skills-mcp" || answer.Capabilities.Tools == nil || !answer.Capabilities.Tools.ListChanged {
		t.Errorf("initialize: %+v", answer)
	}
	return c
}

// tools returns the names of the tools.
func (c *client) tools() map[string]mcp.Tool {
	c.t.Helper()
	list, err := c.ListTools(c.t.Context(), mcp.ListToolsRequest{})
	if err != nil {
		c.t.Fatal(err)
	}
	found := map[string]mcp.Tool{}
	for _, tool := range list.Tools {
		found[tool.Name] = tool
	}
	return found
}

// call calls a tool and returns its texts.
func (c *client) call(name string, args map[string]any) (text string, result *mcp.CallToolResult) {
	c.t.Helper()
	var request mcp.CallToolRequest
	request.Params.Name, request.Params.Arguments = name, args
	result, err := c.CallTool(c.t.Context(), request)
	if err != nil {
		c.t.Fatal(err)
	}
	var texts []string
	for _, content := range result.Content {
		texts = append(texts, mcp.GetTextFromContent(content))
	}
	return strings.Join(texts, "\n"), result
}

// pythonLibrary is a real code base: the standard library of the machine's
// Python.
func pythonLibrary(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("python3", "-c", "import sysconfig; print(sysconfig.get_path('stdlib'))").Output()
	if err != nil {
		need(t, "SKILLS_MCP_REQUIRE_SANDBOX", fmt.Errorf("python3, whose standard library is the code to look at: %w", err))
	}
	return filepath.Join(strings.TrimSpace(string(out)), "json")
}

// A client initializes, lists and calls: typed tools for the skills, on real
// code, and errors that are for a model.
func TestClient(t *testing.T) {
	t.Parallel()
	library := pythonLibrary(t)
	drivers(t, func(t *testing.T, driver string) {
		hostile := t.TempDir()
		hostileSkills(t, hostile)
		c := connect(t, driver, "--workspace", library, "--skills", hostile)
		tools := c.tools()
		for _, name := range []string{
			"get_skill", "list_plugins", "list_skills", "load_skill", "rate_skill", "read_output", "reload_skills", "run_skill", "search_skills",
			"colony-samples__code-complexity", "colony-samples__scientific-debugging", "colony-samples__systemic-vulnerability-scan",
		} {
			if _, ok := tools[name]; !ok {
				t.Errorf("there is no tool %s", name)
			}
		}
		properties := tools["colony-samples__code-complexity"].InputSchema.Properties
		if threshold, ok := properties["threshold"].(map[string]any); !ok || threshold["type"] != "integer" {
			t.Errorf("code-complexity has the properties %v", properties)
		}

		text, result := c.call("colony-samples__code-complexity", map[string]any{"path": library, "top_n": 3})
		var report struct {
			Summary   struct{ Functions int }
			Functions []struct {
				File, Name string
				Complexity int
			}
		}
		if err := json.Unmarshal([]byte(text), &report); err != nil || result.IsError {
			t.Fatalf("%v in %s", err, text)
		}
		if report.Summary.Functions < 10 || len(report.Functions) != 3 || report.Functions[0].Complexity < 5 || result.StructuredContent == nil {
			t.Errorf("report %+v", report)
		}

		if text, result := c.call("colony-samples__code-complexity", map[string]any{"path": library, "threshold": "x"}); !result.IsError || text != `INVALID_PARAM: "threshold" must be an integer, not a string` {
			t.Errorf("a bad argument: %s", text)
		}
		if text, result := c.call("colony-samples__code-complexity", map[string]any{"path": "no/such/file.py"}); !result.IsError || !strings.HasPrefix(text, "EXECUTION_ERROR: skill colony-samples/code-complexity failed with exit code 2") {
			t.Errorf("a file that is not there: %s", text)
		}
		text, result = c.call("run_skill", map[string]any{"name": "scientific-debugging", "params": map[string]any{"bug_description": "It hangs."}})
		if result.IsError || !strings.Contains(text, `"sandbox":"`+driver) {
			t.Errorf("run_skill: %s", text)
		}
	})
}

// Files that come, change, break and go are noticed while the server runs: one
// notice each, and the neighbours are unharmed.
func TestLiveReload(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "later", "skills")
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(config, []byte("skills: ["+dir+"]\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	c := connect(t, "native", "--config", config)
	c.tools() // what it has listed is the first state, whose changes it is told of
	expect := func(step string, there, gone []string) {
		t.Helper()
		select {
		case <-c.changes:
		case <-t.Context().Done():
			t.Fatalf("%s: no notice came", step)
		}
		tools := c.tools()
		for _, name := range there {
			if _, ok := tools[name]; !ok {
				t.Errorf("%s: there is no tool %s", step, name)
			}
		}
		for _, name := range gone {
			if _, ok := tools[name]; ok {
				t.Errorf("%s: there still is a tool %s", step, name)
			}
		}
	}
	text := func(name string) string {
		return "---\nname: " + name + "\ndescription: Live.\n---\nHello from " + name + ".\n"
	}

	// The root itself comes into being.
	writeFile(t, filepath.Join(dir, "first", "SKILL.md"), text("first"))
	expect("a new root with a skill", []string{"first"}, nil)
	// As editors save: beside it, then renamed over it.
	writeFile(t, filepath.Join(dir, "first", ".SKILL.md.swp"), text("renamed"))
	if err := os.Rename(filepath.Join(dir, "first", ".SKILL.md.swp"), filepath.Join(dir, "first", "SKILL.md")); err != nil {
		t.Fatal(err)
	}
	expect("an atomic save", []string{"renamed"}, []string{"first"})
	// A whole folder is moved in.
	aside := filepath.Join(t.TempDir(), "moved")
	writeFile(t, filepath.Join(aside, "SKILL.md"), text("moved"))
	if err := os.Rename(aside, filepath.Join(dir, "moved")); err != nil {
		t.Fatal(err)
	}
	expect("a folder moved in", []string{"renamed", "moved"}, nil)
	// One breaks; the others go on.
	writeFile(t, filepath.Join(dir, "moved", "SKILL.md"), "---\nname: moved\n")
	expect("a skill that broke", []string{"renamed", "colony-samples__code-complexity"}, []string{"moved"})
	if text, result := c.call("renamed", nil); result.IsError || !strings.Contains(text, "Hello from renamed.") {
		t.Errorf("its neighbour: %s", text)
	}
	if text, _ := c.call("reload_skills", nil); !strings.Contains(text, "moved/SKILL.md:1:1: error: the frontmatter is not closed") {
		t.Errorf("reload_skills: %s", text)
	}
	// It goes.
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	expect("a root that is gone", []string{"colony-samples__code-complexity"}, []string{"renamed"})
	// reload_skills has nothing to add, so no notice is under way.
	c.call("reload_skills", nil)
	if n := len(c.changes); n != 0 {
		t.Errorf("%d notices too many", n)
	}
}

func writeFile(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// A skill is offered until it is known that its sandbox lacks what it needs: then
// it has no tool, one notice is sent, and it is still listed with the reason.
func TestUnavailableIsNoticed(t *testing.T) {
	t.Parallel()
	drivers(t, func(t *testing.T, driver string) {
		dir := t.TempDir()
		writeFile(t, filepath.Join(dir, "needy", "SKILL.md"), "---\nname: needy\ndescription: Needs what is not there.\nscript: run.sh\nmetadata: {openclaw: {requires: {bins: [no-such-program]}}}\n---\n")
		writeFile(t, filepath.Join(dir, "needy", "run.sh"), "echo")
		c := connect(t, driver, "--skills", dir)
		for {
			if _, there := c.tools()["needy"]; !there {
				break
			}
			select {
			case <-c.changes:
			case <-t.Context().Done():
				t.Fatal("no notice came")
			}
		}
		text, _ := c.call("list_skills", nil)
		if !strings.Contains(text, "unavailable: needs no-such-program in ") {
			t.Errorf("list_skills: %s", text)
		}
		if text, result := c.call("run_skill", map[string]any{"name": "needy"}); !result.IsError || !strings.Contains(text, "needs no-such-program in ") {
			t.Errorf("run_skill: %s", text)
		}
	})
}
