package agents

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/server/termtext"
)

const (
	maxText   = 100 << 10 // bytes of a task, and of a message
	maxLabel  = 100       // characters
	runIDSize = 6         // bytes
)

// refuse returns an error for the caller. One that says that there are too many may be
// tried again.
func refuse(code run.Code, format string, args ...any) error {
	return &run.Error{Code: code, Message: fmt.Sprintf(format, args...), Retryable: code == run.Busy}
}

var errNoParent = refuse(run.PermissionDenied, "the session of this agent has ended")

// Spawn starts a session for who: a client, or the session of an agent. It is stored before
// Spawn returns.
func (s *Sessions) Spawn(ctx context.Context, who identity.Principal, r SpawnRequest) (*Session, error) {
	<-s.swept // else it would take the session for one of a process that has ended
	if err := r.check(); err != nil {
		return nil, err
	}
	parent, err := s.parentOf(who)
	if err != nil {
		return nil, err
	}
	if depth := parent.depth() + 1; depth > s.options.Depth {
		return nil, refuse(run.PermissionDenied, "a session of this agent would have the depth %d, and at most %d is allowed (agents.depth); do the task yourself", depth, s.options.Depth)
	}
	agent, err := s.options.agentFor(ctx, who, parent, r)
	if err != nil {
		return nil, err
	}
	model, err := s.options.modelFor(parent, cmp.Or(r.Model, agent.Model))
	if err != nil {
		return nil, err
	}
	l := newLive(s, who, parent, agent, model, r)
	if parent == nil && s.options.Watch != nil {
		l.counts = s.options.Watch(ctx, who)
	}
	if err := s.admit(ctx, who, l); err != nil {
		return nil, err
	}
	if err := s.table.Add(ctx, rowOf(&l.session, false)); err != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		l.withdraw()
		delete(s.live, l.session.RunID)
		l.cancel(err)
		s.all.Done()
		return nil, &run.Error{Code: run.InternalError, Message: "the session cannot be stored", Retryable: true, Err: err}
	}
	started := l.read()
	go func() { // admit has added it to all
		defer s.all.Done()
		l.run()
	}()
	return started, nil
}

// check checks the texts, which the schema of the tool does not bound.
func (r *SpawnRequest) check() error {
	switch {
	case strings.TrimSpace(r.Task) == "":
		return refuse(run.InvalidParam, "the task is empty")
	case len(r.Task) > maxText || !utf8.ValidString(r.Task):
		return refuse(run.InvalidParam, "the task has to be a text of at most %d KB; put more into a file", maxText>>10)
	case utf8.RuneCountInString(r.Label) > maxLabel || termtext.Line(r.Label, utf8.UTFMax*maxLabel) != r.Label: // clients would get two labels as one
		return refuse(run.InvalidParam, "the label has to be a text of at most %d characters, on one line, all visible", maxLabel)
	case isRunID(r.Label):
		return refuse(run.InvalidParam, "the label %q looks like a run ID; choose another", r.Label)
	}
	return nil
}

func isRunID(text string) bool {
	_, err := hex.DecodeString(text)
	return err == nil && len(text) == 2*runIDSize
}

// parentOf returns the session whose agent is who; nil for a client.
func (s *Sessions) parentOf(who identity.Principal) (*live, error) {
	if len(who.Agents) == 0 {
		return nil, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if l := s.live[who.Session]; l != nil && !l.closing {
		return l, nil
	}
	return nil, errNoParent
}

// agentFor returns the agent of a request, if the parent's allow-list has it.
func (o *Options) agentFor(ctx context.Context, who identity.Principal, parent *live, r SpawnRequest) (*Agent, error) {
	name := r.Agent
	if name == Auto {
		if name = o.Route(ctx, who, r.Task); name == "" {
			return nil, refuse(run.NotFound, "no skill that fits the task names an agent; choose one yourself")
		}
	}
	agent, err := o.Find(ctx, who, name)
	if err != nil || parent == nil || parent.agent.AllowAgents == nil || slices.Contains(parent.agent.AllowAgents, agent.Name) {
		return agent, err
	}
	return nil, refuse(run.PermissionDenied, "%s may not spawn %s: its allow_agents are %s", parent.agent.Name, agent.Name, cmp.Or(strings.Join(parent.agent.AllowAgents, ", "), "none"))
}

// modelFor returns the model of a name. That of the parent, or the default, has the names ""
// and "inherit".
func (o *Options) modelFor(parent *live, name string) (*Model, error) {
	if name == "" || name == Inherit {
		if parent != nil {
			return parent.model, nil
		}
		name = o.Model
	}
	model := o.Models[name]
	if model == nil {
		return nil, refuse(run.InvalidParam, "there is no model %.100q; the configured ones are %s (agents.models)", name, strings.Join(slices.Sorted(maps.Keys(o.Models)), ", "))
	}
	return model, nil
}

// newLive returns a session that has not been admitted.
func newLive(s *Sessions, who identity.Principal, parent *live, agent *Agent, model *Model, r SpawnRequest) *live {
	var id [runIDSize]byte
	_, _ = rand.Read(id[:]) // it never fails
	now := time.Now()
	l := &live{sessions: &s.registry, parent: parent, who: who, workspaces: r.Workspaces, agent: agent, model: model, ended: make(chan struct{}), news: make(chan struct{}, 1)}
	l.session = Session{
		RunID: hex.EncodeToString(id[:]), Agent: agent.Name, ParentSession: string(who.Key()), Task: r.Task, Label: r.Label, Model: r.Model, Status: Running,
		Depth: parent.depth() + 1, Cleanup: cmp.Or(r.Cleanup, Keep), Created: now, Started: now, Root: who.Key(), Owner: who.Owner(), Budget: s.options.Budget,
	}
	l.session.Label = cmp.Or(r.Label, agent.Name+"-"+l.session.RunID)
	base, deadline, own := s.ctx, now.Add(cmp.Or(r.Timeout, s.options.Timeout)), true
	if end := who.Expires; !end.IsZero() && end.Before(deadline) {
		deadline = end
	}
	if parent != nil {
		base = parent.ctx
		if d, _ := base.Deadline(); !deadline.Before(d) {
			deadline, own = d, false
		}
		l.session.ParentSession, l.session.ParentAgent = parent.session.RunID, parent.agent.Name
		l.session.Root, l.session.Owner = parent.session.Root, parent.session.Owner
		l.session.Ancestors = append(slices.Clip(parent.session.Ancestors), parent.session.RunID)
	}
	l.session.Timeout = deadline.Sub(now).Seconds()
	l.awaited = r.Awaited && parent == nil
	l.who.Session, l.who.Agents = l.session.RunID, append(slices.Clip(who.Agents), agent.Name)
	ctx, cancel := context.WithCancelCause(identity.NewContext(base, l.who))
	release := func() {}
	if own { // else its own timer could be first, and its parent would go on
		ctx, release = context.WithDeadlineCause(ctx, deadline, errTimeout)
	}
	l.ctx, l.cancel = ctx, func(cause error) { cancel(cause); release() }
	return l
}

// admit adds a session to those that run, if the limits allow one more.
func (s *Sessions) admit(ctx context.Context, who identity.Principal, l *live) (err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer func() {
		if err != nil {
			l.cancel(err)
		}
	}()
	p, most := l.parent, s.options.MaxChildren
	switch {
	case ctx.Err() != nil: // its client may have left, and nobody would hear of it
		return context.Cause(ctx)
	case s.closed:
		return &run.Error{Code: run.Unavailable, Message: "the server is stopping", Retryable: true}
	case p != nil && p.closing:
		return errNoParent
	case p != nil:
		if own := p.agent.MaxChildren; own > 0 {
			most = min(most, own)
		}
		if l.session.Budget, err = p.ledger.left(); err != nil {
			return refuse(run.PermissionDenied, "no subagent can be spawned: %v", err)
		}
		l.left, l.ledger = p.left, newLedger(p.ledger, l.session.Budget)
	default:
		l.ledger = newLedger(nil, l.session.Budget)
	}
	running, owned, children := 0, 0, 0
	for _, other := range s.live {
		if other.session.Label == l.session.Label && (other.session.Root == l.session.Root || other.isSeenBy(who)) { // the client may be told of any below it
			return refuse(run.InvalidParam, "the label %q is taken; choose another", l.session.Label)
		}
		if other.hasEnded() {
			continue
		}
		running++
		if other.session.Owner == l.session.Owner {
			owned++
		}
		if other.session.ParentSession == l.session.ParentSession {
			children++
		}
	}
	switch {
	case children >= most:
		return refuse(run.Busy, "%d subagents of this session run already (max_children); wait for one to end, or end one with sessions_kill", children)
	case running >= maxRunning:
		return refuse(run.Busy, "%d subagents run on this server already; try again when one has ended", running)
	case owned >= maxOwned:
		return refuse(run.Busy, "%d subagents of yours run already; wait for one to end, or end one with sessions_kill", owned)
	}
	s.all.Add(1)
	s.live[l.session.RunID] = l
	if p != nil {
		p.running++
		p.session.Children = append(p.session.Children, l.session.RunID)
	}
	return nil
}
