// Package approval asks people to confirm calls, and records their answers: once, for a
// session, or for all later calls. An approval covers one binding of skill, files,
// arguments, grant and rules, and nothing else.
//
// Start with [New], whose result is the approver of package policy.
package approval

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/skillsmcp/skills-mcp/server/elicit"
	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/server/seal"
	"github.com/skillsmcp/skills-mcp/server/store"
)

// A Terminal asks the person who runs the program.
type Terminal interface {
	// Confirm shows a question and returns the answer, [No] or one of its scopes. It must
	// return when ctx is done. An error says that nobody was asked.
	Confirm(ctx context.Context, q *Question) (Scope, error)
}

// Expiry bounds the lives of approvals. A zero field means the default.
type Expiry struct {
	Pending time.Duration // of a question; 10 minutes
	Once    time.Duration // of an approval of one call; 10 minutes
	Always  time.Duration // of an approval of all later calls; 90 days
}

// sessionExpiry bounds the approvals of a session that nobody ends.
const sessionExpiry = 12 * time.Hour

// Options configure [Approvals]. The zero value is usable.
type Options struct {
	// Terminal asks a person at the command line; nil asks nobody there.
	Terminal Terminal
	// Workspaces records the trust that a confirmed question was about; without it such a
	// question cannot be confirmed.
	Workspaces Workspaces
	// Page returns the URL of the page that asks about an approval, if there is one; nil
	// is none.
	Page   func(id string) (url string, ok bool)
	Expiry Expiry
	// Asking bounds how calls wait for answers; zero fields: elicit.DefaultLimits.
	Asking elicit.Limits
	// Pending bounds the questions that wait for an answer; zero fields: 16 of one
	// principal, 64 in all.
	Pending store.ApprovalLimits
	// Proofs identifies the passphrases by which people prove who they are: a question
	// that was asked under others is not answered under these.
	Proofs string
	// Logger gets rows that do not count; nil discards them.
	Logger *slog.Logger
}

// withDefaults returns a copy of o with its defaults; o may be nil.
func (o *Options) withDefaults() Options {
	var c Options
	if o != nil {
		c = *o
	}
	c.Expiry.Pending = cmp.Or(c.Expiry.Pending, 10*time.Minute)
	c.Expiry.Once = cmp.Or(c.Expiry.Once, 10*time.Minute)
	c.Expiry.Always = cmp.Or(c.Expiry.Always, 90*24*time.Hour)
	c.Pending.Owner = cmp.Or(c.Pending.Owner, 16)
	c.Pending.Total = cmp.Or(c.Pending.Total, 64)
	c.Logger = cmp.Or(c.Logger, slog.New(slog.DiscardHandler))
	return c
}

// Approvals ask people and keep their answers. They may be used concurrently, also by
// several processes with one store.
type Approvals struct {
	store   *store.Store
	key     *seal.Key
	waits   *elicit.WaitLimiter
	options Options

	mu       sync.Mutex
	sessions map[identity.Key]map[string]bool // the IDs of approvals that a session may use
	spent    map[string]time.Time             // used here, until they expire: a row that is put back does not count
}

// New returns the approvals in a store. It opens nothing. The key that signs them is a
// file beside the store's. Options may be nil.
func New(s *store.Store, options *Options) *Approvals {
	o := options.withDefaults()
	return &Approvals{
		store: s, key: seal.New(filepath.Join(filepath.Dir(s.File()), "approvals.key")),
		waits: elicit.NewWaitLimiter(o.Asking), options: o,
		sessions: map[identity.Key]map[string]bool{}, spent: map[string]time.Time{},
	}
}

// Approve implements the approver of package policy: it looks for an approval that covers
// the call, and else asks down a ladder: the terminal of the person's own call, a form of
// the client, the page, and last an APPROVAL_REQUIRED with the ID of the question.
func (a *Approvals) Approve(ctx context.Context, p *run.Proposal) error {
	c := a.newCall(p)
	rows, err := a.about(ctx, c.subject)
	if err != nil {
		return unavailable(err)
	}
	if done, err := a.stored(ctx, c, rows); done {
		return err
	}
	for _, ask := range []func(context.Context, *call) (Scope, error){a.askTerminal, a.askForm} {
		scope, err := ask(ctx, c)
		if errors.Is(err, errCannotAsk) {
			continue
		}
		if err != nil {
			return err
		}
		return a.settle(ctx, c, scope)
	}
	if done, err := a.askPage(ctx, c); done {
		return err
	}
	if err := a.pend(ctx, c); err != nil {
		return err
	}
	return required(c, c.pending, "a person")
}

// A call is a proposal with its question and its bindings.
type call struct {
	*run.Proposal
	question *Question
	subject  string
	owner    string  // the principal, without its session
	exact    Binding // of this call
	every    Binding // of calls with any arguments
	pending  *Record // the row of the same question; nil is none
}

func (a *Approvals) newCall(p *run.Proposal) *call {
	q := newQuestion(p)
	return &call{Proposal: p, question: q, subject: subject(p), owner: ownerOf(p.Principal), exact: bind(p, q, false), every: bind(p, q, true)}
}

// stored answers a call by an approval, or a refusal, that is in the store; done is false
// if somebody has to be asked. It adds the history to the question.
func (a *Approvals) stored(ctx context.Context, c *call, rows []*Record) (done bool, err error) {
	for _, r := range rows {
		if !r.current() || !r.concerns(c) {
			continue
		}
		switch {
		case r.State == store.ApprovalGiven && a.covers(r, c):
			if r.Scope != Once {
				c.Approval = r.ID
				return true, nil
			}
			used, err := a.use(ctx, r)
			if err != nil {
				return true, unavailable(err)
			}
			if used {
				c.Approval = r.ID
				return true, nil
			}
		case r.State == store.ApprovalDenied && r.Binding == c.exact:
			return true, refused(c, "a person has said no to it")
		case r.State == store.ApprovalPending && r.Binding == c.exact:
			c.pending = r
		}
	}
	c.question.Differs = differences(c, rows)
	if c.pending != nil {
		c.question.Signed = c.pending.signers()
		if c.pending.signedBy(signerOf(c.Principal)) {
			return true, a.awaitsSecond(c, c.pending)
		}
	}
	return false, nil
}

// covers reports whether a given approval covers a call.
func (a *Approvals) covers(r *Record, c *call) bool {
	lasts := !c.Decision.Each && len(c.Decision.Grown) == 0
	switch {
	case r.Needed < c.question.Needed:
		return false
	case r.Scope == Session:
		a.mu.Lock()
		defer a.mu.Unlock()
		return lasts && r.Binding == c.every && a.sessions[c.Principal.Key()][r.ID]
	case r.Scope == Always:
		return lasts && c.every.since(r.Binding, c.Decision.Ancestors)
	}
	return r.Binding == c.exact
}

// differences returns the ways in which a call differs from the newest approval of the
// skill for the same principal.
func differences(c *call, rows []*Record) []string {
	for _, r := range rows { // the newest first
		if (r.State == store.ApprovalGiven || r.State == store.ApprovalUsed) && r.Owner == c.owner {
			return c.exact.differences(r.Binding)
		}
	}
	return nil
}

// use marks an approval of one call as used. Only one call succeeds.
func (a *Approvals) use(ctx context.Context, r *Record) (bool, error) {
	a.mu.Lock()
	_, spent := a.spent[r.ID]
	a.mu.Unlock()
	if spent {
		a.options.Logger.Warn("a used approval was put back into the store; it does not count", "approval", r.ID)
		return false, nil
	}
	used, err := a.replace(ctx, r, func(r *Record) { r.State = store.ApprovalUsed })
	if used {
		a.spend(r)
	}
	return used, err
}

// spend remembers that an approval is used.
func (a *Approvals) spend(r *Record) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for id, expires := range a.spent {
		if time.Now().After(expires) {
			delete(a.spent, id)
		}
	}
	a.spent[r.ID] = r.Expires
}

// settle records the answer to a call's question, and lets it run if nobody else has to
// confirm it.
func (a *Approvals) settle(ctx context.Context, c *call, scope Scope) error {
	if scope == No {
		return refused(c, "the person said no")
	}
	r, err := a.sign(ctx, c, signerOf(c.Principal), scope)
	if err == nil {
		err = a.trust(ctx, r)
	}
	switch {
	case err != nil:
		return unavailable(err)
	case len(r.Signatures) < r.Needed:
		return a.awaitsSecond(c, r)
	case scope == Session:
		a.mu.Lock()
		defer a.mu.Unlock()
		key := c.Principal.Key()
		if a.sessions[key] == nil {
			a.sessions[key] = map[string]bool{}
		}
		a.sessions[key][r.ID] = true
	case scope == Once:
		a.spend(r)
	}
	c.Approval = r.ID
	return nil
}

// sign records that a person has confirmed a call, and returns the row. An approval of
// one call that is complete is used by it.
func (a *Approvals) sign(ctx context.Context, c *call, who Signer, scope Scope) (*Record, error) {
	complete := store.ApprovalGiven
	if scope == Once {
		complete = store.ApprovalUsed
	}
	if c.pending != nil {
		return c.pending, a.change(ctx, c.pending, a.confirmed(who, scope, complete))
	}
	r := a.newRecord(c)
	a.confirmed(who, scope, complete)(r)
	return r, a.add(ctx, r)
}

// confirmed returns the change of a record that a person confirms. Once enough people
// have done so, it has the complete state.
func (a *Approvals) confirmed(who Signer, scope Scope, complete string) func(*Record) {
	return func(r *Record) {
		now := time.Now()
		r.Signatures, r.Scope = append(r.Signatures, Signature{who, now}), scope
		if len(r.Signatures) < r.Needed {
			return
		}
		r.State, r.Expires = complete, now.Add(a.lifetime(scope))
		if scope != Once {
			r.Binding = r.Every
		}
	}
}

// lifetime returns the time for which an approval of a scope counts.
func (a *Approvals) lifetime(scope Scope) time.Duration {
	switch scope {
	case Always:
		return a.options.Expiry.Always
	case Session:
		return sessionExpiry
	}
	return a.options.Expiry.Once
}

// pend stores the question of a call, unless it is stored, for somebody to answer later.
func (a *Approvals) pend(ctx context.Context, c *call) error {
	if c.pending != nil {
		return nil
	}
	r := a.newRecord(c)
	if err := a.add(ctx, r); err != nil {
		return unavailable(err)
	}
	c.pending = r
	return nil
}

// awaitsSecond returns the error of a call that one person has confirmed, and another one
// has to.
func (a *Approvals) awaitsSecond(c *call, r *Record) error {
	return required(c, r, "a second person, other than "+strings.Join(r.signers(), " and ")+", who has confirmed it already,")
}

// Leave ends the approvals of a principal's session.
func (a *Approvals) Leave(owner identity.Key) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.sessions, owner)
}

// newRecord returns a pending record of a call's question.
func (a *Approvals) newRecord(c *call) *Record {
	now := time.Now()
	return &Record{
		ID: newID(), Owner: c.owner, Subject: c.subject, State: store.ApprovalPending, Expires: now.Add(a.options.Expiry.Pending),
		content: content{Scope: Once, Needed: c.question.Needed, Binding: c.exact, Every: c.every, Question: *c.question, Made: now},
	}
}

// newID returns a name for an approval that cannot be guessed, and can be typed.
func newID() string { return strings.ToLower(rand.Text()[:10]) }

// required returns the error of a call that somebody has to confirm first. It names no
// command that would approve by itself: the one in it asks on a terminal.
func required(c *call, r *Record, who string) error {
	text := fmt.Sprintf(`skill %s is %s, so %s has to say yes first; only then does the same call succeed, once. Say these two lines to them, and wait for their word:
%s
They answer in a terminal of their own, with: skills-mcp approve %s (until %s)
Do not try again before, and do not answer in their place: it asks for their keystrokes.`,
		c.question.Skill, c.question.Class, who, c.question.summary(), r.ID, r.Expires.Format("15:04"))
	return &run.Error{Code: run.ApprovalRequired, Message: text, Retryable: true, Approval: r.ID}
}

// refused returns the error of a call that nobody confirms.
func refused(c *call, why string) error {
	return &run.Error{Code: run.ApprovalRequired, Message: fmt.Sprintf("skill %s did not run: %s; do not try it again unless the person asks for it", c.question.Skill, why)}
}

// unavailable returns the error of a call whose approvals cannot be read or written.
func unavailable(err error) error {
	if errors.Is(err, store.ErrTooManyApprovals) {
		return &run.Error{Code: run.Busy, Message: "too many calls wait for a person's yes; have those answered first (skills-mcp approvals lists them)", Retryable: true, Err: err}
	}
	return &run.Error{Code: run.Unavailable, Message: fmt.Sprintf("nobody can be asked whether it may run: %v", err), Retryable: true, Err: err}
}
