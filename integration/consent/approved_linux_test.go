package consent

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skillsmcp/skills-mcp/integration/lab"
)

// A skill that is approved says so wherever its state is shown, with the calls that the
// approval covers, as long as it covers calls of the skill as it is.
func TestApprovedIsVisible(t *testing.T) {
	t.Parallel()
	a := lab.NativeAccount(t, "")
	a.NoteSkill("other")
	plugins, shop := filepath.Join(a.Home, "plugins"), filepath.Join(a.Home, "shop")
	a.Skill("rename/SKILL.md", "---\nname: rename\ndescription: d\nclass: mutating\nscript: run.sh\nparams: {dir: {type: string, format: path}, to: string}\n---\n")
	a.Skill("rename/run.sh", "echo done\n")
	configured := "plugins: [\"" + plugins + "\"]\nworkspaces: [\"" + a.Workspace + "\", \"" + shop + "\"]\n"
	configure := func(more string) {
		a.Configure("")
		config := filepath.Join(a.Home, ".config", "skills-mcp", "config.yaml")
		was, err := os.ReadFile(config)
		if err != nil {
			t.Fatal(err)
		}
		text := strings.Replace(string(was), "workspaces: [\""+a.Workspace+"\"]\n", configured, 1)
		lab.WriteFile(t, config, text+more)
	}
	if err := os.MkdirAll(filepath.Join(shop, "a"), 0o777); err != nil {
		t.Fatal(err)
	}
	for _, plugin := range []string{"office", "tools"} {
		lab.WriteFile(t, filepath.Join(plugins, plugin, ".claude-plugin/plugin.json"), `{"name": "`+plugin+`", "version": "1.0.0"}`)
		for _, name := range []string{"rent", "bill"} {
			renameSkill(t, filepath.Join(plugins, plugin, "skills", name), "mutating")
		}
	}
	configure("")
	const always, needs = "approved, always until it changes", "needs approval"
	want := map[string]string{"note": needs, "other": needs, "rename": needs, "office/rent": needs, "office/bill": needs, "tools/rent": needs, "tools/bill": needs}
	c := a.Serve("legacy", `{}`)
	check := func(when string) {
		t.Helper()
		c.Call("reload_skills", map[string]any{})
		states := a.States()
		for name, state := range want {
			if states[name] != state {
				t.Errorf("%s, list: %s is %q, want %q", when, name, states[name], state)
			}
			if out := c.Call("get_skill", map[string]any{"name": name}).Text(); !strings.Contains(out, `"state":"`+state+`"`) {
				t.Errorf("%s, get_skill: %s is not %q: %.400s", when, name, state, out)
			}
		}
	}
	approve := func(name, scope string, params map[string]any) {
		t.Helper()
		a.ApproveAs(c.Waits(c.Call("run_skill", map[string]any{"name": name, "params": params})), scope)
	}
	check("at first")
	approve("other", "once", lab.Text("x"))
	check("after a yes to one call")

	approve("note", "always", lab.Text("x"))
	c.Succeeds(c.Call("note", lab.Text("x")), "wrote") // by which its files are known
	approve("office/rent", "always", lab.Text("x"))
	approve("tools/rent", "plugin", lab.Text("x"))
	approve("rename", "same", map[string]any{"dir": filepath.Join(shop, "a"), "to": "x"})
	want["note"], want["office/rent"], want["rename"] = always, always, "approved for these arguments"
	want["tools/rent"], want["tools/bill"] = "approved with all skills of the plugin", "approved with all skills of the plugin"
	check("after yeses that last")
	approve("rename", "below", map[string]any{"dir": filepath.Join(shop, "a"), "to": "y"})
	want["rename"] = `approved for paths below ~/shop/a`
	check("after a wider one")
	for _, name := range []string{"show", "why"} {
		if out, _ := a.Run(name, "note"); !strings.Contains(out, always) || name == "why" && strings.Count(out, "approved") != 1 {
			t.Errorf("%s: %s", name, out)
		}
		if out, _ := a.Run(name, "other"); strings.Contains(out, "approved") {
			t.Errorf("%s: %s", name, out)
		}
	}

	// One of the person's own calls is nobody else's.
	if screen, code := a.Terminal("$1 always", "run", "other", "--text", "x"); code != 0 {
		t.Fatalf("run: exit %d\n%s", code, screen)
	}
	if got := a.States()["other"]; got != always+", for your own calls" {
		t.Errorf("list: other is %q", got)
	}
	if out, _ := a.Run("revoke", "other"); !strings.Contains(out, "revoked") {
		t.Errorf("revoke: %s", out)
	}

	// A stranger's skill changes, and so does the person's own, which goes on.
	script := filepath.Join(plugins, "office", "skills", "rent", "README.md")
	lab.WriteFile(t, script, "Other.\n")
	lab.WriteFile(t, filepath.Join(plugins, "tools", "skills", "bill", "README.md"), "Other.\n")
	lab.WriteFile(t, filepath.Join(a.Skills, "note", "README.md"), "Other.\n")
	want["office/rent"], want["tools/bill"] = needs, needs
	check("after a change of files")
	lab.WriteFile(t, script, "Nothing.\n")
	want["office/rent"] = always
	check("with the files as they were")

	configure("policy: {skills: {note: {network: [example.com:443]}, office/rent: {timeout: 5s}}}\n")
	for name, now := range a.States() {
		if (name == "note" || name == "office/rent") != (now == needs) && want[name] == always {
			t.Errorf("after a change of rules, %s is %q", name, now)
		}
	}
	configure("")
	check("with the rules as they were")

	for _, name := range []string{"note", "tools", "rename"} {
		if out, code := a.Run("revoke", name); code != 0 {
			t.Fatalf("revoke: exit %d\n%s", code, out)
		}
	}
	want["note"], want["rename"], want["tools/rent"] = needs, needs, needs
	check("after they were revoked")

	v := a.Visit()
	v.Show("/ui/skills/office%2Frent")
	v.Says(always)
	v.Show("/ui/?state=approved")
	v.Says("Rent (office)")
	v.Show("/ui/skills/note")
	v.Says(needs)
}
