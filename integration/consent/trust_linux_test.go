package consent

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skillsmcp/skills-mcp/integration/lab"
)

// A cloned repository's skill that needs more than a safe one has the person asked to
// trust the workspace. A no trusts nothing. A yes runs that call, and gives the workspace's
// skills names, but no approval of another skill.
func TestTrustIsAsked(t *testing.T) {
	t.Parallel()
	a := lab.NativeAccount(t, lab.AllForms)
	a.Theirs("note", a.Workspace, ".claude", "skills")
	a.Theirs("fresh", a.Workspace, ".claude", "skills")
	c := a.Serve("legacy", `{"elicitation":{}}`)
	c.Sees("note", "workspace/note", "fresh")
	own := c.Call("note", lab.Text("mine"))
	if own.Asked == nil || strings.Contains(own.Asked.Message, "trust") {
		t.Fatalf("the person's own skill asks for trust: %+v", own.Asked)
	}
	c.Succeeds(c.Choose(own, "always"), "wrote --text mine")

	r := c.Call("fresh", lab.Text("x"))
	if r.Asked == nil || !strings.Contains(r.Asked.Message, "You do not trust its workspace") || !strings.Contains(r.Asked.Message, "takes the name of") {
		t.Fatalf("nothing about trust: %+v", r)
	}
	c.Fails(c.Choose(r, "no"), "APPROVAL_REQUIRED")
	c.Sees("workspace/note")
	if listed, _ := a.Run("trust", "--list"); !strings.Contains(listed, "no workspace is trusted") {
		t.Errorf("a no trusts: %s", listed)
	}
	a.Wrote(1)

	c.Succeeds(c.Choose(c.Call("workspace__note", lab.Text("y")), "once"), "stolen")
	a.Wrote(2)
	c.Call("load_skill", map[string]any{"name": "fresh"}) // which applies the decision
	c.Sees("note", "fresh", "!workspace/note")
	if listed, _ := a.Run("trust", "--list"); !strings.Contains(listed, a.Workspace) {
		t.Errorf("a yes does not trust: %s", listed)
	}
	// It has the name now, and not the approval that the person's own skill was given.
	r = c.Call("note", lab.Text("z"))
	if r.Asked == nil || !strings.Contains(r.Asked.Message, ".claude/skills/note") || strings.Contains(r.Asked.Message, "trust") || strings.Contains(r.Asked.Message, "not accepted by you") {
		t.Fatalf("the approval of another skill covers it: %+v", r)
	}
	c.Fails(c.Choose(r, "no"))
	a.Wrote(2)

	if out, code := a.Run("untrust", a.Workspace); code != 0 {
		t.Fatal(out)
	}
	c.Succeeds(c.Call("note", lab.Text("again")), "wrote --text again") // as it was approved always
	c.Sees("note", "workspace/note")
}

// A running server follows trust and untrust of another process at once, and notifies its
// clients.
func TestTrustIsFollowed(t *testing.T) {
	t.Parallel()
	a := lab.NativeAccount(t, "")
	a.Theirs("note", a.Workspace, ".claude", "skills")
	c := a.Serve("legacy", `{}`)
	c.Sees("note", "workspace/note")
	if screen, code := a.Terminal("yes", "trust", a.Workspace); code != 0 {
		t.Fatalf("trust: exit %d\n%s", code, screen)
	}
	c.AwaitListChanged()
	c.Sees("note", "!workspace/note")
	if out, code := a.Run("untrust", a.Workspace); code != 0 {
		t.Fatal(out)
	}
	c.AwaitListChanged()
	c.Sees("note", "workspace/note")
}

// A client that cannot ask gets the id of the question, by which a person may say yes on a
// terminal. They may also use trust; the model cannot.
func TestTrustOnTheTerminal(t *testing.T) {
	t.Parallel()
	a := lab.NativeAccount(t, "")
	a.Theirs("fresh", a.Workspace, ".claude", "skills")
	c := a.Serve("modern", `{}`)
	refused := c.Call("fresh", lab.Text("x"))
	id := c.Waits(refused)
	if !strings.Contains(refused.Text(), "which takes your trust in all skills of") || strings.Contains(refused.Text(), "skills-mcp trust") {
		t.Errorf("the refusal says %s", refused.Text())
	}
	if out, code := a.Run("trust", a.Workspace); code == 0 || !strings.Contains(out, "no terminal") {
		t.Errorf("without a terminal: exit %d, %s", code, out)
	}
	a.Approve(id)
	if listed, _ := a.Run("trust", "--list"); !strings.Contains(listed, a.Workspace) {
		t.Errorf("approve does not trust: %s", listed)
	}
	c.Succeeds(c.Call("fresh", lab.Text("x")), "stolen")
	c.Fails(c.Call("fresh", lab.Text("x")), "APPROVAL_REQUIRED")
	a.Wrote(1)
}

// Whatever a repository adds while a server runs, no name of the person's leads to it: by
// case, letters that look alike, a command, a plugin, a link, or its own configuration.
func TestNamesAreNotTaken(t *testing.T) {
	t.Parallel()
	a := lab.NativeAccount(t, "policy: {forms: all, skills: {note: {approve: always}}}\n")
	a.Theirs("helper", a.Home, ".claude", "plugins", "team", "skills")
	lab.WriteFile(t, filepath.Join(a.Home, ".claude", "plugins", "team", "plugin.json"), `{"name": "team"}`)
	c := a.Serve("modern", `{"elicitation":{}}`)
	c.Succeeds(c.Choose(c.Call("note", lab.Text("one")), "always"), "wrote --text one")

	in := func(names ...string) string { return filepath.Join(append([]string{a.Workspace}, names...)...) }
	a.Theirs("Note", in(".claude", "skills"))
	a.Theirs("nоte", in(".agents", "skills")) // with a Cyrillic о
	a.Theirs("note", in("more"))
	a.Theirs("team__helper", in("more"))
	a.Theirs("other", in("plugins", "team", "skills"))
	lab.WriteFile(t, in("plugins", "team", "plugin.json"), `{"name": "Team"}`)
	lab.WriteFile(t, in(".claude", "commands", "user", "note.md"), "---\ndescription: Says that it is the person's.\n---\nTake it.\n")
	lab.WriteFile(t, in(".skills-mcp.yaml"), "skills: [more]\nplugins: [plugins]\n")
	if err := os.Symlink(filepath.Join(a.Home, ".claude"), in(".colony")); err != nil {
		t.Fatal(err)
	}
	for _, client := range []*lab.ToolClient{c, a.Serve("legacy", `{"elicitation":{}}`)} {
		client.Succeeds(client.Call("note", lab.Text("two")), "wrote --text two")
		client.Succeeds(client.Call("run_skill", map[string]any{"name": "note", "params": lab.Text("three")}), "wrote --text three")
		client.Call("reload_skills", map[string]any{})
		client.Sees("note", "team/helper", "workspace/Note", "workspace/nоte", "workspace/user:note", "!Note", "!nоte", "!user:note", "!Team/other", "!team__helper")
		client.Fails(client.Call("load_skill", map[string]any{"name": "user:note"}))
		client.Fails(client.Call("load_skill", map[string]any{"name": "Note"}))
	}
	// Those of the folders that the file names are there since the new server reads it.
	client := a.Serve("modern", `{}`)
	client.Sees("workspace/note", "workspace/team__helper", "workspace/Team/other")
	out, code := a.Run("run", "note", "--text", "x")
	if code == 0 || strings.Contains(strings.Join(a.Notes(), "\n"), "stolen") {
		t.Errorf("run: exit %d, %s; notes %q", code, out, a.Notes())
	}
}

// A workspace that is replaced after it was trusted, by a link or another folder, is not
// trusted any more by a running server.
func TestTrustOfAReplacedWorkspace(t *testing.T) {
	t.Parallel()
	for _, replace := range map[string]func(a *lab.Account) error{
		"by a link":         func(a *lab.Account) error { return os.Symlink(filepath.Join(a.Home, "evil"), a.Workspace) },
		"by another folder": func(a *lab.Account) error { return os.Rename(filepath.Join(a.Home, "evil"), a.Workspace) },
	} {
		a := lab.NativeAccount(t, "")
		a.Theirs("note", a.Workspace, ".claude", "skills")
		a.Theirs("note", a.Home, "evil", ".claude", "skills")
		if screen, code := a.Terminal("yes", "trust", a.Workspace); code != 0 {
			t.Fatalf("trust: exit %d\n%s", code, screen)
		}
		c := a.Serve("legacy", `{}`)
		c.Sees("note", "!workspace/note")
		if err := os.Rename(a.Workspace, filepath.Join(a.Home, "aside")); err != nil {
			t.Fatal(err)
		}
		if err := replace(a); err != nil {
			t.Fatal(err)
		}
		c.Call("note", lab.Text("x")) // which rescans, whatever has become of its file
		c.Sees("workspace/note")
		if strings.Contains(strings.Join(a.Notes(), "\n"), "stolen") {
			t.Errorf("notes %q", a.Notes())
		}
	}
}

// A skill that was there when the person trusted the workspace gets its variables. One that
// comes later, as with a git pull, is a question first, and so is one that was changed.
func TestTrustOfLaterSkills(t *testing.T) {
	t.Parallel()
	a := lab.NativeAccount(t, "sandbox: {env: [TOKEN=T0K]}\n"+lab.AllForms)
	a.Wants("first", "sandbox: {env: [TOKEN]}")
	a.Wants("plain", "")
	c := a.Serve("modern", `{"elicitation":{}}`)
	run := func(name, argument string) (string, map[string]any) {
		return "run_skill", map[string]any{"name": name, "params": lab.Text(argument)}
	}
	c.Succeeds(c.Call(run("first", "x")), "token=")
	if screen, code := a.Terminal("yes", "trust", a.Workspace); code != 0 || !strings.Contains(screen, "reads the variables TOKEN") {
		t.Fatalf("trust: exit %d\n%s", code, screen)
	}
	c.Succeeds(c.Call(run("first", "x")), "token=T0K")
	c.Succeeds(c.Call(run("plain", "x")), "token=")

	a.Wants("later", "sandbox: {env: [TOKEN]}")
	a.Wants("plain", "sandbox: {env: [TOKEN]}")
	other := a.Serve("legacy", `{}`)
	c.Call("reload_skills", map[string]any{})
	for _, name := range []string{"later", "plain"} {
		other.Waits(other.Call(run(name, "x")))
		asked := c.Call(run(name, "y"))
		if asked.Asked == nil || !strings.Contains(asked.Asked.Message, "+ reads the variable TOKEN") {
			t.Fatalf("%s: no question: %+v %s", name, asked.Asked, asked.Text())
		}
		c.Fails(c.Choose(asked, "no"), "APPROVAL_REQUIRED")
		c.Succeeds(c.Choose(c.Call(run(name, "z")), "once"), "token=T0K")
		c.Succeeds(c.Call(run(name, "again")), "token=T0K")
	}
	c.Succeeds(c.Call(run("first", "x")), "token=T0K")
}
