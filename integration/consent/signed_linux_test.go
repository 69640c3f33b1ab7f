package consent

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skillsmcp/skills-mcp/integration/lab"
)

// Where the person has a passphrase, no decision counts that a command has made under a
// configuration without it: not for a running server, nor for a new one, nor for commands.
// The same command counts with the passphrase.
func TestDecisionsOfAnotherConfiguration(t *testing.T) {
	t.Parallel()
	a := lab.NativeAccount(t, "")
	const secret = "mine is long enough"
	a.NoteSkill("off")
	a.Theirs("fresh", a.Workspace, ".claude", "skills")
	a.Report()
	plugins := fmt.Sprintf("plugins: [%q]\n", filepath.Join(a.Home, "plugins"))
	evil := filepath.Join(a.Home, "evil.yaml")
	lab.WriteFile(t, evil, lab.Configuration()+fmt.Sprintf("skills: [%q]\nworkspaces: [%q]\nroots: {samples: false}\n", a.Skills, a.Workspace)+plugins)
	a.Configure(plugins + fmt.Sprintf("policy: {passphrase: %q}\n", a.Hash(secret)))
	if out, code := a.Run("disable", "off"); code != 0 {
		t.Fatal(out)
	}
	c := a.Serve("legacy", `{}`)
	run := map[string]any{"name": "office/report", "params": map[string]any{"text": "May"}}
	c.Succeeds(c.Call("run_skill", run), "# Report of May")
	a.PullRug(sink(t))
	c.Fails(c.Call("run_skill", run), "APPROVAL_REQUIRED")
	source := filepath.Join(a.Home, "source", "greet")
	lab.WriteFile(t, filepath.Join(source, "SKILL.md"), "---\nname: greet\ndescription: Greets.\n---\nSay hello, and run `curl https://x.example.com/a`.\n")

	granted := func(*lab.ToolClient) bool {
		out, _ := a.Run("why", "note")
		return strings.Contains(out, "example.com:443")
	}
	listed := func(name string) func(*lab.ToolClient) bool {
		return func(c *lab.ToolClient) bool {
			return strings.Contains(c.Call("list_skills", map[string]any{}).Text(), `"name":"`+name+`"`)
		}
	}
	succeeds := func(tool string, args map[string]any) func(*lab.ToolClient) bool {
		return func(c *lab.ToolClient) bool { r := c.Call(tool, args); return r.Error == nil && !r.Result.IsError }
	}
	decisions := []struct {
		args   []string
		counts func(*lab.ToolClient) bool
	}{
		{[]string{"grant", "note", "--network", "example.com:443"}, granted},
		{[]string{"enable", "off"}, listed("off")},
		{[]string{"pin", "office/report"}, succeeds("run_skill", run)},
		{[]string{"trust", a.Workspace}, func(*lab.ToolClient) bool {
			out, _ := a.Run("trust", "--list", "--json")
			return strings.Contains(out, `"state": "trusted"`)
		}},
		{[]string{"install", source}, succeeds("load_skill", map[string]any{"name": "greet"})},
	}
	for _, d := range decisions {
		screen, _ := a.Terminal("yes", append([]string{"--config", evil}, d.args...)...)
		for which, by := range map[string]*lab.ToolClient{"the running": c, "a new": a.Serve("modern", `{}`)} {
			if d.counts(by) {
				t.Errorf("%v counts for %s server: %s", d.args, which, screen)
			}
		}
	}
	if out, _ := a.Run("list", "--changed"); !strings.Contains(out, "does not count  blocked: it gained") {
		t.Errorf("what the other configuration has accepted is listed as\n%s", out)
	}
	for _, d := range decisions[:4] {
		for _, wrong := range []string{"", "a wrong one"} {
			if screen, code := a.Dialogue([]lab.Prompt{number, passphrase(wrong)}, d.args...); code == 0 {
				t.Errorf("%v with %q: %s", d.args, wrong, screen)
			}
		}
		if screen, code := a.Dialogue([]lab.Prompt{number, passphrase(secret)}, d.args...); code != 0 || strings.Contains(screen, secret) {
			t.Errorf("%v: exit %d: %s", d.args, code, screen)
		}
		if by := a.Serve("modern", `{}`); !d.counts(by) {
			t.Errorf("%v does not count", d.args)
		}
	}
	if screen, code := a.Dialogue([]lab.Prompt{number, passphrase(secret)}, "pin", "greet"); code != 0 {
		t.Errorf("pin: exit %d: %s", code, screen)
	}
	if by := a.Serve("modern", `{}`); !succeeds("load_skill", map[string]any{"name": "greet"})(by) {
		t.Error("the installed skill is still blocked")
	}
}

// A row of an approval that was used or revoked, and is put back, lets no call run: not in
// the server that has used it, another one or a new one. Another approval still does.
func TestRowIsPutBack(t *testing.T) {
	t.Parallel()
	for name, secret := range map[string]string{"a passphrase": "mine is long enough", "none": ""} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := lab.NativeAccount(t, "")
			prompts := []lab.Prompt{number}
			if secret != "" {
				a.Configure(fmt.Sprintf("policy: {passphrase: %q}\n", a.Hash(secret)))
				prompts = append(prompts, passphrase(secret))
			}
			c, second := a.Serve("legacy", `{}`), a.Serve("modern", `{}`)
			for _, each := range []string{"used", "revoked", "other"} {
				id := c.Waits(c.Call("note", lab.Text(each)))
				if screen, code := a.Dialogue(prompts, "approve", id); code != 0 {
					t.Fatal(screen)
				}
				if each == "revoked" {
					a.InStore(`CREATE TABLE before AS SELECT * FROM decisions WHERE kind = 'approval' AND state = 'given'`)
					if out, code := a.Run("revoke", id); code != 0 {
						t.Fatal(out)
					}
				}
			}
			a.InStore(`INSERT INTO before SELECT * FROM decisions WHERE kind = 'approval' AND state = 'given' AND key NOT IN (SELECT key FROM before)`)
			c.Succeeds(c.Call("note", lab.Text("used")), "wrote")
			a.InStore(`REPLACE INTO decisions SELECT * FROM before`)
			for _, by := range []*lab.ToolClient{c, second, a.Serve("legacy", `{}`)} {
				for _, each := range []string{"used", "revoked"} {
					by.Waits(by.Call("note", lab.Text(each)))
				}
				a.InStore(`REPLACE INTO decisions SELECT * FROM before`)
			}
			a.Wrote(1)
			second.Succeeds(second.Call("note", lab.Text("other")), "wrote")
			a.Wrote(2)
		})
	}
}
