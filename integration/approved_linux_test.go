package integration

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// states returns the states of skills that list prints, by name.
func (a *account) states(more ...string) map[string]string {
	a.t.Helper()
	out, code := a.run(append([]string{"list", "--json"}, more...)...)
	var list struct {
		Skills []struct{ Name, State string }
	}
	if err := json.Unmarshal([]byte(out), &list); err != nil || code != 0 {
		a.t.Fatalf("list: exit %d, %v\n%s", code, err, out)
	}
	all := map[string]string{}
	for _, skill := range list.Skills {
		all[skill.Name] = skill.State
	}
	return all
}

// A skill that is approved says so wherever its state is shown, with the calls that the
// approval covers, as long as it covers calls of the skill as it is.
func TestApprovedIsVisible(t *testing.T) {
	t.Parallel()
	a := nativeAccount(t, "")
	a.noteSkill("other")
	plugins, shop := filepath.Join(a.home, "plugins"), filepath.Join(a.home, "shop")
	a.skill("rename/SKILL.md", "---\nname: rename\ndescription: d\nclass: mutating\nscript: run.sh\nparams: {dir: {type: string, format: path}, to: string}\n---\n")
	a.skill("rename/run.sh", "echo done\n")
	configured := "plugins: [\"" + plugins + "\"]\nworkspaces: [\"" + a.workspace + "\", \"" + shop + "\"]\n"
	configure := func(more string) {
		a.configure("")
		config := filepath.Join(a.home, ".config", "skills-mcp", "config.yaml")
		was, err := os.ReadFile(config)
		if err != nil {
			t.Fatal(err)
		}
		text := strings.Replace(string(was), "workspaces: [\""+a.workspace+"\"]\n", configured, 1)
		writeFile(t, config, text+more)
	}
	if err := os.MkdirAll(filepath.Join(shop, "a"), 0o777); err != nil {
		t.Fatal(err)
	}
	for _, plugin := range []string{"office", "tools"} {
		writeFile(t, filepath.Join(plugins, plugin, ".claude-plugin/plugin.json"), `{"name": "`+plugin+`", "version": "1.0.0"}`)
		for _, name := range []string{"rent", "bill"} {
			renameSkill(t, filepath.Join(plugins, plugin, "skills", name), "mutating")
		}
	}
	configure("")
	const always, needs = "approved, always until it changes", "needs approval"
	want := map[string]string{"note": needs, "other": needs, "rename": needs, "office/rent": needs, "office/bill": needs, "tools/rent": needs, "tools/bill": needs}
	c := a.serve("legacy", `{}`)
	check := func(when string) {
		t.Helper()
		c.call("reload_skills", map[string]any{})
		states := a.states()
		for name, state := range want {
			if states[name] != state {
				t.Errorf("%s, list: %s is %q, want %q", when, name, states[name], state)
			}
			if out := c.call("get_skill", map[string]any{"name": name}).text(); !strings.Contains(out, `"state":"`+state+`"`) {
				t.Errorf("%s, get_skill: %s is not %q: %.400s", when, name, state, out)
			}
		}
	}
	approve := func(name, scope string, params map[string]any) {
		t.Helper()
		a.approveAs(c.waits(c.call("run_skill", map[string]any{"name": name, "params": params})), scope)
	}
	check("at first")
	approve("other", "once", text("x"))
	check("after a yes to one call")

	approve("note", "always", text("x"))
	c.succeeds(c.call("note", text("x")), "wrote") // by which its files are known
	approve("office/rent", "always", text("x"))
	approve("tools/rent", "plugin", text("x"))
	approve("rename", "same", map[string]any{"dir": filepath.Join(shop, "a"), "to": "x"})
	want["note"], want["office/rent"], want["rename"] = always, always, "approved for these arguments"
	want["tools/rent"], want["tools/bill"] = "approved with all skills of the plugin", "approved with all skills of the plugin"
	check("after yeses that last")
	approve("rename", "below", map[string]any{"dir": filepath.Join(shop, "a"), "to": "y"})
	want["rename"] = `approved for paths below ~/shop/a`
	check("after a wider one")
	for _, name := range []string{"show", "why"} {
		if out, _ := a.run(name, "note"); !strings.Contains(out, always) || name == "why" && strings.Count(out, "approved") != 1 {
			t.Errorf("%s: %s", name, out)
		}
		if out, _ := a.run(name, "other"); strings.Contains(out, "approved") {
			t.Errorf("%s: %s", name, out)
		}
	}

	// One of the person's own calls is nobody else's.
	if screen, code := a.terminal("$1 always", "run", "other", "--text", "x"); code != 0 {
		t.Fatalf("run: exit %d\n%s", code, screen)
	}
	if got := a.states()["other"]; got != always+", for your own calls" {
		t.Errorf("list: other is %q", got)
	}
	if out, _ := a.run("revoke", "other"); !strings.Contains(out, "revoked") {
		t.Errorf("revoke: %s", out)
	}

	// A stranger's skill changes, and so does the person's own, which goes on.
	script := filepath.Join(plugins, "office", "skills", "rent", "README.md")
	writeFile(t, script, "Other.\n")
	writeFile(t, filepath.Join(plugins, "tools", "skills", "bill", "README.md"), "Other.\n")
	writeFile(t, filepath.Join(a.skills, "note", "README.md"), "Other.\n")
	want["office/rent"], want["tools/bill"] = needs, needs
	check("after a change of files")
	writeFile(t, script, "Nothing.\n")
	want["office/rent"] = always
	check("with the files as they were")

	configure("policy: {skills: {note: {network: [example.com:443]}, office/rent: {timeout: 5s}}}\n")
	for name, now := range a.states() {
		if (name == "note" || name == "office/rent") != (now == needs) && want[name] == always {
			t.Errorf("after a change of rules, %s is %q", name, now)
		}
	}
	configure("")
	check("with the rules as they were")

	for _, name := range []string{"note", "tools", "rename"} {
		if out, code := a.run("revoke", name); code != 0 {
			t.Fatalf("revoke: exit %d\n%s", code, out)
		}
	}
	want["note"], want["rename"], want["tools/rent"] = needs, needs, needs
	check("after they were revoked")

	v := a.visit()
	v.show("/ui/skills/office%2Frent")
	v.says(always)
	v.show("/ui/?state=approved")
	v.says("Rent (office)")
	v.show("/ui/skills/note")
	v.says(needs)
}
