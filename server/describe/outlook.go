package describe

import (
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/skills"
)

// An Outlook is the decision about calls of a skill that nobody makes, the same for some
// callers.
type Outlook struct {
	By         []string     `json:"by"`
	Outcome    string       `json:"outcome"`            // runs, approved, asks or refused
	Approved   string       `json:"approved,omitempty"` // the calls that a given approval covers
	Class      skills.Class `json:"class,omitempty"`
	Rule       string       `json:"rule,omitempty"`
	Signatures int          `json:"signatures"`
	Covers     string       `json:"covers,omitempty"` // of a yes
	Grown      []string     `json:"grown,omitempty"`
	Writes     bool         `json:"writes"`
	Workspaces []string     `json:"workspaces,omitempty"`
	Protected  []string     `json:"protected,omitempty"` // paths that are writable, too
	Network    []string     `json:"network,omitempty"`
	Variables  []string     `json:"variables,omitempty"`
	Secrets    []string     `json:"secrets,omitempty"`
	Calls      []string     `json:"calls,omitempty"`
	Timeout    float64      `json:"timeout_seconds,omitempty"`
	Code       run.Code     `json:"code,omitempty"`
	Message    string       `json:"message,omitempty"`
}

// NewOutlook describes a decision about the calls of some callers, or their refusal.
// approved has the words for those that a given approval covers; "" is none.
func NewOutlook(callers []string, d *run.Decision, refused *run.Error, approved string) Outlook {
	if refused != nil {
		return Outlook{By: callers, Outcome: "refused", Code: refused.Code, Message: refused.Message}
	}
	o := Outlook{
		By: callers, Outcome: "runs", Class: d.Class, Rule: d.Rule, Signatures: d.Signatures, Grown: d.Grown,
		Writes: d.Grant.Write, Workspaces: d.Grant.Workspaces, Protected: d.Grant.Unprotected, Network: d.Grant.Hosts, Variables: d.Variables, Secrets: d.SecretLines(), Calls: d.Calls, Timeout: d.Timeout.Seconds(),
	}
	if d.Signatures > 0 {
		o.Outcome, o.Covers = "asks", covers(d)
	}
	if approved != "" {
		o.Outcome, o.Approved = "approved", approved
	}
	return o
}

// covers says which calls a yes covers.
func covers(d *run.Decision) string {
	switch {
	case d.Each:
		return "the one call"
	case d.Always:
		return "all later calls, while the skill gains no capability; of a stranger's that may write or reach hosts, while no file changes"
	case d.Session:
		return "at most the client's session"
	}
	return "what you choose: the call, the session, or all later calls"
}
