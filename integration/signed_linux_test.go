package integration

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// Where the person has a passphrase, no decision counts that a command has made under a
// configuration without it: not for a running server, nor for a new one, nor for commands.
// The same command counts with the passphrase.
func TestDecisionsOfAnotherConfiguration(t *testing.T) {
	t.Parallel()
	a := nativeAccount(t, "")
	const secret = "mine is long enough"
	a.noteSkill("off")
	a.theirs("fresh", a.workspace, ".claude", "skills")
	a.report()
	plugins := fmt.Sprintf("plugins: [%q]\n", filepath.Join(a.home, "plugins"))
	evil := filepath.Join(a.home, "evil.yaml")
	writeFile(t, evil, configuration()+fmt.Sprintf("skills: [%q]\nworkspaces: [%q]\nroots: {samples: false}\n", a.skills, a.workspace)+plugins)
	a.configure(plugins + fmt.Sprintf("policy: {passphrase: %q}\n", a.hash(secret)))
	if out, code := a.run("disable", "off"); code != 0 {
		t.Fatal(out)
	}
	c := a.serve("legacy", `{}`)
	run := map[string]any{"name": "office/report", "params": map[string]any{"text": "May"}}
	c.succeeds(c.call("run_skill", run), "# Report of May")
	a.pullRug(sink(t))
	c.fails(c.call("run_skill", run), "APPROVAL_REQUIRED")
	source := filepath.Join(a.home, "source", "greet")
	writeFile(t, filepath.Join(source, "SKILL.md"), "---\nname: greet\ndescription: Greets.\n---\nSay hello, and run `curl https://x.example.com/a`.\n")

	granted := func(*toolClient) bool {
		out, _ := a.run("why", "note")
		return strings.Contains(out, "example.com:443")
	}
	listed := func(name string) func(*toolClient) bool {
		return func(c *toolClient) bool {
			return strings.Contains(c.call("list_skills", map[string]any{}).text(), `"name":"`+name+`"`)
		}
	}
	succeeds := func(tool string, args map[string]any) func(*toolClient) bool {
		return func(c *toolClient) bool { r := c.call(tool, args); return r.Error == nil && !r.Result.IsError }
	}
	decisions := []struct {
		args   []string
		counts func(*toolClient) bool
	}{
		{[]string{"grant", "note", "--network", "example.com:443"}, granted},
		{[]string{"enable", "off"}, listed("off")},
		{[]string{"pin", "office/report"}, succeeds("run_skill", run)},
		{[]string{"trust", a.workspace}, func(*toolClient) bool {
			out, _ := a.run("trust", "--list", "--json")
			return strings.Contains(out, `"state": "trusted"`)
		}},
		{[]string{"install", source}, succeeds("load_skill", map[string]any{"name": "greet"})},
	}
	for _, d := range decisions {
		screen, _ := a.terminal("yes", append([]string{"--config", evil}, d.args...)...)
		for which, by := range map[string]*toolClient{"the running": c, "a new": a.serve("modern", `{}`)} {
			if d.counts(by) {
				t.Errorf("%v counts for %s server: %s", d.args, which, screen)
			}
		}
	}
	for _, d := range decisions[:4] {
		for _, wrong := range []string{"", "a wrong one"} {
			if screen, code := a.dialogue([]prompt{number, passphrase(wrong)}, d.args...); code == 0 {
				t.Errorf("%v with %q: %s", d.args, wrong, screen)
			}
		}
		if screen, code := a.dialogue([]prompt{number, passphrase(secret)}, d.args...); code != 0 || strings.Contains(screen, secret) {
			t.Errorf("%v: exit %d: %s", d.args, code, screen)
		}
		if by := a.serve("modern", `{}`); !d.counts(by) {
			t.Errorf("%v does not count", d.args)
		}
	}
	if screen, code := a.dialogue([]prompt{number, passphrase(secret)}, "pin", "greet"); code != 0 {
		t.Errorf("pin: exit %d: %s", code, screen)
	}
	if by := a.serve("modern", `{}`); !succeeds("load_skill", map[string]any{"name": "greet"})(by) {
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
			a := nativeAccount(t, "")
			prompts := []prompt{number}
			if secret != "" {
				a.configure(fmt.Sprintf("policy: {passphrase: %q}\n", a.hash(secret)))
				prompts = append(prompts, passphrase(secret))
			}
			c, second := a.serve("legacy", `{}`), a.serve("modern", `{}`)
			for _, each := range []string{"used", "revoked", "other"} {
				id := c.waits(c.call("note", text(each)))
				if screen, code := a.dialogue(prompts, "approve", id); code != 0 {
					t.Fatal(screen)
				}
				if each == "revoked" {
					a.inStore(`CREATE TABLE before AS SELECT * FROM decisions WHERE kind = 'approval' AND state = 'given'`)
					if out, code := a.run("revoke", id); code != 0 {
						t.Fatal(out)
					}
				}
			}
			a.inStore(`INSERT INTO before SELECT * FROM decisions WHERE kind = 'approval' AND state = 'given' AND key NOT IN (SELECT key FROM before)`)
			c.succeeds(c.call("note", text("used")), "wrote")
			a.inStore(`REPLACE INTO decisions SELECT * FROM before`)
			for _, by := range []*toolClient{c, second, a.serve("legacy", `{}`)} {
				for _, each := range []string{"used", "revoked"} {
					by.waits(by.call("note", text(each)))
				}
				a.inStore(`REPLACE INTO decisions SELECT * FROM before`)
			}
			a.wrote(1)
			second.succeeds(second.call("note", text("other")), "wrote")
			a.wrote(2)
		})
	}
}
