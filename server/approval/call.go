package approval

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/server/termtext"
	"github.com/skillsmcp/skills-mcp/skills/snapshot"
)

// A call is a proposal with its question and its bindings.
type call struct {
	*run.Proposal
	question *Question
	subject  string
	owner    string                                // the principal, without its session
	exact    Binding                               // of this call
	every    Binding                               // of calls with any arguments
	pending  *Record                               // the row of the same question; nil is none
	page     func(id string) (url string, ok bool) // that of the [Options]
	remote   bool                                  // the caller has no terminal of the server's machine
	machine  bool                                  // the caller's person cannot answer, but that of the machine
	fresh    bool                                  // nothing has run, and pending outlives this server
}

// newCall returns the call of a proposal.
func newCall(p *run.Proposal, o *Options) *call {
	q := newQuestion(p)
	q.Home = o.Home
	c := &call{Proposal: p, question: q, subject: subject(p), owner: ownerOf(p.Principal), exact: bind(p, q, false), every: bind(p, q, true), page: o.Page, remote: o.Shared || p.Principal.Named(), machine: p.Principal.Named() && q.OfMachine()}
	if c.machine {
		c.page = nil
	}
	return c
}

// ancestors returns the digests whose approvals of all calls cover the call, too.
func (c *call) ancestors() []string {
	if c.question.endsWithFiles() {
		return nil
	}
	return c.Decision.Ancestors
}

// differences returns the ways in which a call differs from the newest approval of the
// skill for the same principal.
func differences(ctx context.Context, c *call, rows []*Record) []string {
	for _, r := range rows { // the newest first
		if r.Scope != WholePlugin && (r.State == Given || r.State == Used) && r.Owner == c.owner {
			var files []string
			if r.Binding.Digest != c.Digest {
				files = snapshot.Changes(ctx, c.Folder, r.Binding.Digest)
			}
			return c.exact.differences(r.Binding, files)
		}
	}
	return nil
}

// asks reports whether a record is the question about a call, and waits.
func (r *Record) asks(c *call) bool { return r.State == Pending && r.Binding == c.exact }

// required returns the error of a call that somebody has to confirm first. It names nothing
// that would approve by itself: the command in it asks on a terminal, and the page asks
// whom it knows.
func required(c *call, r *Record, who string) error {
	kind := "is " + string(c.question.Class)
	if c.question.Fetch != nil {
		kind = "is of another MCP server, and nobody has consented to its files"
	}
	way := "in a terminal of their own, with: skills-mcp approve " + r.ID
	url, ok := c.pageOf(r.ID)
	switch {
	case c.remote && ok:
		way = "on the page, " + url
	case c.remote:
		way = "through the operator of this server, who runs there: skills-mcp approve " + r.ID
	case ok:
		way = "on the page, " + url + " , or " + way
	case c.page != nil:
		way += ", or on the page, which Skills opens, if that is among the applications"
	}
	first := fmt.Sprintf("skill %s %s, so %s has to say yes first; only then does the same call succeed, once.", termtext.Visible(c.question.Skill), kind, who)
	answer := fmt.Sprintf("answer %s (until %s)", way, r.Expires.Format("15:04"))
	return &run.Error{
		Code: run.ApprovalRequired, Retryable: true, Approval: r.ID, Message: first + "\n" + c.question.summary() + "\nTo say yes, " + strings.Replace(answer, " of their own", "", 1),
		Model: first + " Say these two lines to them, and wait for their word:\n" + c.question.summary() + "\nThey " + answer +
			"\nDo not try again before, and do not answer in their place: it asks for their keystrokes.",
	}
}

// awaitsSecond returns the error of a call that one person has confirmed, and another one
// has to.
func awaitsSecond(c *call, r *Record) error {
	return required(c, r, "a second person, other than "+strings.Join(r.signers(), " and ")+", who has confirmed it already,")
}

// pageOf returns the URL of the screen of an approval; ok is false without a page.
func (c *call) pageOf(id string) (url string, ok bool) {
	if c.page == nil {
		return "", false
	}
	return c.page(id)
}

// refused returns the error of a call that nobody confirms.
func refused(c *call, why string) error {
	return (&run.Error{Code: run.ApprovalRequired, Message: fmt.Sprintf("skill %s did not run: %s", termtext.Visible(c.question.Skill), why)}).Told("do not try it again unless the person asks for it")
}

// saidNo returns the error of a call to which the person has said no.
func saidNo(c *call, ends time.Time) error {
	return refused(c, "the person said no, and is not asked about the same call again before "+ends.Format("15:04:05"))
}

// unavailable returns the error of a call whose approvals cannot be read or written.
func unavailable(err error) error {
	if errors.Is(err, errTooMany) {
		return &run.Error{Code: run.Busy, Message: "too many calls wait for a person's yes; have those answered first (skills-mcp approvals lists them)", Retryable: true, Err: err}
	}
	return &run.Error{Code: run.Unavailable, Message: fmt.Sprintf("nobody can be asked whether it may run: %v", err), Retryable: true, Err: err}
}
