package integration

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A prompt is a text that a program shows on a terminal, and what the person types then.
// The number that the text asks for is $1.
type prompt struct{ shown, typed string }

// The prompts of skills-mcp.
var (
	number     = prompt{`Type (\d+) to [^:]*anything else to leave it: `, "$1"}
	passphrase = func(text string) prompt { return prompt{`Passphrase: `, text} }
)

// dialogue runs skills-mcp on a terminal, and types something at each prompt.
func (a *account) dialogue(prompts []prompt, args ...string) (screen string, code int) {
	a.t.Helper()
	cmd := a.command(binary, args...)
	person := a.attach(cmd)
	defer person.Close()
	seen := 0
	for chunk := make([]byte, 4096); ; {
		n, err := person.Read(chunk)
		screen += string(chunk[:n])
		if page := strings.LastIndex(screen, "type q to leave it: "); page >= seen {
			fmt.Fprintln(person)
			seen = len(screen)
		}
		for len(prompts) > 0 {
			pattern := regexp.MustCompile(prompts[0].shown)
			match := pattern.FindStringSubmatchIndex(screen[seen:])
			if match == nil {
				break
			}
			fmt.Fprintf(person, "%s\n", pattern.ExpandString(nil, prompts[0].typed, screen[seen:], match))
			seen += match[1]
			prompts = prompts[1:]
		}
		if err != nil {
			break // a terminal without a program is an error
		}
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); err != nil && !errors.As(err, &exit) {
		a.t.Fatal(err)
	}
	return screen, cmd.ProcessState.ExitCode()
}

// hash returns the hash of a new passphrase.
func (a *account) hash(text string) string {
	a.t.Helper()
	screen, code := a.dialogue([]prompt{{`New passphrase: `, text}, {`(?i)again: `, text}}, "approve", "--new-passphrase")
	lines := strings.Fields(screen)
	if code != 0 || len(lines) == 0 {
		a.t.Fatalf("exit %d: %s", code, screen)
	}
	return lines[len(lines)-1]
}

// Two signatures are of two people: whoever answered the client's form is the person at
// the terminal, too.
func TestOwnSecondSignature(t *testing.T) {
	t.Parallel()
	a := nativeAccount(t, "")
	a.configure(fmt.Sprintf("policy: {forms: all, mode: dual-sign, approvers: {bea: %q}}\n", a.hash("hers is long enough")))
	c := a.serve("modern", `{"elicitation":{}}`)
	id := c.waits(c.choose(c.call("note", text("one")), "once"))

	other := a.serve("legacy", `{"elicitation":{}}`)
	again := other.call("note", text("one"))
	if again.asked != nil {
		again = other.choose(again, "once")
	}
	other.fails(again, "APPROVAL_REQUIRED")
	for name, attempt := range map[string]struct {
		prompts []prompt
		args    []string
	}{
		"the same person":          {[]prompt{number}, nil},
		"a second without a name":  {[]prompt{number, passphrase("hers is long enough")}, nil},
		"a name nobody has":        {[]prompt{number, passphrase("hers is long enough")}, []string{"--as", "root"}},
		"a wrong passphrase":       {[]prompt{number, passphrase("mine")}, []string{"--as", "bea"}},
		"the hash as a passphrase": {[]prompt{number, passphrase(a.hash("x is long enough"))}, []string{"--as", "bea"}},
		"a script":                 {nil, []string{"--yes"}},
		"a script of her":          {nil, []string{"--yes", "--as", "bea"}},
	} {
		t.Run(name, func(t *testing.T) {
			if screen, code := a.dialogue(attempt.prompts, append([]string{"approve", id}, attempt.args...)...); code == 0 {
				t.Errorf("exit 0: %s", screen)
			}
		})
	}
	c.waits(c.call("note", text("one")))
	a.wrote(0)

	if screen, code := a.dialogue([]prompt{number, passphrase("hers is long enough")}, "approve", id, "--as", "bea"); code != 0 {
		t.Fatalf("exit %d: %s", code, screen)
	}
	c.succeeds(c.call("note", text("one")), "wrote")
	a.wrote(1)
	next := c.call("note", text("one"))
	if next.asked == nil {
		c.waits(next)
	}
	a.wrote(1)
}

// With a passphrase, reading the number and typing it is not enough: a model that has a
// terminal cannot approve. A script can, with its token.
func TestPassphrase(t *testing.T) {
	t.Parallel()
	a := nativeAccount(t, "")
	a.configure(fmt.Sprintf("policy: {passphrase: %q, script_token: %q}\n", a.hash("mine is long enough"), a.hash("the token of a script")))
	a.noteSkill("other")
	writeFile(t, filepath.Join(a.workspace, ".claude", "skills", "theirs", "SKILL.md"), "---\nname: theirs\ndescription: d\n---\n")
	if out, code := a.run("disable", "other"); code != 0 {
		t.Fatal(out)
	}
	c := a.serve("legacy", `{}`)
	id := c.waits(c.call("note", text("one")))
	for name, prompts := range map[string][]prompt{
		"the number alone":    {number, passphrase("")},
		"a wrong passphrase":  {number, passphrase("guess")},
		"the token":           {number, passphrase("the token of a script")},
		"the number a second": {number, {`Passphrase: `, "$0"}},
	} {
		t.Run(name, func(t *testing.T) {
			if screen, code := a.dialogue(prompts, "approve", id); code == 0 {
				t.Errorf("approve: exit 0: %s", screen)
			}
			for _, args := range [][]string{
				{"run", "note", "--text", "one"}, {"grant", "note", "--network", "example.com:443"}, {"trust", a.workspace}, {"enable", "other"},
			} {
				if screen, code := a.dialogue(prompts, args...); code == 0 {
					t.Errorf("%v: exit 0: %s", args, screen)
				}
			}
		})
	}
	for _, token := range []string{"", "guess", "mine is long enough"} {
		cmd := a.command(binary, "approve", id, "--yes")
		cmd.Env = append(cmd.Env, "SKILLS_MCP_APPROVAL_TOKEN="+token)
		if out, code := a.finish(cmd); code == 0 {
			t.Errorf("the token %q: exit 0: %s", token, out)
		}
	}
	c.waits(c.call("note", text("one")))
	a.wrote(0)

	cmd := a.command(binary, "approve", id, "--yes")
	cmd.Env = append(cmd.Env, "SKILLS_MCP_APPROVAL_TOKEN=the token of a script")
	if out, code := a.finish(cmd); code != 0 {
		t.Fatalf("the token: exit %d: %s", code, out)
	}
	c.succeeds(c.call("note", text("one")), "wrote")
	id = c.waits(c.call("note", text("two")))
	if screen, code := a.dialogue([]prompt{number, passphrase("mine is long enough")}, "approve", id); code != 0 {
		t.Fatalf("the passphrase: exit %d: %s", code, screen)
	}
	c.succeeds(c.call("note", text("two")), "wrote")
	a.wrote(2)
}

// A configuration of the model's own proves nothing about questions that were asked under
// the person's, named by a flag, a variable or another folder of configurations.
func TestModelsOwnConfiguration(t *testing.T) {
	t.Parallel()
	for name, own := range map[string]string{"no passphrases": "", "a passphrase": "mine is long enough"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := nativeAccount(t, "")
			hash, others := a.hash("the model's own"), ""
			if own != "" {
				others = fmt.Sprintf("policy: {passphrase: %q}\n", a.hash(own))
			}
			a.configure(others)
			c := a.serve("legacy", `{}`)
			id := c.waits(c.call("note", text("one")))
			evil := filepath.Join(a.home, "evil", "skills-mcp", "config.yaml")
			writeFile(t, evil, fmt.Sprintf("policy: {passphrase: %q, script_token: %q, approvers: {bea: %q}}\n", hash, hash, hash))

			for _, attempt := range []struct{ args, env []string }{
				{[]string{"--config", evil, "approve", id, "--yes"}, nil},
				{[]string{"approve", id, "--yes"}, []string{"SKILLS_MCP_CONFIG=" + evil}},
				{[]string{"approve", id, "--yes"}, []string{"XDG_CONFIG_HOME=" + filepath.Join(a.home, "evil")}},
			} {
				cmd := a.command(binary, attempt.args...)
				cmd.Env = append(append(cmd.Env, "SKILLS_MCP_APPROVAL_TOKEN=the model's own"), attempt.env...)
				if out, code := a.finish(cmd); code == 0 {
					t.Errorf("%v %v: exit 0: %s", attempt.env, attempt.args, out)
				}
			}
			for _, as := range [][]string{nil, {"--as", "bea"}} {
				if screen, code := a.dialogue([]prompt{number, passphrase("the model's own")}, append([]string{"--config", evil, "approve", id}, as...)...); code == 0 {
					t.Errorf("%v: exit 0: %s", as, screen)
				}
			}
			c.waits(c.call("note", text("one")))
			a.wrote(0)
		})
	}
}
