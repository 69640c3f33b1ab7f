package api

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/skillsmcp/skills-mcp/server/approval"
	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/run"
)

// An Answer answers a question of an approval.
type Answer struct {
	Scope approval.Scope `json:"scope" jsonschema:"enum=no,enum=once,enum=same,enum=below,enum=plugin,enum=always"` // No denies
	// As names a second person of policy.approvers, whom the passphrase proves.
	As         string `json:"as,omitempty" jsonschema_description:"a second person of policy.approvers"`
	Passphrase string `json:"passphrase,omitempty" jsonschema_description:"of that person"`
	// Token is the one of policy.script_token, with which a script answers once; "" is none.
	Token string `json:"-"`
	// Bearer reports that a bearer token proves the principal, and no session of the page.
	Bearer bool `json:"-"`
}

// An ApprovalService has the operations on approvals.
type ApprovalService struct {
	options *Options
	prover  prover
}

// Approvals returns the records that wait or count, or all with those that have ended; the
// newest first. A principal that does not oversee those of others gets those about its own
// calls.
func (s *ApprovalService) Approvals(ctx context.Context, ended bool) ([]*approval.Record, error) {
	all, err := s.options.Approvals.List(ctx, ended)
	if err != nil {
		return nil, run.AsError(err)
	}
	return slices.DeleteFunc(all, func(r *approval.Record) bool { return !concerns(ctx, r) }), nil
}

// concerns reports whether the principal of ctx may see a record.
func concerns(ctx context.Context, r *approval.Record) bool {
	who := identity.FromContext(ctx)
	return who.Oversees() || r.OwnedBy(who)
}

// Approval returns one record.
func (s *ApprovalService) Approval(ctx context.Context, id string) (*approval.Record, error) {
	r, err := s.options.Approvals.Find(ctx, id)
	_, missing := errors.AsType[*approval.AnswerError](err)
	if !isPerson(ctx) && (missing || err == nil && !concerns(ctx, r)) {
		// Either way: nobody learns of others' questions.
		return nil, &run.Error{Code: run.NotFound, Message: "there is no approval " + id + " of yours"}
	}
	return r, answerError(err, run.NotFound)
}

// Answer records a person's answer to a question, or that of a script of theirs.
func (s *ApprovalService) Answer(ctx context.Context, id string, a Answer) (*approval.Record, error) {
	ctx, who, err := s.signer(ctx, &a)
	if err != nil {
		return nil, err
	}
	r, err := answered(ctx, s, id, &a)
	if err != nil {
		return nil, err
	}
	if a.Scope == approval.No {
		r, err = s.options.Approvals.Deny(ctx, id)
		return r, answerError(err, run.InvalidParam)
	}
	approvals := s.options.Approvals
	if t := r.Question.Trust; t != nil && s.options.Trusting != nil {
		if approvals, err = s.options.Trusting(ctx, t); err != nil {
			return nil, run.AsError(err)
		}
	}
	return r, answerError(approvals.Confirm(ctx, r, who, a.way(), a.Scope), run.InvalidParam)
}

// answered returns the record of a question that the principal of ctx answers.
func answered(ctx context.Context, s *ApprovalService, id string, a *Answer) (*approval.Record, error) {
	if a.Token != "" {
		r, err := s.options.Approvals.Find(ctx, id)
		return r, answerError(err, run.NotFound)
	}
	r, err := s.Approval(ctx, id)
	switch {
	case err != nil || MayAnswer(ctx, r):
		return r, err
	case r.Question.OfMachine():
		return nil, denied("a yes to this changes the server for everybody, so only the person who runs it gives it")
	}
	return nil, denied("the first yes is of the person whose call it is; you can give the second one, where two are needed")
}

// way returns the way in which an answer came.
func (a *Answer) way() approval.Way {
	switch {
	case a.Token != "":
		return approval.ByScript
	case a.Bearer:
		return approval.ByToken
	}
	return approval.ByPage
}

// signer returns the proved signer of an answer, and the context that signs for them.
func (s *ApprovalService) signer(ctx context.Context, a *Answer) (proved context.Context, who approval.Signer, err error) {
	if a.Token != "" {
		proved, err = s.prover.script(ctx, s.options.Passphrases.Script, a)
		return proved, approval.Local(), err
	}
	if err := onlyAnswering(ctx); err != nil {
		return ctx, who, err
	}
	if p := identity.FromContext(ctx); p.Named() {
		if a.As != "" {
			return ctx, who, invalid("a second person signs in as themself")
		}
		return ctx, approval.SignerOf(p), nil
	}
	who, hash, err := s.options.Passphrases.Signer(a.As)
	if err != nil || a.As == "" { // the session has proved the person of this machine
		return ctx, who, answerError(err, run.InvalidParam)
	}
	proved, err = s.prover.prove(ctx, hash, a.Passphrase, "this is not the passphrase of that person")
	return proved, who, err
}

// Revoke withdraws an approval, or a question that waits: a person one of their own, and the
// person of this machine any.
func (s *ApprovalService) Revoke(ctx context.Context, id string) error {
	if err := onlyAnswering(ctx); err != nil {
		return err
	}
	r, err := s.Approval(ctx, id) // a name would revoke more
	if err != nil {
		return err
	}
	if !MayRevoke(ctx, r) {
		return denied("this approval is of another person")
	}
	_, err = s.options.Approvals.Revoke(ctx, id)
	return answerError(err, run.InvalidParam)
}

// answerError returns an error of package approval as a [*run.Error]: one that says why an
// answer does not count has a code.
func answerError(err error, code run.Code) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*approval.AnswerError](err); ok {
		return &run.Error{Code: code, Message: e.Error(), Err: err}
	}
	return run.AsError(err)
}

// A prover checks passphrases and tokens, one at a time. It has room for the one that is
// checked.
type prover chan struct{}

// script returns the context of an answer that a script may give with the token of a hash.
func (p prover) script(ctx context.Context, hash string, a *Answer) (context.Context, error) {
	switch {
	case hash == "":
		return ctx, denied("scripts cannot answer: no token is set up as policy.script_token in the configuration")
	case a.Scope != approval.Once || a.As != "":
		return ctx, invalid("a script answers %q, and for nobody else", approval.Once)
	}
	return p.prove(ctx, hash, a.Token, "this is not the token of policy.script_token")
}

// proofPause is the time after a wrong passphrase in which none is checked.
const proofPause = time.Second

// prove returns a context that signs with the passphrase of a hash, or an error if a text is
// not it. A wrong one holds the next up: nobody tries many.
func (p prover) prove(ctx context.Context, hash, text, wrong string) (context.Context, error) {
	select {
	case p <- struct{}{}:
	case <-ctx.Done():
		return ctx, context.Cause(ctx)
	}
	release := func() { <-p }
	proved, ok := approval.Prove(ctx, hash, text)
	if !ok {
		time.AfterFunc(proofPause, release)
		return ctx, denied(wrong)
	}
	release()
	return proved, nil
}
