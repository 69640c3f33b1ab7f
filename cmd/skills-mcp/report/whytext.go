package report

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/plain"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/setup"
	"github.com/skillsmcp/skills-mcp/server/describe"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/snapshot"
)

// An Explanation has the decisions about calls of a skill.
type Explanation struct {
	Skill   string             `json:"skill"`
	Origin  string             `json:"origin"`
	Digest  string             `json:"digest"`
	Class   skills.Class       `json:"class"` // that it declares
	Profile string             `json:"profile,omitempty"`
	Mode    string             `json:"mode"`
	Calls   []describe.Outlook `json:"calls"`
	Notes   []string           `json:"notes"`
}

// Explain returns the decisions about calls of a skill.
func Explain(ctx context.Context, s *setup.Settings, skill *skills.Skill, profile string) (*Explanation, error) {
	snap, err := SnapshotOf(ctx, skill)
	if err != nil {
		return nil, err
	}
	if all, err := s.OpenPins(); err == nil && s.Sandboxes.Pins == nil { // no server runs
		if compared, err := all.Compare(ctx, skill); err == nil && compared.Pin != nil { // a look accepts nothing
			s.Sandboxes.Pins = all
		}
	}
	decider := s.Sandboxes.Decider(nil)
	e := &Explanation{
		Skill: skill.QualifiedName(), Origin: skill.Origin().String(), Digest: snap.Digest, Class: skill.Class,
		Profile: profile, Mode: s.Policy.Mode, Notes: append([]string{}, decider.Foreign(ctx, skill)...),
	}
	if skill.Untrusted() {
		e.Notes = append(e.Notes, fmt.Sprintf("the workspace %s is not trusted: no rule gives its skills anything", skill.Workspace))
	}
	approved := run.Approved(ctx, s.Standing(), nil)
	for _, o := range decider.Outlooks(ctx, skill, profile, snap.Digest, snap.Dir, s.Workspaces.Folders, approved) {
		e.Calls = append(e.Calls, describe.NewOutlook(o.Callers, o.Decision, o.Refused, o.Approved))
	}
	return e, nil
}

// SnapshotOf returns a snapshot of a skill's folder.
func SnapshotOf(ctx context.Context, skill *skills.Skill) (*snapshot.Snapshot, error) {
	snapshots, err := setup.OpenSnapshots()
	if err != nil {
		return nil, err
	}
	return snapshots.Take(ctx, skill.Files, snapshot.Use{})
}

func (e *Explanation) Print(w io.Writer) error {
	return printRows(w, func(row func(key, value string)) {
		row("skill", e.Skill)
		row("origin", e.Origin)
		row("digest", e.Digest)
		row("declares", string(e.Class))
		row("mode", e.Mode)
		row("profile", e.Profile)
		for i := range e.Calls {
			row("", "")
			printOutlook(&e.Calls[i], row)
		}
		for _, note := range e.Notes {
			row("note", note)
		}
	})
}

func printOutlook(c *describe.Outlook, row func(key, value string)) {
	row("calls of", strings.Join(c.By, "; "))
	if c.Outcome == "refused" {
		row("refused", fmt.Sprintf("%s: %s", c.Code, c.Message))
		return
	}
	verdict := "runs"
	if c.Signatures > 0 {
		verdict = fmt.Sprintf("runs after the yes of %s, which covers %s", plain.Count(c.Signatures, "person"), c.Covers)
		if c.Signatures > 1 {
			verdict = fmt.Sprintf("runs after the yes of %d different people, which covers %s", c.Signatures, c.Covers)
		}
	}
	if c.Approved != "" {
		verdict = c.Approved + "; else " + verdict
	}
	row("a call", verdict)
	for _, line := range c.Grown {
		row("new", line)
	}
	row("by", c.Rule)
	row("class", string(c.Class))
	access := "read-only"
	if c.Writes {
		access = "writable"
	}
	if len(c.Workspaces) > 0 {
		row("workspaces", access+": "+strings.Join(c.Workspaces, ", "))
	} else {
		row("workspaces", access)
	}
	row("also writes", strings.Join(c.Protected, ", "))
	row("network", cmp.Or(strings.Join(c.Network, ", "), "none"))
	row("variables", cmp.Or(strings.Join(c.Variables, ", "), "none"))
	for _, line := range c.Secrets {
		row("secret", line)
	}
	row("skills", strings.Join(c.Calls, ", "))
	if c.Timeout > 0 {
		row("time", fmt.Sprintf("%gs at most", c.Timeout))
	}
}
