package clients

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skillsmcp/skills-mcp/integration/lab"
)

// A skill of another server is listed once the person has connected it, fetched once they
// have said yes to it, and asked about again once it has changed. It goes with its server.
func TestConnectedServer(t *testing.T) {
	t.Parallel()
	for _, generation := range []string{"legacy", "modern"} {
		t.Run(generation, func(t *testing.T) {
			a := lab.NativeAccount(t, lab.AllForms)
			home, address := a.OtherServer()
			connect := append([]string{"connect-server", "afar"}, address...)
			if out, code := a.Run(connect...); code == 0 || !strings.Contains(out, "no terminal") {
				t.Fatalf("without a terminal: exit %d, %s", code, out)
			}
			screen, code := a.Terminal("yes", connect...)
			if code != 0 || !strings.Contains(screen, "it runs outside of any sandbox, as you") {
				t.Fatalf("exit %d\n%s", code, screen)
			}
			if listed, _ := a.Run("connect-server", "--list"); !strings.Contains(listed, "afar") {
				t.Errorf("the list has %s", listed)
			}
			c := a.Serve(generation, `{"elicitation":{}}`)
			c.Sees("afar/greeter", "!greeter")
			c.Fails(c.Call("run_skill", map[string]any{"name": "afar/greeter__greet", "params": map[string]any{}}))
			load := map[string]any{"name": "afar/greeter"}
			r := c.Call("load_skill", load)
			if r.Asked == nil || !strings.Contains(r.Asked.Message, "skill of another MCP server") {
				t.Fatalf("no question: %+v", r)
			}
			c.Fails(c.Choose(r, "no"), "the person said no")
			c.Fails(c.Call("load_skill", load), "not asked about the same call again") // by this client
			c = a.Serve(generation, `{"elicitation":{}}`)
			c.Sees("afar/greeter")
			if files := a.Cached(); len(files) > 0 {
				t.Errorf("fetched without a yes: %q", files)
			}
			c.Succeeds(c.Choose(c.Call("load_skill", load), "once"), "Say the magic word.")
			if files := a.Cached(); len(files) != 2 {
				t.Errorf("fetched %q", files)
			}
			c.Succeeds(c.Call("load_skill", load), "Say the magic word.") // nothing is asked
			c.Succeeds(c.Call("run_skill", map[string]any{"name": "afar/greeter__greet", "params": map[string]any{}}), "greetings from afar")

			a.OtherSkill(home, "Say another word.")
			c.Call("reload_skills", map[string]any{})
			for r = c.Call("load_skill", load); r.Asked == nil; r = c.Call("load_skill", load) {
				if !strings.Contains(r.Text(), "magic word") { // until the server was asked
					t.Fatalf("a change is used without a yes: %s", r.Text())
				}
			}
			c.Succeeds(c.Choose(r, "once"), "Say another word.")

			if out, code := a.Run("disconnect-server", "afar"); code != 0 {
				t.Fatal(out)
			}
			if left, _ := filepath.Glob(filepath.Join(a.Home, ".local", "state", "skills-mcp", "mcp", "*")); len(left) > 0 {
				t.Errorf("left behind: %q", left)
			}
			c.Call("reload_skills", map[string]any{})
			c.Sees("!afar/greeter")
		})
	}
}

// Over HTTP, to a client that cannot ask, and offline: the person answers on a terminal,
// and what is listed and fetched stays usable without the server.
func TestConnectedServerOffline(t *testing.T) {
	t.Parallel()
	a := lab.NativeAccount(t, "")
	home, _ := a.OtherServer()
	url, stop := lab.ServeHTTP(t, []string{"HOME=" + home, "XDG_STATE_HOME=" + home})
	if screen, code := a.Terminal("yes", "connect-server", "afar", "mcp+"+url+"/mcp"); code != 0 {
		t.Fatalf("exit %d\n%s", code, screen)
	}
	c := a.Serve("modern", `{}`)
	load := map[string]any{"name": "afar/greeter"}
	id := c.Waits(c.Call("load_skill", load))
	a.Approve(id)
	c.Succeeds(c.Call("load_skill", load), "Say the magic word.")
	lab.WriteFile(t, filepath.Join(home, ".claude", "skills", "fresh", "SKILL.md"), "---\nname: fresh\ndescription: Is new.\n---\nText.\n")
	// The server gives notice of it. Its listing is good for a minute.
	for deadline := time.Now().Add(40 * time.Second); !strings.Contains(c.Call("list_skills", map[string]any{}).Text(), "afar/fresh"); {
		if time.Now().After(deadline) {
			t.Fatal("a new skill of the server is not seen")
		}
	}
	stop()
	again := a.Serve("modern", `{}`)
	again.Succeeds(again.Call("load_skill", load), "Say the magic word.")
	other := again.Call("load_skill", map[string]any{"name": "afar/code-complexity"})
	a.Approve(again.Waits(other))
	again.Fails(again.Call("load_skill", map[string]any{"name": "afar/code-complexity"}), "cannot be fetched from its MCP server now")
}
