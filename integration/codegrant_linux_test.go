package integration

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// instructions writes a skill as most are published: a text with commands, and nothing to
// run.
func (a *account) instructions(name, address string) {
	a.t.Helper()
	a.skill(name+"/SKILL.md", `---
name: `+name+`
description: Get the current `+name+` of a place (no API key required).
homepage: https://`+address+`/:help
metadata: {"clawdbot":{"emoji":"🌤️","requires":{"bins":["curl"]}}}
---

# `+name+`

    curl -s "https://`+address+`/London?format=3"
`)
}

// curlAccount returns an account with the instructions of two skills, each with a host.
// The person's rules alone let them connect.
func curlAccount(t *testing.T, driver, more string) (a *account, weather, tides *tlsHost) {
	t.Helper()
	weather, tides = newTLSHost(t), newTLSHost(t)
	a = newAccount(t, driver, fmt.Sprintf(`
sandbox: {network: {private: [127.0.0.0/8]}}
policy:
  skills:
    weather: {network: [%q]}
    tides: {network: [%q]}
`, weather.address, tides.address)+more)
	a.instructions("weather", weather.address)
	a.instructions("tides", tides.address)
	writeFile(t, filepath.Join(a.workspace, "authority.pem"), weather.authority+tides.authority)
	return a, weather, tides
}

// curl returns the arguments of run_code for a command of a skill's instructions.
func curl(skill string, host *tlsHost, city string) map[string]any {
	return map[string]any{"language": "bash", "skill": skill, "code": "curl -fsS --cacert /workspace/authority.pem https://" + host.address + "/" + city}
}

// runCode calls run_code with the code of a language, for a skill.
func (c *toolClient) runCode(skill, language, code string, args ...string) reply {
	c.t.Helper()
	return c.call("run_code", map[string]any{"language": language, "skill": skill, "code": code, "args": append([]string{}, args...)})
}

// London's weather: the instructions say curl, the client has no shell, and the person
// confirms once.
func TestInstructionsWithCurl(t *testing.T) {
	t.Parallel()
	drivers(t, func(t *testing.T, driver string) {
		for _, era := range []string{"legacy", "modern"} {
			t.Run(era, func(t *testing.T) {
				t.Parallel()
				a, weather, tides := curlAccount(t, driver, "")
				c := a.serve(era, `{"elicitation":{}}`)
				c.succeeds(c.call("load_skill", map[string]any{"name": "weather"}), `run_code, and skill "weather". There they may connect to `+weather.address)

				asked := c.call("run_code", curl("weather", weather, "London"))
				if asked.asked == nil || !strings.HasPrefix(asked.asked.Message, "weather wants to run code that a model wrote and connect to "+weather.address) {
					t.Fatalf("the question does not say who wants what: %+v, %s", asked.asked, asked.text())
				}
				if whole := `"` + curl("weather", weather, "London")["code"].(string) + `"`; !strings.Contains(asked.asked.Message, whole) {
					t.Errorf("the code is not whole: %s", asked.asked.Message)
				}
				if n := weather.requests.Load(); n != 0 {
					t.Fatalf("%d requests before the yes", n)
				}
				time.Sleep(readTime)
				c.succeeds(c.choose(asked, "this session"), "London: sunny, 21 °C")
				c.succeeds(c.call("run_code", curl("weather", weather, "Oslo")), "Oslo: sunny, 21 °C")
				if n := weather.requests.Load(); n != 2 {
					t.Errorf("%d requests, want 2", n)
				}

				// The yes is for this skill's host, and for this skill.
				c.fails(c.call("run_code", curl("weather", tides, "London")), "EXECUTION_ERROR")
				asked = c.call("run_code", curl("tides", weather, "London"))
				if asked.asked == nil || strings.Contains(asked.asked.Message, weather.address+`"`) || !strings.Contains(asked.asked.Message, tides.address) {
					t.Fatalf("the other skill's question: %+v, %s", asked.asked, asked.text())
				}
				time.Sleep(readTime)
				c.fails(c.choose(asked, "this session"), "EXECUTION_ERROR")
				if n, m := weather.requests.Load(), tides.requests.Load(); n != 2 || m != 0 {
					t.Errorf("%d and %d requests, want 2 and 0", n, m)
				}
				c.succeeds(c.call("run_code", curl("tides", tides, "Bergen")), "Bergen: sunny, 21 °C")

				out, _ := a.run("runs", "--json")
				for _, want := range []string{`"skill":"weather"`, `"way":"run_code"`, `"language":"bash"`, "/London\"", weather.address} {
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
	drivers(t, func(t *testing.T, driver string) {
		a, weather, _ := curlAccount(t, driver, "    note: {approve: always}\n  forms: all\n")
		a.noteSkill("note")
		c := a.serve("legacy", `{"elicitation":{}}`)
		london, oslo := curl("weather", weather, "London"), curl("weather", weather, "Oslo")
		c.succeeds(c.choose(c.call("run_code", london), "once"), "London: sunny")
		for _, args := range []map[string]any{london, oslo} {
			c.fails(c.choose(c.call("run_code", args), "no"))
		}
		if n := weather.requests.Load(); n != 1 {
			t.Errorf("%d requests, want 1", n)
		}

		c.succeeds(c.choose(c.call("note", text("one")), "always"), "wrote")
		c.succeeds(c.call("note", text("two")), "wrote")
		asked := c.runCode("note", "bash", `echo from code >> "$SKILL_WORKSPACE/notes"`)
		if strings.Contains(string(asked.asked.RequestedSchema), `"always"`) {
			t.Errorf("always is offered for code: %s", asked.asked.RequestedSchema)
		}
		c.fails(c.choose(asked, "no"))
		a.wrote(2)
		c.succeeds(c.choose(c.runCode("note", "bash", `cat run.sh; touch /skill/x || echo from code >> "$SKILL_WORKSPACE/notes"`), "once"), "")
		a.wrote(3)

		// On a terminal it is once, too.
		b := a.serve("legacy", `{}`)
		id := b.waits(b.call("run_code", oslo))
		screen, code := a.terminal("yes", "approve", id)
		if code != 0 || !strings.Contains(screen, weather.address+"/") {
			t.Fatalf("approve: exit %d\n%s", code, screen)
		}
		b.waits(b.call("run_code", london)) // other code
		b.succeeds(b.call("run_code", oslo), "Oslo: sunny")
		b.waits(b.call("run_code", oslo)) // a replay
	})
}

// Code is refused as the skill's own call is, and where the person has given the skill
// nothing.
func TestCodeIsRefused(t *testing.T) {
	t.Parallel()
	need(t, "SKILLS_MCP_REQUIRE_SANDBOX", checkNative(t.Context()))
	a, weather, _ := curlAccount(t, "native", `    off: {network: ["example.com:443"], enabled: false}
    hidden: {network: ["example.com:443"]}
    stranger: {network: ["example.com:443"]}
  deny: [denied]
  forms: all
`)
	for _, name := range []string{"off", "denied", "plain"} {
		a.instructions(name, "example.com")
	}
	a.skill("hidden/SKILL.md", "---\nname: hidden\ndescription: Hides.\ndisable-model-invocation: true\n---\ncurl\n")
	writeFile(a.t, filepath.Join(a.workspace, ".claude", "skills", "stranger", "SKILL.md"), "---\nname: stranger\ndescription: A repository's.\n---\ncurl\n")
	c := a.serve("legacy", `{"elicitation":{}}`)
	for _, name := range []string{"off", "denied", "hidden", "wether"} {
		want := c.call("run_skill", map[string]any{"name": name})
		c.fails(want, name)
		c.fails(c.runCode(name, "bash", "true"), want.text())
	}
	c.fails(c.runCode("wether", "bash", "true"), "NOT_FOUND", "weather")
	for _, name := range []string{"plain", "stranger"} {
		c.fails(c.runCode(name, "bash", "true"), "PERMISSION_DENIED: the person has given skill "+name+" nothing")
		if got := c.call("load_skill", map[string]any{"name": name}); strings.Contains(got.text(), "run_code") {
			t.Errorf("the instructions name run_code: %s", got.text())
		}
	}
	c.fails(c.call("run_code", map[string]any{"language": "bash", "code": "true"}), "PERMISSION_DENIED", "name the one whose instructions you follow")
	c.fails(c.runCode("weather", "bash", "a\x00b"), "INVALID_PARAM", "NUL")
	c.fails(c.runCode("weather", "perl", "1"), "INVALID_PARAM")
	c.fails(c.runCode("weather", "bash", strings.Repeat("#", 1<<20+1)), "INVALID_PARAM", "1048577 bytes")
	c.fails(c.runCode("weather", "bash", strings.Repeat("#", 1<<20)), "INVALID_PARAM", "all of it")

	// Options of the interpreters are arguments of the code.
	for language, code := range map[string]string{"bash": `printf '%s|' "$@"`, "python": `import sys; print("|".join(sys.argv[1:]), end="|")`} {
		c.succeeds(c.choose(c.runCode("weather", language, code, "-c", "echo no", "--eval"), "once"), "-c|echo no|--eval|")
	}
	if n := weather.requests.Load(); n != 0 {
		t.Errorf("%d requests", n)
	}
}

// TypeScript runs where Node can take types away; elsewhere the error names its version.
func TestTypeScript(t *testing.T) {
	t.Parallel()
	drivers(t, func(t *testing.T, driver string) {
		c, _ := connectWith(t, driver, "tools: {run_code: true}\n")
		code := "interface City { name: string }\nconst city: City = {name: process.argv[2]}\nconsole.log(`${city.name as string}`, require('fs').readFileSync(0).length)\nprocess.exit(7)"
		_, result := c.call("run_code", map[string]any{"language": "typescript", "code": code, "args": []string{"--eval"}})
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
	need(t, "SKILLS_MCP_REQUIRE_SANDBOX", checkNative(t.Context()))
	a := newAccount(t, "native", "")
	a.instructions("weather", "example.com")
	a.instructions("tides", "example.com")
	c := a.serve("legacy", `{}`)
	offers := func(want bool) {
		t.Helper()
		for skill, want := range map[string]bool{"weather": want, "tides": false} {
			loaded := c.call("load_skill", map[string]any{"name": skill})
			if got := strings.Contains(loaded.text(), `run_code, and skill "`+skill+`"`); got != want || loaded.Error != nil {
				t.Errorf("the instructions of %s name run_code: %t, %s", skill, got, loaded.text())
			}
		}
		c.sent++
		c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/list"}`, c.sent))
		listed := c.next(toolCall{})
		if got := slices.ContainsFunc(listed.Result.Tools, func(tool struct{ Name string }) bool { return tool.Name == "run_code" }); got != want || len(listed.Result.Tools) < 5 {
			t.Errorf("run_code is listed: %t, among %d tools", got, len(listed.Result.Tools))
		}
	}
	offers(false)
	if r := c.runCode("weather", "bash", "true"); r.Error == nil {
		t.Errorf("run_code answers: %s", r.text())
	}
	if screen, code := a.terminal("yes", "grant", "weather", "--network", "example.com:443"); code != 0 {
		t.Fatalf("grant: exit %d\n%s", code, screen)
	}
	offers(true)
	c.waits(c.runCode("weather", "bash", "true"))
	c.fails(c.runCode("tides", "bash", "true"), "PERMISSION_DENIED")
	if out, code := a.run("grant", "weather", "--remove"); code != 0 {
		t.Fatalf("grant --remove: exit %d\n%s", code, out)
	}
	offers(false)
}
