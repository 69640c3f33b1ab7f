package lab

// Instructions writes a skill as most are published: a text with commands, and nothing to
// run.
func (a *Account) Instructions(name, address string) {
	a.T.Helper()
	a.Skill(name+"/SKILL.md", `---
name: `+name+`
description: Get the current `+name+` of a place (no API key required).
homepage: https://`+address+`/:help
metadata: {"clawdbot":{"emoji":"🌤️","requires":{"bins":["curl"]}}}
---

# `+name+`

    curl -s "https://`+address+`/London?format=3"
`)
}

// RunCode calls run_code with the code of a language, for a skill.
func (c *ToolClient) RunCode(skill, language, code string, args ...string) Reply {
	c.t.Helper()
	return c.Call("run_code", map[string]any{"language": language, "skill": skill, "code": code, "args": append([]string{}, args...)})
}
