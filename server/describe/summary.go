// Package describe returns the descriptions of skills, plugins and planned calls, for
// models, the command line and programs that read JSON. Each has one Go type, whose JSON
// is the same wherever it is shown.
//
// Start with [View].
package describe

import (
	"cmp"
	"strings"

	"github.com/skillsmcp/skills-mcp/server/exposure"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/truncate"
)

// A Summary is a skill in a list.
type Summary struct {
	Name        string        `json:"name"`           // qualified
	Tool        string        `json:"tool,omitempty"` // of its own; "" where it has none
	Source      skills.Source `json:"source"`
	Untrusted   bool          `json:"untrusted,omitempty"` // it is of a workspace that the person does not trust
	Class       skills.Class  `json:"class"`
	Kind        string        `json:"kind"`  // "executable" or "instructions"
	State       string        `json:"state"` // see [State]
	Description string        `json:"description"`
}

// summarize describes a skill whose tool, if it has one, is called tool.
func summarize(skill *skills.Skill, tool string) Summary {
	return Summary{
		Name: skill.QualifiedName(), Tool: tool, Source: skill.Source, Untrusted: skill.Untrusted(), Class: skill.Class,
		Kind: kind(skill), State: State(skill), Description: skill.Description,
	}
}

// BlockedByScan is the state of a skill that the scan of its files blocks.
const BlockedByScan = "blocked: the scan found something in its files"

// State returns whether a model can use a skill, in a word or two: "ready",
// "unavailable: why", "blocked: why", "person only", "person only: models call its tools",
// "needs trust in its workspace", or "needs approval".
func State(skill *skills.Skill) string {
	switch {
	case skill.Unavailable != "":
		return "unavailable: " + skill.Unavailable
	case skill.BlockedBy == skills.BlockedByScan:
		return BlockedByScan
	case skill.Blocked != "":
		return "blocked: it has changed since it was accepted"
	case !skill.ModelInvocable && skill.Entry != nil && skill.Entry.Server != nil && len(skill.Tools) > 0:
		return "person only: models call its tools"
	case skill.OfHooks() && skill.Entry == nil:
		return "ready"
	case !skill.ModelInvocable && !skill.OfHooks():
		return "person only"
	case skill.Untrusted() && skill.Entry != nil && (skill.Class != skills.Safe || len(skill.Entry.Network) > 0):
		return "needs trust in its workspace"
	case skill.Entry != nil && skill.Class != skills.Safe:
		return "needs approval"
	}
	return "ready"
}

// NeedsPerson reports whether a skill of a state waits until the person has accepted its
// change, or trusts its workspace.
func NeedsPerson(state string) bool {
	return strings.HasPrefix(state, "blocked") || strings.HasPrefix(state, "needs trust")
}

// StateUnder returns whether a model can use a skill, under the decision about a call of it:
// that of [State], "refused", "needs trust in its workspace", "needs two approvals", the words of
// approved, if there are some, "needs approval" or "ready".
func StateUnder(skill *skills.Skill, d *run.Decision, refused error, approved func(*skills.Skill) string) string {
	switch state := State(skill); {
	case state != "ready" && state != "needs approval", skill.Entry == nil:
		return state
	case refused != nil && skill.Untrusted() && run.AsError(refused).Code == run.ApprovalRequired:
		return "needs trust in its workspace"
	case refused != nil:
		return "refused"
	case d.Signatures > 1:
		return "needs two approvals"
	case d.Signatures > 0:
		return cmp.Or(approved(skill), "needs approval")
	}
	return "ready"
}

// kind returns the kind of a skill: "executable" or "instructions".
func kind(skill *skills.Skill) string {
	if skill.Entry != nil {
		return "executable"
	}
	return "instructions"
}

// IsPrompt reports whether a skill is a prompt. It is called like the skill's tool.
func IsPrompt(skill *skills.Skill) bool {
	return skill.UserInvocable && skill.Unavailable == "" && skill.Blocked == ""
}

// A Choice is a skill in a list from which a model chooses. Its texts are cut.
type Choice struct {
	Summary
	WhenToUse  string      `json:"when_to_use,omitempty"`
	Parameters []Parameter `json:"parameters,omitempty"` // the first 16
}

// A Parameter is a parameter of a skill in a list.
type Parameter struct {
	Name     string `json:"name"`
	Type     string `json:"type,omitempty"`
	Required bool   `json:"required,omitempty"`
}

// Bounds of a list for a model.
const (
	maxText       = 240 // bytes of a description
	maxParameters = 16
	maxNames      = 100 // of a plugin's skills or agents
)

// Choose describes a skill whose tool, if it has one, is called tool.
func Choose(skill *skills.Skill, tool string) Choice {
	c := Choice{Summary: summarize(skill, tool), WhenToUse: truncate.String(skill.WhenToUse, maxText)}
	c.Description = truncate.String(c.Description, maxText)
	if skill.Entry != nil && skill.Blocked == "" {
		params := skill.Entry.Params()
		for _, p := range params[:min(len(params), maxParameters)] {
			c.Parameters = append(c.Parameters, Parameter{p.Name, p.Schema.Type, p.Required})
		}
	}
	return c
}

// A Listed is a skill in a list for a person, with why it is a tool or not.
type Listed struct {
	Summary
	exposure.Decision
	File     string `json:"file"`
	Category string `json:"category,omitempty"`
	Scan     string `json:"scan,omitempty"` // what the last scan of its files found, in few words

	// Requests are the secrets that it asks for and does not have, in a list.
	Requests []skills.Problem `json:"requests,omitempty"`

	Installed *Installed `json:"installed,omitempty"` // nil: it is not, or nobody asked
}

// TurnOff marks a skill that does not exist for the clients of a server, for a reason.
func (l *Listed) TurnOff(why string) {
	l.Tool, l.State = "", "off: "+why
	l.Decision = exposure.Decision{Reach: exposure.ByNobody, Why: "it is off"}
}

// Hide marks a skill whose name another skill has.
func (l *Listed) Hide(shadow skills.Shadow) {
	l.Tool, l.State = "", "shadowed by "+shadow.By.File
	l.Decision = exposure.Decision{Reach: exposure.ByNobody, Why: "another skill has its name"}
}
