package web

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/skillsmcp/skills-mcp/server/api"
	"github.com/skillsmcp/skills-mcp/server/approval"
	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/store"
)

const (
	maxEnded      = 50       // ended approvals in the list
	maxAnswerForm = 16 << 10 // bytes
	maxProofs     = 20       // runs of one approval
)

// approvalPath returns the path of an approval's screen.
func approvalPath(id string) string { return Path + "approvals/" + url.PathEscape(id) }

// A decision is a record of an approval for the templates.
type decision struct {
	*approval.Record
	Asked   question
	State   string // that of the record, or "expired"
	Answer  bool   // the reader may answer it, or may name another person who does
	Second  bool   // the reader has confirmed it, and another person has to
	Revoke  bool   // the reader may withdraw it
	Machine bool   // only the person of this machine may answer it
	// Runs used the approval; set for the screen of one approval.
	Runs []*store.Run
}

func newDecision(ctx context.Context, r *approval.Record, whole bool) *decision {
	d := &decision{
		Record: r, Asked: question{r.Shown(), whole}, State: r.State, Answer: api.MayAnswer(ctx, r), Second: r.SignedBy(approval.SignerOf(identity.FromContext(ctx))),
		Revoke: api.MayRevoke(ctx, r), Machine: r.Question.OfMachine(),
	}
	d.Answer = d.Answer && (!d.Second || isPerson(ctx))
	if (d.Waits() || r.State == approval.Given) && !r.Expires.After(time.Now()) {
		d.State = "expired"
	}
	return d
}

// Waits reports whether the question waits for an answer.
func (d *decision) Waits() bool { return d.State == approval.Pending }

// Lasts reports whether it counts for more than one call.
func (d *decision) Lasts() bool { return d.Scope != approval.Once }

// approvalLists are the data of the screen of all approvals.
type approvalLists struct{ Waiting, Given, Ended []*decision }

// approvals shows all approvals. The questions that wait are in the order in which they
// came: a new one moves none of the others, as somebody may be about to answer one.
func (p *Page) approvals(r *http.Request) (*content, error) {
	all, err := p.options.Service.Approvals(r.Context(), true)
	if err != nil {
		return nil, err
	}
	var lists approvalLists
	for _, record := range all { // the newest first
		switch d := newDecision(r.Context(), record, false); d.State {
		case approval.Pending:
			lists.Waiting = append(lists.Waiting, d)
		case approval.Given:
			lists.Given = append(lists.Given, d)
		default:
			lists.Ended = append(lists.Ended, d)
		}
	}
	slices.Reverse(lists.Waiting)
	lists.Ended = lists.Ended[:min(len(lists.Ended), maxEnded)]
	return &content{Title: "Approvals", Template: "approvals.html", Section: "approvals", Live: []string{"approvals"}, Data: lists}, nil
}

// approval shows one approval, with the runs that prove what it has let run.
func (p *Page) approval(r *http.Request) (*content, error) {
	record, err := p.options.Service.Approval(r.Context(), r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	d := newDecision(r.Context(), record, true)
	if d.State != approval.Pending && d.State != approval.Denied {
		page, err := p.options.Service.Runs(r.Context(), api.RunQuery{Skill: record.Question.Skill, Approval: record.ID, Limit: maxProofs})
		if err != nil {
			return nil, err
		}
		d.Runs = page.Items
	}
	return &content{Title: "Approval " + record.ID, Template: "approval.html", Section: "approvals", Live: []string{"approvals", "runs"}, Data: d}, nil
}

// answer answers a question, or withdraws an approval. Its screen shows the effect.
func (p *Page) answer(r *http.Request) (next string, err error) {
	r.Body = http.MaxBytesReader(nil, r.Body, maxAnswerForm)
	id, scope := r.PathValue("id"), approval.Scope(r.PostFormValue("answer"))
	if scope == "revoke" {
		return approvalPath(id), p.options.Service.Revoke(r.Context(), id)
	}
	_, err = p.options.Service.Answer(r.Context(), id, api.Answer{Scope: scope, As: r.PostFormValue("as"), Passphrase: r.PostFormValue("passphrase")})
	if late := (*approval.AnswerError)(nil); errors.As(err, &late) {
		// The second click of two finds the answer of the first: the screen shows that.
		if now, failed := p.options.Service.Approval(r.Context(), id); failed == nil && now.State != approval.Pending {
			return approvalPath(id), nil
		}
	}
	return approvalPath(id), err
}
