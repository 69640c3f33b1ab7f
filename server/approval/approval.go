// Package approval asks people to confirm calls, and records their answers: once, for a
// session, or for all later calls. An approval covers one binding of skill, files,
// arguments, grant and rules, and nothing else.
//
// Start with [New], whose result is the approver of package policy.
package approval

import (
	"context"
	"crypto/rand"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/skillsmcp/skills-mcp/server/elicit"
	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/seal"
	"github.com/skillsmcp/skills-mcp/server/store"
)

// Approvals ask people and keep their answers. They may be used concurrently, also by
// several processes with one store.
type Approvals struct {
	store   *store.Store
	book    *book
	memory  *memory
	asking  *questions
	ladder  *ladder
	options Options
}

// New returns the approvals in a store. It opens nothing. Options may be nil.
func New(s *store.Store, options *Options) *Approvals {
	o := options.withDefaults()
	if o.Key == nil {
		o.Key = seal.New(filepath.Join(filepath.Dir(s.File()), "approvals.key"), nil)
	}
	if o.Key.PersonID() != "" && o.Forms == FormsAll { // a form signs nothing
		o.Forms = FormsOnce
	}
	return &Approvals{
		store: s, book: &book{table: seal.NewTable(kind, s, o.Key, &seal.Options{Logger: o.Logger}), limits: o.Pending, logger: o.Logger}, memory: newMemory(), asking: &questions{open: map[questionKey]*openQuestion{}},
		ladder: &ladder{o.Terminal, o.Forms, elicit.NewWaitLimiter(o.Asking)}, options: o,
	}
}

// stored answers a call by an approval, or a refusal, that is in the store; done is false
// if somebody has to be asked. It adds the history to the question.
func (a *Approvals) stored(ctx context.Context, c *call, rows []*Record) (done bool, err error) {
	for _, r := range rows {
		if !a.concerns(r, c) {
			continue
		}
		switch {
		case r.State == Given && a.covers(r, c):
			if r.Scope != Once {
				c.Approval = r.ID
				return true, nil
			}
			used, err := a.book.use(ctx, r)
			if err != nil {
				return true, unavailable(err)
			}
			if used {
				c.Approval = r.ID
				return true, nil
			}
		case r.State == Denied && r.Binding == c.exact:
			return true, refused(c, "a person has said no to it")
		case r.asks(c):
			c.pending = r
		}
	}
	c.question.Differs = differences(ctx, c, rows)
	if c.pending != nil {
		c.question.Signed = c.pending.signers()
		if c.pending.SignedBy(SignerOf(c.Principal)) {
			return true, awaitsSecond(c, c.pending)
		}
	}
	return false, nil
}

// covers reports whether a given approval covers a call.
func (a *Approvals) covers(r *Record, c *call) bool {
	if r.Scope == Once {
		return r.Needed >= c.question.Needed && r.Binding == c.exact
	}
	return lasts(a.memory, r, c, c.binding(r))
}

// lasts reports whether a given approval of more than one call covers those of a binding,
// which have the files, the grant and the rules of c.
func lasts(m *memory, r *Record, c *call, b Binding) bool {
	switch {
	case r.Needed < c.question.Needed, c.Decision.Each, len(c.Decision.Grown) > 0:
		return false
	case r.Scope == Session:
		return r.Binding == b && m.allows(c.Principal.Key(), r.ID)
	case r.Scope == WholePlugin:
		return c.ofPlugin(r)
	}
	return b.since(r.Binding, c.ancestors())
}

// sign records that a person has confirmed a call, and returns the row. An approval of
// one call that is complete is used by it.
func (a *Approvals) sign(ctx context.Context, c *call, way Way, scope Scope) (*Record, error) {
	who, complete := SignerOf(c.Principal), Given
	if scope == Once {
		complete = Used
	}
	if c.pending != nil {
		return c.pending, a.book.change(ctx, c.pending, a.confirmed(who, way, scope, complete))
	}
	r := a.newRecord(c)
	a.confirmed(who, way, scope, complete)(r)
	return r, a.book.add(ctx, r)
}

// confirmed returns the change of a record that a person confirms. Once enough people
// have done so, it has the complete state.
func (a *Approvals) confirmed(who Signer, way Way, scope Scope, complete string) func(*Record) {
	return func(r *Record) {
		now := time.Now()
		r.Signatures, r.Scope = append(r.Signatures, Signature{who, way, now}), scope
		if len(r.Signatures) < r.Needed {
			return
		}
		r.State, r.Expires = complete, now.Add(a.options.Expiry.lifetime(scope))
		r.bindTo(scope)
	}
}

// pend stores the question of a call, unless it is stored, for somebody to answer later.
func (a *Approvals) pend(ctx context.Context, c *call) error {
	if c.pending != nil {
		return nil
	}
	c.offerPlugin(ctx)
	added, err := a.keep(ctx, c)
	if err != nil {
		return unavailable(err)
	}
	if added && a.options.Notify != nil {
		a.options.Notify(c.pending)
	}
	return nil
}

// keep stores the question of a call, and reports whether it was not stored yet.
func (a *Approvals) keep(ctx context.Context, c *call) (added bool, err error) {
	r := a.newRecord(c)
	err = a.book.add(ctx, r)
	if errors.Is(err, errSame) { // of an equal call, at the same time
		rows, failed := a.book.find(ctx, store.DecisionFilter{About: c.subject})
		i := slices.IndexFunc(rows, func(r *Record) bool { return a.concerns(r, c) && r.asks(c) })
		if failed == nil && i >= 0 {
			c.pending = rows[i]
			return false, nil
		}
	}
	if err != nil {
		return false, err
	}
	c.pending = r
	return true, nil
}

// concerns reports whether a record may be about a call, and counts here.
func (a *Approvals) concerns(r *Record, c *call) bool {
	return r.current() && r.concerns(c.owner) && r.Proofs == a.options.Key.ID()
}

// Leave ends the approvals of a principal's session.
func (a *Approvals) Leave(owner identity.Key) {
	a.memory.leave(owner)
}

// newRecord returns a pending record of a call's question.
func (a *Approvals) newRecord(c *call) *Record {
	now := time.Now()
	return &Record{
		ID: newID(), Owner: c.owner, Subject: c.subject, State: Pending, Expires: now.Add(a.options.Expiry.Pending),
		client:  digestOf(string(c.Principal.Key())),
		content: content{Scope: Once, Needed: c.question.Needed, Binding: c.exact, Every: c.every, OfPlugin: c.plugin(), Question: *c.question, Made: now, Proofs: a.options.Key.ID()},
	}
}

// newID returns a name for an approval that cannot be guessed, and can be typed.
func newID() string { return strings.ToLower(rand.Text()[:10]) }

// apply trusts the workspace of a record that enough people have confirmed, or consents to
// its fetch, as it was when it was shown.
func (a *Approvals) apply(ctx context.Context, r *Record) error {
	switch t, f := r.Question.Trust, r.Question.Fetch; {
	case t == nil && f == nil || len(r.Signatures) < r.Needed:
		return nil
	case f != nil && a.options.Servers == nil:
		return errors.New("skills of other servers cannot be fetched here")
	case f != nil:
		return a.options.Servers.Consent(ctx, f)
	case a.options.Workspaces == nil:
		return errors.New("workspaces cannot be trusted here")
	default:
		return a.options.Workspaces.Trust(ctx, t)
	}
}
