package integration

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// otherServer makes the home of another server, with a skill that has a script, and
// returns it with the address of a program that serves it.
func (a *account) otherServer() (home string, address []string) {
	a.t.Helper()
	home = a.t.TempDir()
	a.otherSkill(home, "Say the magic word.")
	return home, []string{"mcp+stdio:/usr/bin/env", "-i", "PATH=" + os.Getenv("PATH"), "HOME=" + home, binary, "serve"}
}

// otherSkill writes the skill of another server.
func (a *account) otherSkill(home, body string) {
	a.t.Helper()
	dir := filepath.Join(home, ".claude", "skills", "greeter")
	writeFile(a.t, filepath.Join(dir, "SKILL.md"), "---\nname: greeter\ndescription: Greets people by their name.\nallowed-tools: Bash\n---\n"+body+"\n")
	writeFile(a.t, filepath.Join(dir, "scripts", "greet.sh"), "#!/bin/sh\necho greetings from afar\n")
}

// cached returns the files that were fetched from servers.
func (a *account) cached() []string {
	a.t.Helper()
	found, err := filepath.Glob(filepath.Join(a.home, ".local", "state", "skills-mcp", "mcp", "*", "files", "*"))
	if err != nil {
		a.t.Fatal(err)
	}
	return found
}

// A skill of another server is listed once the person has connected it, fetched once they
// have said yes to it, and asked about again once it has changed. It goes with its server.
func TestConnectedServer(t *testing.T) {
	t.Parallel()
	for _, generation := range []string{"legacy", "modern"} {
		t.Run(generation, func(t *testing.T) {
			a := nativeAccount(t, allForms)
			home, address := a.otherServer()
			connect := append([]string{"connect-server", "afar"}, address...)
			if out, code := a.run(connect...); code == 0 || !strings.Contains(out, "no terminal") {
				t.Fatalf("without a terminal: exit %d, %s", code, out)
			}
			screen, code := a.terminal("yes", connect...)
			if code != 0 || !strings.Contains(screen, "it runs outside of any sandbox, as you") {
				t.Fatalf("exit %d\n%s", code, screen)
			}
			if listed, _ := a.run("connect-server", "--list"); !strings.Contains(listed, "afar") {
				t.Errorf("the list has %s", listed)
			}
			c := a.serve(generation, `{"elicitation":{}}`)
			c.sees("afar/greeter", "!greeter")
			c.fails(c.call("run_skill", map[string]any{"name": "afar/greeter__greet", "params": map[string]any{}}))
			load := map[string]any{"name": "afar/greeter"}
			r := c.call("load_skill", load)
			if r.asked == nil || !strings.Contains(r.asked.Message, "skill of another MCP server") {
				t.Fatalf("no question: %+v", r)
			}
			c.fails(c.choose(r, "no"), "the person said no")
			c.fails(c.call("load_skill", load), "not asked about the same call again") // by this client
			c = a.serve(generation, `{"elicitation":{}}`)
			c.sees("afar/greeter")
			if files := a.cached(); len(files) > 0 {
				t.Errorf("fetched without a yes: %q", files)
			}
			c.succeeds(c.choose(c.call("load_skill", load), "once"), "Say the magic word.")
			if files := a.cached(); len(files) != 2 {
				t.Errorf("fetched %q", files)
			}
			c.succeeds(c.call("load_skill", load), "Say the magic word.") // nothing is asked
			c.succeeds(c.call("run_skill", map[string]any{"name": "afar/greeter__greet", "params": map[string]any{}}), "greetings from afar")

			a.otherSkill(home, "Say another word.")
			c.call("reload_skills", map[string]any{})
			for r = c.call("load_skill", load); r.asked == nil; r = c.call("load_skill", load) {
				if !strings.Contains(r.text(), "magic word") { // until the server was asked
					t.Fatalf("a change is used without a yes: %s", r.text())
				}
			}
			c.succeeds(c.choose(r, "once"), "Say another word.")

			if out, code := a.run("disconnect-server", "afar"); code != 0 {
				t.Fatal(out)
			}
			if left, _ := filepath.Glob(filepath.Join(a.home, ".local", "state", "skills-mcp", "mcp", "*")); len(left) > 0 {
				t.Errorf("left behind: %q", left)
			}
			c.call("reload_skills", map[string]any{})
			c.sees("!afar/greeter")
		})
	}
}

// Over HTTP, to a client that cannot ask, and offline: the person answers on a terminal,
// and what is listed and fetched stays usable without the server.
func TestConnectedServerOffline(t *testing.T) {
	t.Parallel()
	a := nativeAccount(t, "")
	home, _ := a.otherServer()
	url, stop := serveHTTP(t, []string{"HOME=" + home, "XDG_STATE_HOME=" + home})
	if screen, code := a.terminal("yes", "connect-server", "afar", "mcp+"+url+"/mcp"); code != 0 {
		t.Fatalf("exit %d\n%s", code, screen)
	}
	c := a.serve("modern", `{}`)
	load := map[string]any{"name": "afar/greeter"}
	id := c.waits(c.call("load_skill", load))
	a.approve(id)
	c.succeeds(c.call("load_skill", load), "Say the magic word.")
	writeFile(t, filepath.Join(home, ".claude", "skills", "fresh", "SKILL.md"), "---\nname: fresh\ndescription: Is new.\n---\nText.\n")
	// The server gives notice of it. Its listing is good for a minute.
	for deadline := time.Now().Add(40 * time.Second); !strings.Contains(c.call("list_skills", map[string]any{}).text(), "afar/fresh"); {
		if time.Now().After(deadline) {
			t.Fatal("a new skill of the server is not seen")
		}
	}
	stop()
	again := a.serve("modern", `{}`)
	again.succeeds(again.call("load_skill", load), "Say the magic word.")
	other := again.call("load_skill", map[string]any{"name": "afar/code-complexity"})
	a.approve(again.waits(other))
	again.fails(again.call("load_skill", map[string]any{"name": "afar/code-complexity"}), "cannot be fetched from its MCP server now")
}
