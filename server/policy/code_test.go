package policy

import (
	"fmt"
	"testing"

	"github.com/skillsmcp/skills-mcp/sandbox/egress"
	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/skills"
)

// The grant of code, for each kind of skill and of rule about it: "safe" where code runs
// without a skill too, and where that is off in parentheses.
func TestDecideCode(t *testing.T) {
	host, err := egress.ParseRule("wttr.in:443")
	if err != nil {
		t.Fatal(err)
	}
	rw, off := true, false
	rules := map[string]*Rule{
		"none": nil, "host": {Hosts: []egress.Rule{host}}, "no host": {Hosts: []egress.Rule{}}, "rw": {Write: &rw},
		"env": {Env: []string{"KEY"}}, "each": {Approve: Each}, "always": {Approve: Always, Write: &rw}, "off": {Enabled: &off},
		"wide": {Pattern: "*", Hosts: []egress.Rule{host}}, "narrow": {Narrows: true, Hosts: []egress.Rule{host}, Write: &rw},
	}
	entry := &skills.Entry{Script: "run.sh", Network: []string{"example.com"}}
	owner := &skills.Skill{Name: "s", Class: skills.Safe, ModelInvocable: true}
	all := map[string]*skills.Skill{
		"instructions":     owner,
		"a tool of a text": {Name: "s__tool", Of: owner, Class: skills.Safe, ModelInvocable: true, Entry: &skills.Entry{Script: "run.sh"}},
		"declares":         {Name: "s", Class: skills.Mutating, ModelInvocable: true, Entry: entry},
		"approved":         {Name: "approved", Class: skills.Mutating, ModelInvocable: true, Entry: entry},
		"dangerous":        {Name: "s", Class: skills.Dangerous, ModelInvocable: true},
		"hidden":           {Name: "s", Class: skills.Safe},
		"of a workspace":   {Name: "s", Class: skills.Safe, ModelInvocable: true, Workspace: "/work"},
	}
	const nothing, no = "safe (PERMISSION_DENIED)", "PERMISSION_DENIED (PERMISSION_DENIED)"
	asked := func(grant string) string { return grant + " (" + grant + ")" }
	// Where a kind of skill or a rule is not named, the code has nothing.
	want := map[string]map[string]string{
		"instructions":     {"host": asked("asked [wttr.in:443]"), "rw": asked("asked rw []"), "env": asked("asked [] KEY"), "each": asked("asked each []"), "always": asked("asked rw []"), "off": no},
		"a tool of a text": {"host": asked("asked [wttr.in:443]"), "rw": asked("asked rw []"), "env": asked("asked [] KEY"), "each": asked("asked each []"), "always": asked("asked rw []"), "off": no},
		"declares": {
			"host": asked("asked rw [wttr.in:443]"), "no host": asked("asked rw []"), "rw": asked("asked rw [example.com]"), "env": asked("asked rw [example.com] KEY"),
			"each": asked("asked each rw [example.com]"), "always": asked("asked rw [example.com]"), "off": no,
		},
		"approved": {
			"none": asked("asked rw [example.com]"), "host": asked("asked rw [wttr.in:443]"), "no host": asked("asked rw []"), "rw": asked("asked rw [example.com]"), "env": asked("asked rw [example.com] KEY"),
			"each": asked("asked each rw [example.com]"), "always": asked("asked rw [example.com]"), "wide": asked("asked rw [wttr.in:443]"), "narrow": asked("asked rw [example.com]"), "off": no,
		},
		"dangerous": {
			"host": asked("asked each rw [wttr.in:443]"), "no host": asked("asked each rw []"), "rw": asked("asked each rw []"), "env": asked("asked each rw [] KEY"),
			"each": asked("asked each rw []"), "always": asked("asked each rw []"), "off": no,
		},
		"of a workspace": {"off": no},
	}
	for kind, skill := range all {
		for name, rule := range rules {
			options := Options{Approver: answers{}, Workspaces: proposals{}}
			if rule != nil {
				r := *rule
				r.Name = "rule"
				if r.Pattern == "" {
					r.Pattern = skill.Owner().Name
				}
				options.Rules = []Rule{r}
			}
			decide := func(needs bool) string {
				options.CodeNeedsGrant = needs
				d, err := New(&options).Decide(t.Context(), &run.Proposal{Action: run.ActionCode, Skill: skill, Principal: identity.Principal{Kind: identity.Model}})
				return decided(d, err)
			}
			expected := want[kind][name]
			if expected == "" {
				expected = nothing
			}
			if kind == "hidden" {
				expected = no
			}
			if got := fmt.Sprintf("%s (%s)", decide(false), decide(true)); got != expected {
				t.Errorf("%s, rule %s: %s, want %s", kind, name, got, expected)
			}
		}
	}
	for needs, want := range map[bool]string{false: "safe", true: "PERMISSION_DENIED"} {
		d, err := New(&Options{CodeNeedsGrant: needs}).Decide(t.Context(), &run.Proposal{Action: run.ActionCode})
		if got := decided(d, err); got != want {
			t.Errorf("without a skill: %s, want %s", got, want)
		}
	}
}

// decided returns a decision about code as text.
func decided(d *run.Decision, err error) string {
	if err != nil {
		return string(codeOf(err))
	}
	if d.Signatures == 0 && d.Class == skills.Safe && !d.Grant.Write && d.Grant.Hosts == nil && d.Variables == nil {
		return "safe"
	}
	text := "asked"
	if d.Signatures != 1 || d.Always || !d.Session {
		text = "not asked as code"
	}
	if d.Each {
		text += " each"
	}
	if d.Grant.Write {
		text += " rw"
	}
	text += fmt.Sprint(" ", d.Grant.Hosts)
	for _, name := range d.Variables {
		text += " " + name
	}
	return text
}
