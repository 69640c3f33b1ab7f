package consent

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skillsmcp/skills-mcp/integration/lab"
)

// curlAccount returns an account with the instructions of two skills, each with a host.
// The person's rules alone let them connect.
func curlAccount(t *testing.T, driver, more string) (a *lab.Account, weather, tides *lab.TlsHost) {
	t.Helper()
	weather, tides = lab.NewTLSHost(t), lab.NewTLSHost(t)
	a = lab.NewAccount(t, driver, fmt.Sprintf(`
sandbox: {network: {private: [127.0.0.0/8]}}
policy:
  skills:
    weather: {network: [%q]}
    tides: {network: [%q]}
`, weather.Address, tides.Address)+more)
	a.Instructions("weather", weather.Address)
	a.Instructions("tides", tides.Address)
	lab.WriteFile(t, filepath.Join(a.Workspace, "authority.pem"), weather.Authority+tides.Authority)
	return a, weather, tides
}

// curl returns the arguments of run_code for a command of a skill's instructions.
func curl(skill string, host *lab.TlsHost, city string) map[string]any {
	return map[string]any{"language": "bash", "skill": skill, "code": "curl -fsS --cacert /workspace/authority.pem https://" + host.Address + "/" + city}
}

// London's weather: the instructions say curl, the client has no shell, and the person
// confirms once.
func TestInstructionsWithCurl(t *testing.T) {
	t.Parallel()
	lab.Drivers(t, func(t *testing.T, driver string) {
		for _, era := range []string{"legacy", "modern"} {
			t.Run(era, func(t *testing.T) {
				t.Parallel()
				a, weather, tides := curlAccount(t, driver, "")
				c := a.Serve(era, `{"elicitation":{}}`)
				c.Succeeds(c.Call("load_skill", map[string]any{"name": "weather"}), `run_code, and skill "weather". There they may connect to `+weather.Address)

				asked := c.Call("run_code", curl("weather", weather, "London"))
				if asked.Asked == nil || !strings.HasPrefix(asked.Asked.Message, "weather wants to run code that a model wrote and connect to "+weather.Address) {
					t.Fatalf("the question does not say who wants what: %+v, %s", asked.Asked, asked.Text())
				}
				if whole := `"` + curl("weather", weather, "London")["code"].(string) + `"`; !strings.Contains(asked.Asked.Message, whole) {
					t.Errorf("the code is not whole: %s", asked.Asked.Message)
				}
				if n := weather.Requests.Load(); n != 0 {
					t.Fatalf("%d requests before the yes", n)
				}
				time.Sleep(lab.ReadTime)
				c.Succeeds(c.Choose(asked, "this session"), "London: sunny, 21 °C")
				c.Succeeds(c.Call("run_code", curl("weather", weather, "Oslo")), "Oslo: sunny, 21 °C")
				if n := weather.Requests.Load(); n != 2 {
					t.Errorf("%d requests, want 2", n)
				}

				// The yes is for this skill's host, and for this skill.
				c.Fails(c.Call("run_code", curl("weather", tides, "London")), "EXECUTION_ERROR")
				asked = c.Call("run_code", curl("tides", weather, "London"))
				if asked.Asked == nil || strings.Contains(asked.Asked.Message, weather.Address+`"`) || !strings.Contains(asked.Asked.Message, tides.Address) {
					t.Fatalf("the other skill's question: %+v, %s", asked.Asked, asked.Text())
				}
				time.Sleep(lab.ReadTime)
				c.Fails(c.Choose(asked, "this session"), "EXECUTION_ERROR")
				if n, m := weather.Requests.Load(), tides.Requests.Load(); n != 2 || m != 0 {
					t.Errorf("%d and %d requests, want 2 and 0", n, m)
				}
				c.Succeeds(c.Call("run_code", curl("tides", tides, "Bergen")), "Bergen: sunny, 21 °C")

				out, _ := a.Run("runs", "--json")
				for _, want := range []string{`"skill":"weather"`, `"way":"run_code"`, `"language":"bash"`, "/London\"", weather.Address} {
					if !strings.Contains(out, want) {
						t.Errorf("the record lacks %s: %s", want, out)
					}
				}
			})
		}
	})
}

// A yes for code is for this code, for one call; a yes for the skill's script is for none.
func TestYesForCode(t *testing.T) {
	t.Parallel()
	lab.Drivers(t, func(t *testing.T, driver string) {
		a, weather, _ := curlAccount(t, driver, "    note: {approve: always}\n  forms: all\n")
		a.NoteSkill("note")
		c := a.Serve("legacy", `{"elicitation":{}}`)
		london, oslo := curl("weather", weather, "London"), curl("weather", weather, "Oslo")
		c.Succeeds(c.Choose(c.Call("run_code", london), "once"), "London: sunny")
		for _, args := range []map[string]any{london, oslo} {
			c.Fails(c.Choose(c.Call("run_code", args), "no"))
		}
		if n := weather.Requests.Load(); n != 1 {
			t.Errorf("%d requests, want 1", n)
		}

		c.Succeeds(c.Choose(c.Call("note", lab.Text("one")), "always"), "wrote")
		c.Succeeds(c.Call("note", lab.Text("two")), "wrote")
		asked := c.RunCode("note", "bash", `echo from code >> "$SKILL_WORKSPACE/notes"`)
		if strings.Contains(string(asked.Asked.RequestedSchema), `"always"`) {
			t.Errorf("always is offered for code: %s", asked.Asked.RequestedSchema)
		}
		c.Fails(c.Choose(asked, "no"))
		a.Wrote(2)
		c.Succeeds(c.Choose(c.RunCode("note", "bash", `cat run.sh; touch /skill/x || echo from code >> "$SKILL_WORKSPACE/notes"`), "once"), "")
		a.Wrote(3)

		// On a terminal it is once, too.
		b := a.Serve("legacy", `{}`)
		id := b.Waits(b.Call("run_code", oslo))
		screen, code := a.Terminal("yes", "approve", id)
		if code != 0 || !strings.Contains(screen, weather.Address+"/") {
			t.Fatalf("approve: exit %d\n%s", code, screen)
		}
		b.Waits(b.Call("run_code", london)) // other code
		b.Succeeds(b.Call("run_code", oslo), "Oslo: sunny")
		b.Waits(b.Call("run_code", oslo)) // a replay
	})
}

// Code is refused as the skill's own call is, and where the person has given the skill
// nothing.
func TestCodeIsRefused(t *testing.T) {
	t.Parallel()
	lab.Requires(t, "SKILLS_MCP_REQUIRE_SANDBOX", lab.CheckNative(t.Context()))
	a, weather, _ := curlAccount(t, "native", `    off: {network: ["example.com:443"], enabled: false}
    hidden: {network: ["example.com:443"]}
    stranger: {network: ["example.com:443"]}
  deny: [denied]
  forms: all
`)
	for _, name := range []string{"off", "denied", "plain"} {
		a.Instructions(name, "example.com")
	}
	a.Skill("hidden/SKILL.md", "---\nname: hidden\ndescription: Hides.\ndisable-model-invocation: true\n---\ncurl\n")
	lab.WriteFile(a.T, filepath.Join(a.Workspace, ".claude", "skills", "stranger", "SKILL.md"), "---\nname: stranger\ndescription: A repository's.\n---\ncurl\n")
	c := a.Serve("legacy", `{"elicitation":{}}`)
	for _, name := range []string{"off", "denied", "hidden", "wether"} {
		want := c.Call("run_skill", map[string]any{"name": name})
		c.Fails(want, name)
		c.Fails(c.RunCode(name, "bash", "true"), want.Text())
	}
	c.Fails(c.RunCode("wether", "bash", "true"), "NOT_FOUND", "weather")
	for _, name := range []string{"plain", "stranger"} {
		c.Fails(c.RunCode(name, "bash", "true"), "PERMISSION_DENIED: the person has given skill "+name+" nothing")
		if got := c.Call("load_skill", map[string]any{"name": name}); strings.Contains(got.Text(), "run_code") {
			t.Errorf("the instructions name run_code: %s", got.Text())
		}
	}
	c.Fails(c.Call("run_code", map[string]any{"language": "bash", "code": "true"}), "PERMISSION_DENIED", "name the one whose instructions you follow")
	c.Fails(c.RunCode("weather", "bash", "a\x00b"), "INVALID_PARAM", "NUL")
	c.Fails(c.RunCode("weather", "perl", "1"), "INVALID_PARAM")
	c.Fails(c.RunCode("weather", "bash", strings.Repeat("#", 1<<20+1)), "INVALID_PARAM", "1048577 bytes")
	c.Fails(c.RunCode("weather", "bash", strings.Repeat("#", 1<<20)), "INVALID_PARAM", "all of it")

	// Options of the interpreters are arguments of the code.
	for language, code := range map[string]string{"bash": `printf '%s|' "$@"`, "python": `import sys; print("|".join(sys.argv[1:]), end="|")`} {
		c.Succeeds(c.Choose(c.RunCode("weather", language, code, "-c", "echo no", "--eval"), "once"), "-c|echo no|--eval|")
	}
	if n := weather.Requests.Load(); n != 0 {
		t.Errorf("%d requests", n)
	}
}

// TypeScript runs where Node can take types away; elsewhere the error names its version.
func TestTypeScript(t *testing.T) {
	t.Parallel()
	lab.Drivers(t, func(t *testing.T, driver string) {
		c, _ := connectWith(t, driver, "tools: {run_code: true}\n")
		code := "interface City { name: string }\nconst city: City = {name: process.argv[2]}\nconsole.log(`${city.name as string}`, require('fs').readFileSync(0).length)\nprocess.exit(7)"
		_, result := c.Call("run_code", map[string]any{"language": "typescript", "code": code, "args": []string{"--eval"}})
		got := structured(result.StructuredContent)
		if text := fmt.Sprint(got["stderr"]); strings.Contains(text, "node: not found") || strings.Contains(text, "TypeScript needs Node 22.13 or later, and here is ") {
			t.Logf("an old Node, or none: %s", text)
			return
		}
		if got["stdout"] != "--eval 0\n" || got["exit_code"] != 7.0 {
			t.Errorf("%v", got)
		}
	})
}

// Who grants a skill something gives running clients run_code, and takes it with the grant.
func TestGrantOffersCode(t *testing.T) {
	t.Parallel()
	lab.Requires(t, "SKILLS_MCP_REQUIRE_SANDBOX", lab.CheckNative(t.Context()))
	a := lab.NewAccount(t, "native", "")
	a.Instructions("weather", "example.com")
	a.Instructions("tides", "example.com")
	c := a.Serve("legacy", `{}`)
	offers := func(want bool) {
		t.Helper()
		for skill, want := range map[string]bool{"weather": want, "tides": false} {
			loaded := c.Call("load_skill", map[string]any{"name": skill})
			if got := strings.Contains(loaded.Text(), `run_code, and skill "`+skill+`"`); got != want || loaded.Error != nil {
				t.Errorf("the instructions of %s name run_code: %t, %s", skill, got, loaded.Text())
			}
		}
		c.Sent++
		c.Send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/list"}`, c.Sent))
		listed := c.Next(lab.ToolCall{})
		if got := slices.ContainsFunc(listed.Result.Tools, func(tool struct{ Name string }) bool { return tool.Name == "run_code" }); got != want || len(listed.Result.Tools) < 5 {
			t.Errorf("run_code is listed: %t, among %d tools", got, len(listed.Result.Tools))
		}
	}
	offers(false)
	if r := c.RunCode("weather", "bash", "true"); r.Error == nil {
		t.Errorf("run_code answers: %s", r.Text())
	}
	if screen, code := a.Terminal("yes", "grant", "weather", "--network", "example.com:443"); code != 0 {
		t.Fatalf("grant: exit %d\n%s", code, screen)
	}
	offers(true)
	c.Waits(c.RunCode("weather", "bash", "true"))
	c.Fails(c.RunCode("tides", "bash", "true"), "PERMISSION_DENIED")
	if out, code := a.Run("grant", "weather", "--remove"); code != 0 {
		t.Fatalf("grant --remove: exit %d\n%s", code, out)
	}
	offers(false)
}
