package consent

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/skillsmcp/skills-mcp/integration/lab"
)

// The prompts of skills-mcp.
var (
	number     = lab.Prompt{Shown: `Type (\d+) to [^:]*anything else to leave it: `, Typed: "$1"}
	passphrase = func(text string) lab.Prompt { return lab.Prompt{Shown: `Passphrase: `, Typed: text} }
)

// Two signatures are of two people: whoever answered the client's form is the person at
// the terminal, too.
func TestOwnSecondSignature(t *testing.T) {
	t.Parallel()
	a := lab.NativeAccount(t, "")
	a.Configure(fmt.Sprintf("policy: {forms: all, mode: dual-sign, approvers: {bea: %q}}\n", a.Hash("hers is long enough")))
	c := a.Serve("modern", `{"elicitation":{}}`)
	id := c.Waits(c.Choose(c.Call("note", lab.Text("one")), "once"))

	other := a.Serve("legacy", `{"elicitation":{}}`)
	again := other.Call("note", lab.Text("one"))
	if again.Asked != nil {
		again = other.Choose(again, "once")
	}
	other.Fails(again, "APPROVAL_REQUIRED")
	for name, attempt := range map[string]struct {
		prompts []lab.Prompt
		args    []string
	}{
		"the same person":          {[]lab.Prompt{number}, nil},
		"a second without a name":  {[]lab.Prompt{number, passphrase("hers is long enough")}, nil},
		"a name nobody has":        {[]lab.Prompt{number, passphrase("hers is long enough")}, []string{"--as", "root"}},
		"a wrong passphrase":       {[]lab.Prompt{number, passphrase("mine")}, []string{"--as", "bea"}},
		"the hash as a passphrase": {[]lab.Prompt{number, passphrase(a.Hash("x is long enough"))}, []string{"--as", "bea"}},
		"a script":                 {nil, []string{"--yes"}},
		"a script of her":          {nil, []string{"--yes", "--as", "bea"}},
	} {
		t.Run(name, func(t *testing.T) {
			if screen, code := a.Dialogue(attempt.prompts, append([]string{"approve", id}, attempt.args...)...); code == 0 {
				t.Errorf("exit 0: %s", screen)
			}
		})
	}
	c.Waits(c.Call("note", lab.Text("one")))
	a.Wrote(0)

	if screen, code := a.Dialogue([]lab.Prompt{number, passphrase("hers is long enough")}, "approve", id, "--as", "bea"); code != 0 {
		t.Fatalf("exit %d: %s", code, screen)
	}
	c.Succeeds(c.Call("note", lab.Text("one")), "wrote")
	a.Wrote(1)
	next := c.Call("note", lab.Text("one"))
	if next.Asked == nil {
		c.Waits(next)
	}
	a.Wrote(1)
}

// With a passphrase, reading the number and typing it is not enough: a model that has a
// terminal cannot approve. A script can, with its token.
func TestPassphrase(t *testing.T) {
	t.Parallel()
	a := lab.NativeAccount(t, "")
	a.Configure(fmt.Sprintf("policy: {passphrase: %q, script_token: %q}\n", a.Hash("mine is long enough"), a.Hash("the token of a script")))
	a.NoteSkill("other")
	lab.WriteFile(t, filepath.Join(a.Workspace, ".claude", "skills", "theirs", "SKILL.md"), "---\nname: theirs\ndescription: d\n---\n")
	if out, code := a.Run("disable", "other"); code != 0 {
		t.Fatal(out)
	}
	c := a.Serve("legacy", `{}`)
	id := c.Waits(c.Call("note", lab.Text("one")))
	for name, prompts := range map[string][]lab.Prompt{
		"the number alone":    {number, passphrase("")},
		"a wrong passphrase":  {number, passphrase("guess")},
		"the token":           {number, passphrase("the token of a script")},
		"the number a second": {number, {Shown: `Passphrase: `, Typed: "$0"}},
	} {
		t.Run(name, func(t *testing.T) {
			if screen, code := a.Dialogue(prompts, "approve", id); code == 0 {
				t.Errorf("approve: exit 0: %s", screen)
			}
			for _, args := range [][]string{
				{"run", "note", "--text", "one"}, {"grant", "note", "--network", "example.com:443"}, {"trust", a.Workspace}, {"enable", "other"},
			} {
				if screen, code := a.Dialogue(prompts, args...); code == 0 {
					t.Errorf("%v: exit 0: %s", args, screen)
				}
			}
		})
	}
	for _, token := range []string{"", "guess", "mine is long enough"} {
		cmd := a.Command(lab.Binary, "approve", id, "--yes")
		cmd.Env = append(cmd.Env, "SKILLS_MCP_APPROVAL_TOKEN="+token)
		if out, code := a.Finish(cmd); code == 0 {
			t.Errorf("the token %q: exit 0: %s", token, out)
		}
	}
	c.Waits(c.Call("note", lab.Text("one")))
	a.Wrote(0)

	cmd := a.Command(lab.Binary, "approve", id, "--yes")
	cmd.Env = append(cmd.Env, "SKILLS_MCP_APPROVAL_TOKEN=the token of a script")
	if out, code := a.Finish(cmd); code != 0 {
		t.Fatalf("the token: exit %d: %s", code, out)
	}
	c.Succeeds(c.Call("note", lab.Text("one")), "wrote")
	id = c.Waits(c.Call("note", lab.Text("two")))
	if screen, code := a.Dialogue([]lab.Prompt{number, passphrase("mine is long enough")}, "approve", id); code != 0 {
		t.Fatalf("the passphrase: exit %d: %s", code, screen)
	}
	c.Succeeds(c.Call("note", lab.Text("two")), "wrote")
	a.Wrote(2)
}

// A configuration of the model's own proves nothing about questions that were asked under
// the person's, named by a flag, a variable or another folder of configurations.
func TestModelsOwnConfiguration(t *testing.T) {
	t.Parallel()
	for name, own := range map[string]string{"no passphrases": "", "a passphrase": "mine is long enough"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := lab.NativeAccount(t, "")
			hash, others := a.Hash("the model's own"), ""
			if own != "" {
				others = fmt.Sprintf("policy: {passphrase: %q}\n", a.Hash(own))
			}
			a.Configure(others)
			c := a.Serve("legacy", `{}`)
			id := c.Waits(c.Call("note", lab.Text("one")))
			evil := filepath.Join(a.Home, "evil", "skills-mcp", "config.yaml")
			lab.WriteFile(t, evil, fmt.Sprintf("policy: {passphrase: %q, script_token: %q, approvers: {bea: %q}}\n", hash, hash, hash))

			for _, attempt := range []struct{ args, env []string }{
				{[]string{"--config", evil, "approve", id, "--yes"}, nil},
				{[]string{"approve", id, "--yes"}, []string{"SKILLS_MCP_CONFIG=" + evil}},
				{[]string{"approve", id, "--yes"}, []string{"XDG_CONFIG_HOME=" + filepath.Join(a.Home, "evil")}},
			} {
				cmd := a.Command(lab.Binary, attempt.args...)
				cmd.Env = append(append(cmd.Env, "SKILLS_MCP_APPROVAL_TOKEN=the model's own"), attempt.env...)
				if out, code := a.Finish(cmd); code == 0 {
					t.Errorf("%v %v: exit 0: %s", attempt.env, attempt.args, out)
				}
			}
			for _, as := range [][]string{nil, {"--as", "bea"}} {
				if screen, code := a.Dialogue([]lab.Prompt{number, passphrase("the model's own")}, append([]string{"--config", evil, "approve", id}, as...)...); code == 0 {
					t.Errorf("%v: exit 0: %s", as, screen)
				}
			}
			c.Waits(c.Call("note", lab.Text("one")))
			a.Wrote(0)
		})
	}
}
