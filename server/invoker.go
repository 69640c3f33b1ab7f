package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/skillsmcp/skills-mcp/server/clientroots"
	"github.com/skillsmcp/skills-mcp/server/elicit"
	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/output"
	"github.com/skillsmcp/skills-mcp/server/replica"
	"github.com/skillsmcp/skills-mcp/server/result"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/server/tasks"
	"github.com/skillsmcp/skills-mcp/server/transport"
	"github.com/skillsmcp/skills-mcp/skills"
)

// An invoker runs skills and code for clients: it relays questions, sends progress, and
// makes tasks of calls that take long.
type invoker struct {
	executor *run.Executor
	find     *finder
	roots    *clientroots.Cache   // of legacy clients
	pending  *elicit.PendingCalls // calls that ask
	tasks    *tasks.Store
	outputs  *output.Store // of runs
	replicas *replica.Set  // nil are none
	usage    Usage         // nil counts nothing
	servers  Connected     // nil are none
	left     func(identity.Key)
	harmless func(task []byte) []byte // changes encoded tasks; nil changes none
	failures
}

// workspaces returns the workspaces of the client of ctx: that of its profile, else its roots,
// if it has sent some, or else the server's.
func (i *invoker) workspaces(ctx context.Context) []string {
	return i.executor.Workspaces(ctx, identity.FromContext(ctx), i.chosen(ctx))
}

// chosen returns the workspaces that the client of ctx chose by its roots, and for a subagent
// that of its client's; none are the server's.
func (i *invoker) chosen(ctx context.Context) []string {
	if s, own := mcpserver.ClientSessionFromContext(ctx).(interface{ Workspaces() []string }); own {
		return s.Workspaces()
	}
	return i.roots.Of(ctx)
}

// complete sets the fields that every call of the client has.
func (i *invoker) complete(c *run.Call, r *request, p *progress) {
	if i.replicas != nil { // which find its outputs by that
		c.RunID = i.replicas.Name(run.NewID())
	}
	c.Principal, c.Workspaces = r.principal, i.workspaces(r.ctx)
	c.Group, c.Connection = share(r.ctx)
	c.Stderr, c.Progress, c.Warn = p, p.say, p.warn
	c.Callees = i.callees(r)
}

// callees returns the skills that the script of a request's call may call.
func (i *invoker) callees(r *request) run.Callees {
	return result.Callees(func(ctx context.Context, name string) (*skills.Skill, error) {
		inner := *r
		inner.ctx = ctx
		return i.find.named(&inner, name)
	})
}

// run runs a skill for a client, with its stderr, and the reasons for which it waits,
// as progress. The call of req has a session and a timeout only. Without a report
// there is an error, or in asked the result with the questions that the client has to
// answer first.
func (i *invoker) run(r *request, req run.Request) (report *result.Report, asked *mcp.CallToolResult, err error) {
	return i.perform(r, req.Skill.QualifiedName(), &req.Call, req.Skill, func(ctx context.Context) (*run.Outcome, error) { return i.executor.Run(ctx, req) })
}

// perform has do make the call c, of a skill or of code that may name one. For the rest see
// run.
func (i *invoker) perform(r *request, label string, c *run.Call, skill *skills.Skill, do func(context.Context) (*run.Outcome, error)) (report *result.Report, asked *mcp.CallToolResult, err error) {
	var o *run.Outcome
	p := newProgressOf(r, label)
	defer p.close()
	i.complete(c, r, p)
	if skill == nil || !skill.Interactive() && r.retry.RequestState == "" && !i.executor.MayAsk(r.principal, skill) {
		o, err = do(r.ctx)
	} else {
		o, asked, err = asking(i, r, p, c, do)
	}
	if o != nil && skill != nil {
		i.count(skill)
	}
	if missing := missingCapability(r.ctx, err); missing != nil {
		return nil, nil, missing
	}
	if o == nil {
		return nil, asked, err
	}
	return i.newReport(r, skill, o, err), nil, nil
}

// newReport returns the report of a run to the client of r.
func (i *invoker) newReport(r *request, skill *skills.Skill, o *run.Outcome, err error) *result.Report {
	return result.NewReport(result.Client{
		Outputs: i.outputs, Owner: r.principal.Key(),
		Links:  speaks(r.ctx, mcp.ProtocolVersion20250618),
		Sounds: speaks(r.ctx, mcp.ProtocolVersion20250326),
		Whole:  skill != nil && skill.Entry.Reads(),
	}, skill, o, err)
}

// speaks reports whether the client speaks a revision of the protocol, or a later one.
func speaks(ctx context.Context, revision string) bool {
	version := mcpserver.RequestProtocolVersion(ctx)
	return version == "" || version >= revision
}

// count counts a use of a skill.
func (i *invoker) count(skill *skills.Skill) {
	if i.usage != nil {
		i.usage.Used(skill.QualifiedName())
	}
}

// asking calls do, whose call c may ask the client of a request. In asked is the result
// with the questions that the client has to answer first, if there are any: the call then
// lasts from one request of the client to the next.
func asking[T any](i *invoker, r *request, p *progress, c *run.Call, do func(context.Context) (T, error)) (result T, asked *mcp.CallToolResult, err error) {
	switch {
	case !mcpserver.IsModernRequest(r.ctx):
		c.Client = r.client(r.ctx, progressAsker{elicit.Sender(transport.Request), p})
		result, err = do(r.ctx)
		return result, nil, err
	case r.retry.method == "":
		c.Client = elicit.Nobody("nobody can be asked in the answer to such a request; call the skill's tool instead")
		result, err = do(r.ctx)
		return result, nil, err
	}
	return askingBetween(i, r, p, c, do)
}

// askingBetween starts a call that lasts from one request of a client to the next, or
// continues the one that has asked.
func askingBetween[T any](i *invoker, r *request, p *progress, c *run.Call, do func(context.Context) (T, error)) (result T, asked *mcp.CallToolResult, err error) {
	args, err := json.Marshal(r.retry.args) // sorted by name
	if err != nil {
		return result, nil, fmt.Errorf("encode arguments: %w", err)
	}
	call := elicit.Call{
		Owner: r.principal.Key(), Method: r.retry.method, Name: r.retry.name, Args: args,
		State: r.retry.RequestState, Responses: r.retry.InputResponses, Outlives: r.task.Asks, Stderr: p, Progress: p.say,
	}
	type ended struct {
		result T
		err    error
	}
	came, err := i.pending.Do(r.ctx, call, func(ctx context.Context, between *elicit.PendingCall) (came any) {
		defer i.recover(func(err error) { came = ended{err: err} }) // no transport is around it
		c.Client = r.client(ctx, between)
		c.Stderr, c.Progress = between, between.Say
		result, err := do(ctx)
		return ended{result, err}
	})
	if required, ok := errors.AsType[*elicit.Required](err); ok {
		kind, questions, err := required.Result()
		return result, &mcp.CallToolResult{Result: kind, MultiRoundTripResult: questions}, err
	}
	if err != nil {
		return result, nil, err
	}
	last := came.(ended) // of this function, as the state is
	return last.result, nil, last.err
}

// openSession opens a session for a client.
func (i *invoker) openSession(r *request, req run.OpenRequest) (*run.Session, error) {
	p := newProgressOf(r, "open_sandbox")
	defer p.close()
	i.complete(&req.Call, r, p)
	return i.executor.OpenSession(r.ctx, req)
}

// patience is the time after which a call becomes a task, for clients that know tasks.
// Most calls end before, and cost one request; clients give up on calls that are silent
// for a minute, and a model can do something else meanwhile.
const patience = 5 * time.Second

// asTask answers a call with a task if it takes long, or the skill says so, for
// clients that know tasks.
func (i *invoker) asTask(r *request, task skills.Task, handle handler) (*mcp.CallToolResult, error) {
	switch {
	case tasks.Declared(r.ctx):
	case task == skills.TaskRequired && mcpserver.IsModernRequest(r.ctx):
		return nil, tasks.Undeclared()
	case task == skills.TaskRequired: // its protocol has neither the tasks nor that error
		return nil, &run.Error{Code: run.Unavailable, Message: "this skill is run for clients that know the tasks of MCP 2026-07-28 only; use one of these"}
	default:
		return handle(r)
	}
	c := tasks.Call{Owner: r.principal.Key(), Patience: patience, Shown: i.harmless}
	if task != skills.TaskLong {
		c.Patience = 0
	}
	return i.tasks.Do(r.ctx, c, func(ctx context.Context, t *tasks.Task) (*mcp.CallToolResult, error) {
		own := *r // which goes on when r is answered
		own.ctx, own.task = ctx, t
		result, err := handle(&own)
		if err != nil {
			return i.answer(err)
		}
		return result, nil
	})
}

// execute runs a skill and returns the result of its own tool.
func (i *invoker) execute(r *request, req run.Request) (*mcp.CallToolResult, error) {
	report, asked, err := i.run(r, req)
	if report == nil {
		return asked, err
	}
	return report.ToolResult(req.Skill.Entry), nil
}

// report runs a skill and returns the whole result of its run.
func (i *invoker) report(r *request, req run.Request) (*mcp.CallToolResult, error) {
	report, asked, err := i.run(r, req)
	if report == nil {
		return asked, err
	}
	return report.RunResult(), nil
}

// reportCode runs code and returns the whole result of its run.
func (i *invoker) reportCode(r *request, req run.CodeRequest) (*mcp.CallToolResult, error) {
	report, asked, err := i.perform(r, "run_code", &req.Call, req.Skill, func(ctx context.Context) (*run.Outcome, error) { return i.executor.RunCode(ctx, req) })
	if report == nil {
		return asked, err
	}
	return report.RunResult(), nil
}

// leave ends the tasks, questions, outputs and sessions of an owner that has left.
// Principals leave with the session that they name; those of modern clients over HTTP
// name none, so their things end with their lifetimes.
func (i *invoker) leave(owner identity.Key) {
	i.tasks.Leave(owner)
	i.pending.Leave(owner)
	i.outputs.Forget(owner)
	if i.left != nil {
		i.left(owner)
	}
	i.executor.EndSessions(owner)
}

// close ends the calls that are tasks or wait for an answer, and waits for them.
func (i *invoker) close() {
	i.tasks.Close()
	i.pending.Close()
}

// A progressAsker reports as progress whose answer the call awaits.
type progressAsker struct {
	elicit.Asker
	progress *progress
}

func (h progressAsker) Ask(ctx context.Context, requests map[string]*elicit.Request) (map[string]json.RawMessage, error) {
	what := "an answer of the client"
	for _, r := range requests {
		switch r.Method {
		case string(mcp.MethodElicitationCreate):
			what = "the person's answer"
		case string(mcp.MethodSamplingCreateMessage):
			what = "the client's model"
		}
	}
	defer h.progress.wait(what)()
	return h.Asker.Ask(ctx, requests)
}

// client returns the client of a request. One that proves nothing is nobody's person.
func (r *request) client(ctx context.Context, asker elicit.Asker) *elicit.Client {
	c := &elicit.Client{Can: capabilities(ctx), Asker: asker}
	if r.principal.Kind == identity.Anonymous {
		c.Unproven, c.Why = true, "nobody can be asked: the server asks its clients for no token, so nothing proves who answers"
	}
	return c
}

// capabilities returns those that the client has declared in its request or, a legacy
// one, when it initialised.
func capabilities(ctx context.Context) *mcp.ClientCapabilities {
	session, ok := mcpserver.ClientSessionFromContext(ctx).(mcpserver.SessionWithClientInfo)
	if !ok {
		return nil
	}
	all := session.GetClientCapabilities()
	return &all
}
