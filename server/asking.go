package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/skillsmcp/skills-mcp/server/elicit"
	"github.com/skillsmcp/skills-mcp/server/rpc"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/server/transport"
)

// A retry is what a client calls, and what it brings back when it makes a call
// again that has asked it something.
// The zero retry is of a request whose answer has no place for a question.
type retry struct {
	method, name string
	args         any // of the call, as it is encoded
	mcp.MultiRoundTripParams
}

// A performed call is what a run comes to, behind a [elicit.Desk].
type performed struct {
	outcome *run.Outcome
	err     error
}

// perform runs a skill for a client. The error is an [*elicit.Required] where a
// modern client has to answer first, and then make the request again; a legacy
// one is asked meanwhile.
func (s *Server) perform(r *request, req run.Request, p *progress) (*run.Outcome, error) {
	session, timeout := req.Session, req.Timeout
	req.Call = s.call(r, p)
	req.Session, req.Timeout = session, timeout
	switch {
	case len(req.Skill.Asks) == 0 && r.retry.RequestState == "":
	case !mcpserver.IsModernRequest(r.ctx):
		req.Client = &elicit.Client{Can: capabilities(r.ctx), Asker: progressAsker{elicit.Sender(transport.Request), p}}
	case r.retry.method == "":
		req.Client = elicit.Nobody("nobody can be asked in the answer to such a request; call the skill's tool instead")
	default:
		return s.performBetween(r, req, p)
	}
	return s.calls.Run(r.ctx, req)
}

// progressAsker is an asker that reports, as progress, whose answer the call awaits.
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

// performBetween starts a run that lasts from one request of a client to the next,
// or goes on with the one that has asked.
func (s *Server) performBetween(r *request, req run.Request, p *progress) (*run.Outcome, error) {
	args, err := json.Marshal(r.retry.args) // sorted by name
	if err != nil {
		return nil, fmt.Errorf("encode arguments: %w", err)
	}
	made := elicit.Call{
		Owner: r.principal.Key(), Method: r.retry.method, Name: r.retry.name, Args: args,
		State: r.retry.RequestState, Responses: r.retry.InputResponses, Stderr: p, Progress: p.say,
	}
	came, err := s.desk.Do(r.ctx, made, func(ctx context.Context, run *elicit.Run) (came any) {
		defer s.recovered(func(err error) { came = performed{nil, err} }) // no transport is around it
		req.Client = &elicit.Client{Can: capabilities(ctx), Asker: run}
		req.Stderr, req.Progress = run, run.Say
		outcome, err := s.calls.Run(ctx, req)
		return performed{outcome, err}
	})
	if required := (*elicit.Required)(nil); errors.As(err, &required) {
		r.task.Until(required.Gone)
	}
	if err != nil {
		return nil, err
	}
	done := came.(performed) // of this method, as the state is
	return done.outcome, done.err
}

// recovered is deferred where a panic would end the server. It logs one and passes
// then what a client is told.
func (s *Server) recovered(then func(error)) {
	if p := recover(); p != nil {
		s.logger.Error("panic in a call", "panic", p, "stack", string(debug.Stack()))
		then(&run.Error{Code: run.InternalError, Message: "internal error"})
	}
}

// capabilities are what the client says that it can be asked for, in its request
// or, a legacy one, when it initialised.
func capabilities(ctx context.Context) *mcp.ClientCapabilities {
	session, ok := mcpserver.ClientSessionFromContext(ctx).(mcpserver.SessionWithClientInfo)
	if !ok {
		return nil
	}
	all := session.GetClientCapabilities()
	return &all
}

// missingCapability is what a modern client is answered whose request needs what
// it has not declared, whatever came of it; nil where that is not so.
func missingCapability(ctx context.Context, err error) error {
	missing, ok := errors.AsType[*elicit.MissingError](err)
	if !ok || missing.Capability == "" || !mcpserver.IsModernRequest(ctx) {
		return nil
	}
	return &rpc.Error{
		Code: mcp.MISSING_REQUIRED_CLIENT_CAPABILITY, Message: err.Error(),
		Data: map[string]any{"requiredCapabilities": map[string]any{missing.Capability: struct{}{}}},
	}
}

// refused answers a call that has no result: with what the client has to answer
// first, with a task, with an error of the protocol, or with one for the model.
func (s *Server) refused(err error) (*mcp.CallToolResult, error) {
	var required *elicit.Required
	var protocol *rpc.Error
	var other *rpc.Other
	switch {
	case errors.As(err, &protocol), errors.As(err, &other):
		return nil, err
	case errors.As(err, &required):
		kind, asked, err := required.Result()
		if err != nil {
			return nil, err
		}
		return &mcp.CallToolResult{Result: kind, MultiRoundTripResult: asked}, nil
	}
	return s.failure(err), nil
}
