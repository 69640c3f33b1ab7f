package clients

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skillsmcp/skills-mcp/integration/lab"
)

// pythonLibrary is a real code base: the standard library of the machine's
// Python.
func pythonLibrary(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("python3", "-c", "import sysconfig; print(sysconfig.get_path('stdlib'))").Output()
	if err != nil {
		lab.Requires(t, "SKILLS_MCP_REQUIRE_SANDBOX", fmt.Errorf("python3, whose standard library is the code to look at: %w", err))
	}
	return filepath.Join(strings.TrimSpace(string(out)), "json")
}

// A client initializes, lists and calls: typed tools for the skills, on real
// code, and errors that are for a model.
func TestClient(t *testing.T) {
	t.Parallel()
	library := pythonLibrary(t)
	lab.Drivers(t, func(t *testing.T, driver string) {
		hostile := t.TempDir()
		hostileSkills(t, hostile)
		c := lab.Connect(t, driver, "--workspace", library, "--skills", hostile)
		tools := c.Tools()
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

		text, result := c.Call("colony-samples__code-complexity", map[string]any{"path": library, "top_n": 3})
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

		if text, result := c.Call("colony-samples__code-complexity", map[string]any{"path": library, "threshold": "x"}); !result.IsError || text != `INVALID_PARAM: "threshold" must be an integer, not a string` {
			t.Errorf("a bad argument: %s", text)
		}
		if text, result := c.Call("colony-samples__code-complexity", map[string]any{"path": "no/such/file.py"}); !result.IsError || !strings.HasPrefix(text, "EXECUTION_ERROR: skill colony-samples/code-complexity failed with exit code 2") {
			t.Errorf("a file that is not there: %s", text)
		}
		text, result = c.Call("run_skill", map[string]any{"name": "scientific-debugging", "params": map[string]any{"bug_description": "It hangs."}})
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
	c := lab.Connect(t, "native", "--config", config)
	c.Tools() // what it has listed is the first state, whose changes it is told of
	expect := func(step string, there, gone []string) {
		t.Helper()
		select {
		case <-c.Changes:
		case <-t.Context().Done():
			t.Fatalf("%s: no notice came", step)
		}
		tools := c.Tools()
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
	lab.WriteFile(t, filepath.Join(dir, "first", "SKILL.md"), text("first"))
	expect("a new root with a skill", []string{"first"}, nil)
	// As editors save: beside it, then renamed over it.
	lab.WriteFile(t, filepath.Join(dir, "first", ".SKILL.md.swp"), text("renamed"))
	if err := os.Rename(filepath.Join(dir, "first", ".SKILL.md.swp"), filepath.Join(dir, "first", "SKILL.md")); err != nil {
		t.Fatal(err)
	}
	expect("an atomic save", []string{"renamed"}, []string{"first"})
	// A whole folder is moved in.
	aside := filepath.Join(t.TempDir(), "moved")
	lab.WriteFile(t, filepath.Join(aside, "SKILL.md"), text("moved"))
	if err := os.Rename(aside, filepath.Join(dir, "moved")); err != nil {
		t.Fatal(err)
	}
	expect("a folder moved in", []string{"renamed", "moved"}, nil)
	// One breaks; the others go on.
	lab.WriteFile(t, filepath.Join(dir, "moved", "SKILL.md"), "---\nname: moved\n")
	expect("a skill that broke", []string{"renamed", "colony-samples__code-complexity"}, []string{"moved"})
	if text, result := c.Call("renamed", nil); result.IsError || !strings.Contains(text, "Hello from renamed.") {
		t.Errorf("its neighbour: %s", text)
	}
	if text, _ := c.Call("reload_skills", nil); !strings.Contains(text, "moved/SKILL.md:1:1: error: the frontmatter is not closed") {
		t.Errorf("reload_skills: %s", text)
	}
	// It goes.
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	expect("a root that is gone", []string{"colony-samples__code-complexity"}, []string{"renamed"})
	// reload_skills has nothing to add, so no notice is under way.
	c.Call("reload_skills", nil)
	if n := len(c.Changes); n != 0 {
		t.Errorf("%d notices too many", n)
	}
}

// A skill is offered until it is known that its sandbox lacks what it needs: then
// it has no tool, one notice is sent, and it is still listed with the reason.
func TestUnavailableIsNoticed(t *testing.T) {
	t.Parallel()
	lab.Drivers(t, func(t *testing.T, driver string) {
		dir := t.TempDir()
		lab.WriteFile(t, filepath.Join(dir, "needy", "SKILL.md"), "---\nname: needy\ndescription: Needs what is not there.\nscript: run.sh\nmetadata: {openclaw: {requires: {bins: [no-such-program]}}}\n---\n")
		lab.WriteFile(t, filepath.Join(dir, "needy", "run.sh"), "echo")
		c := lab.Connect(t, driver, "--skills", dir)
		for {
			if _, there := c.Tools()["needy"]; !there {
				break
			}
			select {
			case <-c.Changes:
			case <-t.Context().Done():
				t.Fatal("no notice came")
			}
		}
		text, _ := c.Call("list_skills", nil)
		if !strings.Contains(text, "unavailable: needs no-such-program in ") {
			t.Errorf("list_skills: %s", text)
		}
		if text, result := c.Call("run_skill", map[string]any{"name": "needy"}); !result.IsError || !strings.Contains(text, "needs no-such-program in ") {
			t.Errorf("run_skill: %s", text)
		}
	})
}
