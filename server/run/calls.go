package run

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/skillsmcp/skills-mcp/server/elicit"
	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/scriptio"
	"github.com/skillsmcp/skills-mcp/skills"
)

// Bounds of the calls that scripts make, besides those of [Options.Asking].
const (
	// maxDepth is the number of skills on the stack of a call, the called one included.
	maxDepth = 4
	// maxCalls is the number of calls of one client's call, at every depth.
	maxCalls = 100
)

// A caller makes the calls of one run's script.
type caller struct {
	start    func(context.Context, Request) (*Outcome, error) // [Executor.Run]
	limiter  *callerLimiter
	refuse   func(context.Context, *Proposal, *Call, error) error // [Executor.refuse]
	job      *job
	proposal *Proposal
	left     *atomic.Int32 // calls that the client's call may still make
}

// newCaller returns the caller of a job whose proposal was approved.
func newCaller(start func(context.Context, Request) (*Outcome, error), limiter *callerLimiter, refuse func(context.Context, *Proposal, *Call, error) error, j *job, p *Proposal) *caller {
	c := &caller{start, limiter, refuse, j, p, j.callsLeft}
	if c.left == nil {
		c.left = new(atomic.Int32)
		c.left.Store(maxCalls)
	}
	return c
}

// call answers a line of the script that calls another skill. It waits for the call.
func (c *caller) call(ctx context.Context, line []byte) []byte {
	skill, outcome, err := c.run(ctx, line)
	var answer any
	if outcome != nil {
		answer = c.job.Callees.Answer(skill, outcome, err)
	} else {
		answer = map[string]*Error{"error": AsError(err).ForModel()}
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false) // for scripts without a parser
	if encoder.Encode(answer) != nil {
		return []byte(`{"error":{"code":"INTERNAL_ERROR","message":"the result is not JSON","retryable":false}}` + "\n")
	}
	return text.Bytes()
}

// run makes a call, which takes the way of any other. Without an outcome there is an
// error.
func (c *caller) run(ctx context.Context, line []byte) (*skills.Skill, *Outcome, error) {
	call, err := scriptio.ParseCall(line)
	if err != nil {
		return nil, nil, &Error{Code: InvalidParam, Message: err.Error()}
	}
	if c.job.Callees == nil {
		return nil, nil, &Error{Code: Unavailable, Message: "no skill can be called here"}
	}
	may := c.mayCall()
	skill, err := c.job.Callees.Find(ctx, call.Skill)
	if err != nil {
		return nil, nil, cmp.Or(may, err) // who may call none learns of none
	}
	refused := func(err error) (*skills.Skill, *Outcome, error) {
		r := c.request(skill, call.Args)
		return nil, nil, c.refuse(ctx, &Proposal{Action: ActionSkill, RunID: r.runID(), Skill: skill, Args: call.Args}, &r.Call, err)
	}
	if may != nil {
		return refused(may)
	}
	if err := c.mayCallSkill(skill); err != nil {
		return refused(err)
	}
	if c.job.Parent == "" {
		leave, err := c.limiter.enter(c.job.Principal.Key())
		if err != nil {
			return refused(err)
		}
		defer leave()
	}
	if c.left.Add(-1) < 0 {
		return refused(&Error{Code: ExecutionError, Message: fmt.Sprintf("the skills of this call have called %d others, and may call no more", maxCalls)})
	}
	if c.job.Progress != nil {
		c.job.Progress("calling skill " + skill.QualifiedName())
	}
	outcome, err := c.start(ctx, c.request(skill, call.Args))
	return skill, outcome, err
}

// mayCall returns an [*Error] if the script may call no skill at all.
func (c *caller) mayCall() error {
	name := c.job.skill.QualifiedName()
	switch {
	case len(c.job.skill.Calls) == 0:
		return &Error{Code: PermissionDenied, Message: fmt.Sprintf("skill %s does not declare that it calls others; its frontmatter has to say calls: [NAME]", name)}
	case len(c.proposal.Decision.Calls) == 0:
		return &Error{Code: PermissionDenied, Message: fmt.Sprintf("skill %s is not granted to call others; only the person can, in the configuration", name)}
	case c.job.Session != "":
		return &Error{Code: Unavailable, Message: "nothing can be called in a kept sandbox"}
	}
	return nil
}

// mayCallSkill returns an [*Error] if the script may not call a skill. What the skill
// may do then is decided as for any other call.
func (c *caller) mayCallSkill(skill *skills.Skill) error {
	own, name := c.job.skill.QualifiedName(), skill.QualifiedName()
	stack := append(slices.Clone(c.job.Stack), own)
	path := strings.Join(append(slices.Clone(stack), name), " → ")
	switch {
	case slices.Contains(stack, name):
		return invalid("skills cannot call each other in a circle: %s", path)
	case len(stack) >= maxDepth:
		return invalid("skills call each other at most %d deep: %s", maxDepth, path)
	case !skills.MatchesCall(c.job.skill.Calls, skill):
		return &Error{Code: PermissionDenied, Message: fmt.Sprintf("skill %s does not declare that it calls %s; its frontmatter has to name it in calls", own, name)}
	case !skills.MatchesCall(c.proposal.Decision.Calls, skill):
		return &Error{Code: PermissionDenied, Message: fmt.Sprintf("skill %s is not granted to call %s; only the person can, in the configuration", own, name)}
	case !skill.ModelInvocable: // a script is no person, also where a person has started it
		return &Error{Code: PermissionDenied, Message: fmt.Sprintf("skill %s may be called by a person only", name)}
	}
	return nil
}

// request returns the request of a call. It has the principal and the client of the
// caller's, and at most the workspaces that the caller was granted.
func (c *caller) request(skill *skills.Skill, args map[string]any) Request {
	j, callers := c.job, slices.Clone(c.job.Callers)
	if j.skill.Origin().Kind != skills.OriginOwn {
		callers = append(callers, c.proposal.Digest)
	}
	return Request{Skill: skill, Args: args, Call: Call{
		Principal: j.Principal, Way: WaySkill, Group: j.Group, Connection: j.Connection,
		Stack: append(slices.Clone(j.Stack), j.skill.QualifiedName()), Callers: callers, Parent: j.id,
		Workspaces: c.proposal.Decision.Grant.Workspaces,
		Client:     j.Client, Progress: j.Progress, Warn: j.Warn, Callees: j.Callees, callsLeft: c.left,
	}}
}

// A callerLimiter bounds the clients' calls whose scripts wait for a skill that they have
// called: they hold no slot meanwhile, but up to three processes. One too many is refused.
// To end another, as of those that wait for an answer, would be to end one whose effects
// are there already; so would be to refuse a skill that was called itself.
type callerLimiter struct {
	limits elicit.Limits // Total and PerCaller

	mu     sync.Mutex
	total  int
	owners map[identity.Key]int // entries are never zero
}

func newCallerLimiter(l elicit.Limits) *callerLimiter {
	return &callerLimiter{limits: l.Or(elicit.DefaultLimits()), owners: map[identity.Key]int{}}
}

// enter counts an owner's call as waiting, until leave is called.
func (l *callerLimiter) enter(owner identity.Key) (leave func(), err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.total >= l.limits.Total || l.owners[owner] >= l.limits.PerCaller {
		return nil, &Error{Code: Busy, Message: "too many calls wait for skills that their scripts have called; try again in a moment", Retryable: true}
	}
	l.total++
	l.owners[owner]++
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.total--
		if l.owners[owner]--; l.owners[owner] == 0 {
			delete(l.owners, owner)
		}
	}, nil
}
