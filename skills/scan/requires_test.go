package scan

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/skillsmcp/skills-mcp/skills"
)

// Each dialect's way to say what a skill needs.
func TestRequires(t *testing.T) {
	full := skills.Requires{OS: []string{"darwin", "linux", "windows"}, Bins: []string{"jq", "curl"}, AnyBins: []string{"rg", "grep"}, Env: []string{"KEY"}, Config: []string{"a.b"}}
	for name, test := range map[string]struct {
		fields string
		want   skills.Requires
	}{
		"nothing":           {"license: MIT", skills.Requires{}},
		"null":              {"metadata: ~", skills.Requires{}},
		"others' metadata":  {"metadata: {author: me, version: 1.2, tags: [a, {b: c}]}", skills.Requires{}},
		"text that is none": {"metadata: written by me", skills.Requires{}},
		"a list":            {"metadata: [a, b]", skills.Requires{}},
		"OpenClaw, a map": {`metadata:
  openclaw:
    emoji: "🦞"
    primaryEnv: KEY
    os: [macos, linux, win32]
    requires: {bins: [jq, curl], anyBins: [rg, grep], env: [KEY], config: [a.b]}`, full},
		"OpenClaw, words with commas": {`metadata: {openclaw: {os: "darwin, linux, win32", requires: {bins: "jq,curl", anyBins: "rg , grep", env: KEY, config: a.b}}}`, full},
		"OpenClaw, JSON":              {`metadata: '{"openclaw": {"os": ["darwin", "linux", "win32"], "requires": {"bins": ["jq", "curl"], "anyBins": ["rg", "grep"], "env": ["KEY"], "config": ["a.b"]}}}'`, full},
		"OpenClaw, JSON over lines": {`metadata:
  {
    "openclaw": {"requires": {"bins": ["jq"]},},
  }`, skills.Requires{Bins: []string{"jq"}}},
		"OpenClaw, JSON5": {`metadata: |
  { // what it needs
    openclaw: {requires: {bins: ['jq',], env:['KEY']}, },
  }`, skills.Requires{Bins: []string{"jq"}, Env: []string{"KEY"}}},
		"a part as JSON":          {`metadata: {moltbot: '{requires: {bins: ["jq"]}}'}`, skills.Requires{Bins: []string{"jq"}}},
		"moltbot":                 {"metadata: {moltbot: {requires: {bins: [a]}}}", skills.Requires{Bins: []string{"a"}}},
		"clawdbot":                {"metadata: {clawdbot: {requires: {bins: [b]}}}", skills.Requires{Bins: []string{"b"}}},
		"clawdis":                 {"metadata: {clawdis: {requires: {bins: [c]}}}", skills.Requires{Bins: []string{"c"}}},
		"the newest name counts":  {"metadata: {clawdis: {requires: {bins: [c]}}, openclaw: {requires: {bins: [a]}}}", skills.Requires{Bins: []string{"a"}}},
		"a name without anything": {"metadata: {openclaw: , clawdis: {requires: {bins: [c]}}}", skills.Requires{Bins: []string{"c"}}},
		"always there":            {"metadata: {openclaw: {always: true, os: [linux], requires: {bins: [jq]}}}", skills.Requires{OS: []string{"linux"}}},
		"always, not readable":    {"metadata: {openclaw: {always: perhaps, requires: {bins: [jq]}}}", skills.Requires{Bins: []string{"jq"}}},
		"ongrid":                  {"metadata: {os: [linux, Darwin], requires: {bins: [ip], config: [x]}}", skills.Requires{OS: []string{"linux", "darwin"}, Bins: []string{"ip"}, Config: []string{"x"}}},
		"both, each thing once":   {"metadata: {os: linux, requires: {bins: [ip, jq]}, openclaw: {os: [linux], requires: {bins: [jq]}}}", skills.Requires{OS: []string{"linux"}, Bins: []string{"jq", "ip"}}},
		"LinX":                    {"gating: {binaries: [ffmpeg], env_vars: [TOKEN]}\nrequired_capabilities: [network]", skills.Requires{Bins: []string{"ffmpeg"}, Env: []string{"TOKEN"}, Capabilities: []string{"network"}}},
		"a number for a word":     {"metadata: {requires: {bins: [7z, 7]}}", skills.Requires{Bins: []string{"7z", "7"}}},
		"other agents' servers":   {"requires: {mcp: [github]}", skills.Requires{}},
	} {
		t.Run(name, func(t *testing.T) {
			skill, catalog := loadSkill(t, "---\nname: demo\ndescription: d\nscript: run.sh\n"+test.fields+"\n---\n", "run.sh")
			if diff := cmp.Diff(test.want, skill.Requires); diff != "" {
				t.Error(diff)
			}
			if skill.Requires.Empty() != cmp.Equal(test.want, skills.Requires{}) {
				t.Errorf("empty: %t", skill.Requires.Empty())
			}
			for _, p := range catalog.Problems {
				if p.Severity != skills.Note {
					t.Errorf("problem: %s", p)
				}
			}
			if skill.Entry == nil {
				t.Error("there is nothing to run")
			}
		})
	}
}

// What restricts a skill and cannot be read leaves nothing to run.
func TestRequirementsFailClosed(t *testing.T) {
	for name, test := range map[string]struct{ fields, want string }{
		"broken JSON":           {`metadata: '{"openclaw": {"requires": {"bins": ["jq"'`, `5: error: "metadata" is not a map, or JSON, so the skill is loaded as instructions only (write a map, or JSON)`},
		"a number out of JSON":  {`metadata: '{openclaw: {x: Infinity}}'`, `5: error: "metadata" is not a map, or JSON, so the skill is loaded as instructions only (write a map, or JSON)`},
		"JSON that is too long": {`metadata: '{openclaw: "` + strings.Repeat("x", limitMetadata) + `"}'`, `5: error: "metadata" is not a map, or JSON, so the skill is loaded as instructions only (write a map, or JSON)`},
		"a part that is a list": {`metadata: {openclaw: [requires]}`, `5: error: "metadata.openclaw" is not a map, so the skill is loaded as instructions only (write a map)`},
		"a part that is text":   {`metadata: {clawdbot: "needs jq"}`, `5: error: "metadata.clawdbot" is not a map, so the skill is loaded as instructions only (write a map)`},
		"requires is a list":    {`metadata: {openclaw: {requires: [jq]}}`, `5: error: "requires" is not a map, so the skill is loaded as instructions only (write a map)`},
		"bins is a map":         {`metadata: {openclaw: {requires: {bins: {jq: 1}}}}`, `5: error: "bins" is not a list of words, so the skill is loaded as instructions only (write a list of words)`},
		"a bin is a list":       {`metadata: {requires: {bins: [[jq]]}}`, `5: error: "bins" is not a list of words, so the skill is loaded as instructions only (write a list of words)`},
		"os is a map":           {`metadata: {os: {linux: yes}}`, `5: error: "os" is not a list of words, so the skill is loaded as instructions only (write a list of words)`},
		"too many":              {`metadata: {requires: {bins: "` + distinct(limitNeeds+1) + `"}}`, `5: error: "bins" is not a shorter list, so the skill is loaded as instructions only (write a shorter list)`},
		"gating is text":        {`gating: jq`, `5: error: "gating" is not a map, so the skill is loaded as instructions only (write a map)`},
		"capabilities":          {`required_capabilities: {a: b}`, `5: error: "required_capabilities" is not a list of words, so the skill is loaded as instructions only (write a list of words)`},
	} {
		t.Run(name, func(t *testing.T) {
			skill, catalog := loadSkill(t, "---\nname: demo\ndescription: d\nscript: run.sh\n"+test.fields+"\n---\n", "run.sh")
			if skill.Entry != nil {
				t.Error("the skill can still be run")
			}
			if got, want := strings.TrimSpace(lines(catalog.Problems)), "root/demo/SKILL.md:"+test.want; got != want {
				t.Errorf("problems:\n%s\nwant:\n%s", got, want)
			}
		})
	}
}

// distinct are n different words, with commas between them.
func distinct(n int) string {
	var all []string
	for i := range n {
		all = append(all, "w"+strings.Repeat("x", i))
	}
	return strings.Join(all, ",")
}

// What other agents read and this server does not is noted.
func TestForeignKeys(t *testing.T) {
	for fields, want := range map[string]string{
		"requires: {mcp: [github]}":                    `5: note: "requires" is not honoured: only metadata can say what a skill needs where it runs`,
		"command-dispatch: tool\ncommand-tool: x":      "",
		"context: fork":                                `5: note: "context" is not honoured: the instructions are read in the caller's own context`,
		"metadata: {openclaw: {install: [{kind: a}]}}": `5: note: "install" is not honoured: nothing of it is run`,
		"timeout-seconds: 5":                           `5: warning: "timeout-seconds" is not known; it is kept and has no effect (write timeout_seconds, if that is meant)`,
		"ask: [person]":                                `5: warning: "ask" is not known; it is kept and has no effect (write asks, if that is meant)`,
		"script: run.sh\nscripts: run.sh":              "",
		"scripts: run.sh":                              `5: warning: "scripts" is not known; it is kept and has no effect (write script, if that is meant)`,
		"scripts: [run.sh]":                            "",
		"triggers: [a]\nmodes: b\nkeywords: [c]":       "",
	} {
		_, catalog := loadSkill(t, "---\nname: demo\ndescription: d\nlicense: MIT\n"+fields+"\n---\n", "run.sh")
		if want != "" {
			want = "root/demo/SKILL.md:" + want
		}
		if got := strings.TrimSpace(lines(catalog.Problems)); got != want {
			t.Errorf("%s:\n%s\nwant:\n%s", fields, got, want)
		}
	}
}
