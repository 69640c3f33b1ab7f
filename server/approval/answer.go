package approval

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/store"
)

// An AnswerError says why an answer to a question does not count.
type AnswerError struct{ why string }

func (e *AnswerError) Error() string { return e.why }

func wrong(format string, args ...any) error { return &AnswerError{fmt.Sprintf(format, args...)} }

// Find returns the record of an ID. The error is an [*AnswerError] if there is none that
// counts.
func (a *Approvals) Find(ctx context.Context, id string) (*Record, error) {
	all, err := a.book.find(ctx, store.DecisionFilter{Key: id})
	switch {
	case err != nil:
		return nil, err
	case len(all) > 0 && id != "":
		return all[0], nil
	}
	return nil, wrong("there is no approval %q; skills-mcp approvals lists those that wait", id)
}

// Open returns the record of an ID that a person may still confirm. The error is an
// [*AnswerError] if they may not.
func (a *Approvals) Open(ctx context.Context, id string, who Signer) (*Record, error) {
	r, err := a.Find(ctx, id)
	if err != nil {
		return nil, err
	}
	switch {
	case r.State == Pending && !r.current():
		return nil, wrong("the question %s has expired, at %s; have the call made again", id, r.Expires.Format(time.DateTime))
	case r.State == Pending && r.SignedBy(who):
		return nil, wrong("%s has confirmed %s already; it needs a second person, who is another one", who.Name, id)
	case r.State == Pending && r.Proofs != a.options.Key.ID():
		return nil, wrong("%s was asked under other passphrases than those of this configuration (policy.passphrase, approvers, script_token); answer with the configuration of the program that asked", id)
	case r.State == Pending:
		return r, nil
	case r.State == Given && !r.current():
		return nil, wrong("%s was approved, and has expired; have the call made again", id)
	case r.State == Given:
		return nil, wrong("%s is approved already; have the call made again, before %s", id, r.Expires.Format(time.DateTime))
	}
	return nil, wrong("%s is %s already; have the call made again, which asks again", id, r.State)
}

// Confirm records that a person has confirmed a question with a scope, and in which way. The record is still
// pending afterwards if another person has to confirm it, too.
func (a *Approvals) Confirm(ctx context.Context, r *Record, who Signer, way Way, scope Scope) error {
	now, err := a.Open(ctx, r.ID, who)
	if err != nil {
		return err
	}
	if who.named() && now.Question.OfMachine() {
		return wrong("%s changes this server for everybody, so only the person of this machine confirms it: skills-mcp approve %s", r.ID, r.ID)
	}
	if now.Binding != r.Binding || !slices.Contains(now.Question.Answers(), scope) || scope == Session {
		return wrong("%s cannot be confirmed as %q", r.ID, scope)
	}
	err = a.book.change(ctx, now, a.confirmed(who, way, scope, Given))
	if err == nil {
		err = a.apply(ctx, now)
	}
	*r = *now
	return err
}

// Deny records that a person refuses a question: the same call is refused until the
// question expires.
func (a *Approvals) Deny(ctx context.Context, id string) (*Record, error) {
	r, err := a.Find(ctx, id)
	switch {
	case err != nil:
		return nil, err
	case r.State == Given:
		return nil, wrong("%s is approved already; skills-mcp revoke %s withdraws that", id, id)
	case r.State != Pending || !r.current():
		return nil, wrong("%s does not wait for an answer", id)
	}
	return r, a.book.change(ctx, r, func(r *Record) { r.State = Denied })
}

// Revoke withdraws the approval of an ID, or all of the skill of a qualified name, and the
// questions about it.
func (a *Approvals) Revoke(ctx context.Context, idOrName string) ([]*Record, error) {
	all, err := a.book.find(ctx, store.DecisionFilter{})
	if err != nil {
		return nil, err
	}
	var revoked []*Record
	for _, r := range all {
		if !r.called(idOrName) || !r.lives() {
			continue
		}
		if err := a.book.change(ctx, r, func(r *Record) { r.State = Revoked }); err != nil {
			return revoked, err
		}
		revoked = append(revoked, r)
	}
	if len(revoked) == 0 {
		return nil, wrong("there is no approval, and no skill with one, that is called %q", idOrName)
	}
	return revoked, nil
}

// called reports whether a record has an ID, or is about the skill or the plugin of a name.
func (r *Record) called(idOrName string) bool {
	return r.ID == idOrName || r.Question.Skill == idOrName || r.Scope == WholePlugin && r.Question.Plugin.Name == idOrName
}

// Stamp returns a text that differs after each change of a record: of one principal, or of
// all for nil.
func (a *Approvals) Stamp(ctx context.Context, who *identity.Principal) (string, error) {
	switch {
	case who == nil:
		return a.store.DecisionsStamp(ctx, kind, Pending, "", "")
	case who.Named(): // with each profile
		return a.store.DecisionsStamp(ctx, kind, Pending, string(who.Owner()), string(who.Owner())+"/")
	}
	return a.store.DecisionsStamp(ctx, kind, Pending, ownerOf(*who), "")
}

// List returns the records that wait for an answer or that count, or all with those that
// have ended; the newest first.
func (a *Approvals) List(ctx context.Context, ended bool) ([]*Record, error) {
	all, err := a.book.find(ctx, store.DecisionFilter{})
	if err != nil || ended {
		return all, err
	}
	return slices.DeleteFunc(all, func(r *Record) bool { return !r.lives() }), nil
}
