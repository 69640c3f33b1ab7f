package approval

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/skillsmcp/skills-mcp/server/elicit"
	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/server/store"
	"github.com/skillsmcp/skills-mcp/skills"
)

// Approve implements the approver of package policy: it looks for an approval that covers
// the call, and else asks down a ladder: the terminal of the person's own call, a form of
// the client, the page, and last an APPROVAL_REQUIRED with the ID of the question.
func (a *Approvals) Approve(ctx context.Context, p *run.Proposal) error {
	c := newCall(p, &a.options)
	if p.Action == run.ActionCode && slices.ContainsFunc(c.question.Args, func(arg Argument) bool { return arg.Size > len(arg.Value) }) {
		return &run.Error{Code: run.InvalidParam, Message: "the code is too long for a person to be shown all of it, and with a skill's grant they have to be; put data into files of the workspace"}
	}
	for answered := false; ; {
		rows, err := a.rows(ctx, c)
		if err != nil {
			return unavailable(err)
		}
		c.pending = nil
		if done, err := a.stored(ctx, c, rows); done {
			return err
		}
		if ends, no := a.memory.refused(c.key()); no {
			return saidNo(c, ends)
		}
		if answered {
			return used(c)
		}
		if p.Way == run.WayHook { // around a call that does not wait for the answer
			return a.later(ctx, c)
		}
		first, done, err := a.asking.once(ctx, c, func() error { return a.ask(ctx, c) })
		switch {
		case errors.Is(err, errCannotAsk): // in time
			return a.wait(ctx, c)
		case first || done && err != nil:
			return err
		}
		answered = done
	}
}

// ask asks down the ladder.
func (a *Approvals) ask(ctx context.Context, c *call) error {
	if c.question.cut() && c.Client.ShowsForms() { // the form names where the whole is
		if err := a.pend(ctx, c); err != nil {
			return err
		}
		c.question.ID = c.pending.ID
	}
	if a.options.Replicas && c.Parent == "" {
		if c.pending == nil && a.ladder.forms.of(c) != nil && c.Client.ShowsForms() {
			if _, err := a.keep(ctx, c); err != nil && !errors.Is(err, errTooMany) {
				return unavailable(err)
			}
		}
		c.fresh = c.pending != nil
	}
	own := ByTerminal
	if a.options.Page != nil { // the terminal is the page's
		own = ByPage
	}
	for _, rung := range []struct {
		way Way
		ask func(context.Context, *call) (Scope, error)
	}{{own, a.ladder.askTerminal}, {ByForm, a.ladder.askForm}} {
		scope, err := rung.ask(ctx, c)
		if errors.Is(err, errCannotAsk) {
			continue
		}
		if err != nil {
			return err
		}
		return a.settle(ctx, c, rung.way, scope)
	}
	if done, err := a.askPage(ctx, c); done {
		return err
	}
	return a.wait(ctx, c)
}

// later is wait for a hook: the question is stored once, and not where each call is asked about.
func (a *Approvals) later(ctx context.Context, c *call) error {
	if c.Quiet || c.Decision.Each && len(c.Decision.Grown) == 0 {
		return refused(c, "nobody has said yes to it for more than one call")
	}
	return a.wait(ctx, c)
}

// wait returns the error of a call whose question waits for somebody's answer elsewhere.
func (a *Approvals) wait(ctx context.Context, c *call) error {
	if err := a.pend(ctx, c); err != nil {
		return err
	}
	return required(c, c.pending, "a person")
}

// Approved implements the approver of package policy.
func (a *Approvals) Approved(ctx context.Context, who identity.Principal, skill *skills.Skill) bool {
	rows, err := a.book.find(ctx, store.DecisionFilter{About: subject(&run.Proposal{Skill: skill})})
	return err == nil && slices.ContainsFunc(rows, func(r *Record) bool {
		return r.State == Given && r.current() && r.Owner == ownerOf(who) && (r.Scope == Always || r.Scope == Session && a.memory.allows(who.Key(), r.ID))
	})
}

// rows returns the records about the skill of a call, and those about its plugin.
func (a *Approvals) rows(ctx context.Context, c *call) ([]*Record, error) {
	rows, err := a.book.find(ctx, store.DecisionFilter{About: c.subject})
	if plugin := pluginSubject(c.Skill); err == nil && plugin != "" {
		var more []*Record
		more, err = a.book.find(ctx, store.DecisionFilter{About: plugin})
		rows = append(rows, more...)
	}
	return rows, err
}

// settle records the answer to a call's question, and lets it run if nobody else has to
// confirm it.
func (a *Approvals) settle(ctx context.Context, c *call, way Way, scope Scope) error {
	if scope == No && c.pending != nil {
		if err := a.book.change(ctx, c.pending, func(r *Record) { r.State = Denied }); err != nil {
			return unavailable(err)
		}
	}
	if scope == No {
		return a.no(c)
	}
	r, err := a.sign(ctx, c, way, scope)
	if err == nil {
		err = a.apply(ctx, r)
	}
	switch {
	case err != nil:
		return unavailable(err)
	case len(r.Signatures) < r.Needed:
		return awaitsSecond(c, r)
	case scope == Session:
		a.memory.allow(c.Principal.Key(), r.ID)
	}
	c.Approval = r.ID
	return nil
}

// no returns the error of a call to which the person has said no, and remembers that: a
// client that tries again does not wear the person out. Their own call is asked about again.
func (a *Approvals) no(c *call) error {
	if c.Principal.Kind == identity.Person || c.Way == run.WayPage {
		return refused(c, "the person said no")
	}
	a.memory.refuse(c.key())
	return saidNo(c, time.Now().Add(noStands))
}

// askPage asks by a link to the page, where the answer is given: the call waits until the
// store has it. done is false if nobody can be asked so.
func (a *Approvals) askPage(ctx context.Context, c *call) (done bool, err error) {
	if c.page == nil || c.Principal.Kind == identity.Person || !c.Client.OpensLinks() {
		return false, nil
	}
	if err := a.pend(ctx, c); err != nil {
		return true, err
	}
	url, ok := c.pageOf(c.pending.ID)
	if !ok {
		return false, nil
	}
	request, err := elicit.NewLink(c.question.summary()+" Open the page to answer.", c.pending.ID, url)
	if err != nil {
		return false, nil
	}
	waiting, leave := a.ladder.waits.Enter(ctx, c.Principal.Key(), c.subject)
	defer leave()
	answer, err := put(waiting, c, request)
	switch {
	case errors.Is(err, errCannotAsk):
		return false, nil
	case err != nil:
		return true, err
	case answer.Action == "accept":
		return true, a.await(waiting, c)
	case !answer.declines():
		return false, nil
	}
	return true, a.no(c)
}

// pagePoll is the interval at which a call looks for the answer of the page.
const pagePoll = 300 * time.Millisecond

// await returns when the question of a call is answered elsewhere.
func (a *Approvals) await(ctx context.Context, c *call) error {
	for {
		rows, err := a.rows(ctx, c)
		if err != nil {
			return unavailable(err)
		}
		c.pending = nil
		if done, err := a.stored(ctx, c, rows); done {
			return err
		}
		if c.pending == nil {
			return refused(c, "its question was withdrawn")
		}
		select {
		case <-time.After(pagePoll):
		case <-ctx.Done():
			return unanswered(ctx, c)
		}
	}
}
