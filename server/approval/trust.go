package approval

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/skillsmcp/skills-mcp/server/store"
)

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
	t := r.Question.Trust
	if t == nil || len(r.Signatures) < r.Needed {
		return nil
	}
	return a.store.Trust(ctx, store.Workspace{Path: t.Workspace, Folder: t.Folder, At: time.Now()})
}
