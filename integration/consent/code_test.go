package consent

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skillsmcp/skills-mcp/integration/lab"
)

// connectWith starts a server with more configuration and a skill "helper",
// whose folder has a module.
func connectWith(t *testing.T, driver, more string) (c *lab.Client, workspace string) {
	t.Helper()
	dir := t.TempDir()
	workspace = filepath.Join(dir, "work")
	lab.WriteFile(t, filepath.Join(workspace, "data.txt"), "from the workspace\n")
	if err := os.Chmod(dir, 0o755); err != nil { // commands may run as nobody
		t.Fatal(err)
	}
	lab.WriteFile(t, filepath.Join(dir, "config.yaml"), lab.Configuration()+more)
	lab.WriteFile(t, filepath.Join(dir, "skills", "helper", "SKILL.md"), "---\nname: helper\ndescription: Helps.\nscript: run.sh\n---\n")
	lab.WriteFile(t, filepath.Join(dir, "skills", "helper", "run.sh"), "echo \"$(cat /tmp/kept 2>/dev/null) run\"\n")
	lab.WriteFile(t, filepath.Join(dir, "skills", "helper", "helper.py"), "def answer(): return 42\n")
	return lab.Connect(t, driver, "--config", filepath.Join(dir, "config.yaml"), "--skills", filepath.Join(dir, "skills"), "--workspace", workspace), workspace
}

// structured is the structure of a result, or nothing.
func structured(content any) map[string]any {
	s, _ := content.(map[string]any)
	return s
}

func TestRunCode(t *testing.T) {
	t.Parallel()
	lab.Drivers(t, func(t *testing.T, driver string) {
		c, workspace := connectWith(t, driver, "tools: {run_code: true}\n")
		long := "x='" + strings.Repeat("y", 300<<10) + "'\n"
		for name, test := range map[string]struct {
			args map[string]any
			want string // stdout
			code float64
		}{
			"bash":             {map[string]any{"language": "bash", "code": "#!/bin/bash\nprintf '%s|' \"$0\" \"$@\" \"$PWD\" \"${code-unset}\"", "args": []string{"-a", "b c"}}, "bash|-a|b c|/skill|unset|", 0},
			"bash, its input":  {map[string]any{"language": "bash", "code": "cat\nread -r line || echo none\necho after"}, "none\nafter\n", 0},
			"bash, documents":  {map[string]any{"language": "bash", "code": "cat <<'EOF'\na $b\nEOF\nf() { return 7; }\nf"}, "a $b\n", 7},
			"bash, long":       {map[string]any{"language": "bash", "code": long + "echo ${#x}"}, "307200\n", 0},
			"bash, its line":   {map[string]any{"language": "bash", "code": "echo a\n\necho $LINENO"}, "a\n3\n", 0},
			"bash, in a skill": {map[string]any{"language": "bash", "code": "ls; echo $SKILL_NAME", "skill": "helper"}, "SKILL.md\nhelper.py\nrun.sh\nhelper\n", 0},
			"python":           {map[string]any{"language": "python", "code": "import sys\nprint(sys.argv[1:], repr(sys.stdin.read()))", "args": []string{"-a", "b c"}}, "['-a', 'b c'] ''\n", 0},
			"python, skill":    {map[string]any{"language": "python", "code": "import helper\nprint(helper.answer())", "skill": "helper"}, "42\n", 0},
			"python, long":     {map[string]any{"language": "python", "code": long + "print(len(x)); raise SystemExit(5)"}, "307200\n", 5},
			"workspace, there": {map[string]any{"language": "bash", "code": "cd \"$SKILL_WORKSPACE\"; cat data.txt; echo no 2>/dev/null > data.txt || echo refused"}, "from the workspace\nrefused\n", 0},
		} {
			t.Run(name, func(t *testing.T) {
				_, result := c.Call("run_code", test.args)
				got := structured(result.StructuredContent)
				if got["stdout"] != test.want || got["exit_code"] != test.code {
					t.Errorf("stdout %q, exit code %v\nwant   %q, %v\nstderr %.500s", got["stdout"], got["exit_code"], test.want, test.code, got["stderr"])
				}
			})
		}
		if driver == "docker" { // the image has node; a machine need not
			_, result := c.Call("run_code", map[string]any{"language": "node", "code": "console.log(process.argv.slice(2), require('fs').readFileSync(0).length)", "args": []string{"-a"}})
			if got := structured(result.StructuredContent)["stdout"]; got != "[ '-a' ] 0\n" {
				t.Errorf("node: %q", got)
			}
		}
		if data, err := os.ReadFile(filepath.Join(workspace, "data.txt")); err != nil || string(data) != "from the workspace\n" {
			t.Errorf("the workspace's file: %q, %v", data, err)
		}
	})
}

// What one call leaves in a kept sandbox, the next finds, and nobody after its
// end.
func TestKeptSandbox(t *testing.T) {
	t.Parallel()
	lab.Drivers(t, func(t *testing.T, driver string) {
		c, _ := connectWith(t, driver, "tools: {run_code: true, kept_sandboxes: true}\n")
		text, result := c.Call("open_sandbox", map[string]any{"skill": "helper"})
		if strings.Contains(text, "UNAVAILABLE: this sandbox driver cannot keep a sandbox") {
			variable := map[string]string{"native": "SKILLS_MCP_REQUIRE_SANDBOX", "docker": "SKILLS_MCP_REQUIRE_ENGINE"}[driver]
			lab.Requires(t, variable, errors.New("the driver "+driver+" keeps no sandboxes"))
		}
		id, _ := structured(result.StructuredContent)["container_id"].(string)
		if id == "" {
			t.Fatal(text)
		}
		run := func(code string) string {
			t.Helper()
			text, result := c.Call("run_code", map[string]any{"language": "bash", "code": code, "container_id": id})
			if result.IsError {
				t.Fatal(text)
			}
			return fmt.Sprint(structured(result.StructuredContent)["stdout"])
		}
		run("echo kept > /tmp/kept; sleep 600 >/dev/null 2>&1 & echo $! > /tmp/pid")
		if got := run("cat /tmp/kept; kill -0 $(cat /tmp/pid) && echo alive"); got != "kept\nalive\n" {
			t.Errorf("the second call found %q", got)
		}
		_, result = c.Call("run_skill", map[string]any{"name": "helper", "container_id": id})
		if got := structured(result.StructuredContent)["stdout"]; got != "kept run\n" {
			t.Errorf("run_skill printed %q", got)
		}
		if _, result := c.Call("run_skill", map[string]any{"name": "helper"}); structured(result.StructuredContent)["stdout"] != " run\n" {
			t.Errorf("a fresh sandbox printed %v", result.StructuredContent)
		}
		if text, result := c.Call("close_sandbox", map[string]any{"container_id": id}); result.IsError {
			t.Error(text)
		}
		if text, _ := c.Call("run_code", map[string]any{"language": "bash", "code": "true", "container_id": id}); !strings.HasPrefix(text, "NOT_FOUND: ") {
			t.Errorf("after its end: %s", text)
		}
	})
}
