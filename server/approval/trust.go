package approval

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/skillsmcp/skills-mcp/server/run"
)

// Workspaces are the workspaces that the person trusts.
type Workspaces interface {
	// Trust records that the person trusts a workspace.
	Trust(ctx context.Context, t *run.Trust) error
}

// trust returns the lines about the workspace that a yes trusts, if there is one.
func (q *Question) trust(b *bounds) []string {
	if q.Trust == nil {
		return nil
	}
	all := []string{
		"You do not trust its workspace. A yes trusts all skills there, from now on:",
		mark + b.text(q.Trust.Workspace),
	}
	for i, change := range q.Trust.Changes {
		if rest := q.Trust.Changes[i:]; i == b.grown-1 && len(rest) > 1 {
			return append(all, mark+fmt.Sprintf("%d more: %s", len(rest), b.text(strings.Join(rest, "; "))))
		}
		all = append(all, mark+b.text(change))
	}
	return all
}

// request returns the question itself.
func (q *Question) request() string {
	if q.Trust != nil {
		return "Trust the workspace, and run it?"
	}
	return "Run it?"
}

// trust trusts the workspace of a record that enough people have confirmed, as it was when
// it was shown.
func (a *Approvals) trust(ctx context.Context, r *Record) error {
	switch t := r.Question.Trust; {
	case t == nil || len(r.Signatures) < r.Needed:
		return nil
	case a.options.Workspaces == nil:
		return errors.New("workspaces cannot be trusted here")
	default:
		return a.options.Workspaces.Trust(ctx, t)
	}
}
