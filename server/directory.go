package server

import (
	"context"

	"github.com/skillsmcp/skills-mcp/server/describe"
	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/output"
	"github.com/skillsmcp/skills-mcp/server/result"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/search"
)

// A Directory finds and runs the published skills for callers that do not speak MCP: the
// REST API and the page. It acts for the principal of each context, with the finder, the
// searcher and the executor that calls over MCP have. It may be used concurrently.
type Directory struct {
	server func(ctx context.Context, who identity.Principal) (*Server, error)
}

// NewDirectory returns the directory of several servers. server returns the one of a
// principal; its error is one that [run.AsError] knows.
func NewDirectory(server func(ctx context.Context, who identity.Principal) (*Server, error)) *Directory {
	return &Directory{server}
}

// Directory returns the directory of the server.
func (s *Server) Directory() *Directory {
	return NewDirectory(func(context.Context, identity.Principal) (*Server, error) { return s, nil })
}

// await returns the server of a principal, once it has its first catalog, and a request.
func (d *Directory) await(ctx context.Context, who identity.Principal) (*Server, *request, error) {
	s, err := d.server(ctx, who)
	if err != nil {
		return nil, nil, err
	}
	select {
	case <-s.readiness.calls:
		return s, &request{ctx: ctx, principal: who, view: s.published.view.Load()}, nil
	case <-ctx.Done():
		return nil, nil, context.Cause(ctx)
	}
}

// View describes the published skills: to a person whole, and to anybody else as
// get_skill does to a model. It waits for the first catalog.
func (d *Directory) View(ctx context.Context) (*describe.View, error) {
	s, r, err := d.await(ctx, identity.FromContext(ctx))
	if err != nil {
		return nil, err
	}
	view := s.published.fixed.describes.view(r)
	if isPerson(r.principal) {
		view.ForModel, view.Remote, view.Texts = false, false, nil
	}
	return view, nil
}

func isPerson(p identity.Principal) bool { return p.Kind == identity.Person }

// Find returns the skill of a name, as fresh as its files and as the decisions of the
// person. The error is one that [run.AsError] knows.
func (d *Directory) Find(ctx context.Context, name string) (*skills.Skill, error) {
	s, r, err := d.await(ctx, identity.FromContext(ctx))
	if err != nil {
		return nil, err
	}
	return s.invoke.find.named(r, name)
}

// Search finds skills by words, for a person also those that a model may not call.
func (d *Directory) Search(ctx context.Context, q search.Query) (search.Result, error) {
	s, r, err := d.await(ctx, identity.FromContext(ctx))
	if err != nil {
		return search.Result{}, err
	}
	q.Person = isPerson(r.principal)
	return s.published.search.search(ctx, r.view, q)
}

// Run runs a skill for the principal of the request, which the outputs are stored for. A
// nil result has an error, which is a [*run.Error]; the error of a run that has started is
// in its result.
func (d *Directory) Run(ctx context.Context, req run.Request) (report *result.Run, err error) {
	s, r, err := d.await(ctx, req.Principal)
	if err != nil {
		return nil, run.AsError(err)
	}
	i := s.invoke
	defer i.recover(func(caught error) { report, err = nil, caught })
	req.Workspaces = i.executor.Workspaces(ctx, req.Principal, req.Workspaces)
	req.Callees = i.callees(r)
	o, err := i.executor.Run(ctx, req)
	if o == nil {
		return nil, run.AsError(err)
	}
	i.count(req.Skill)
	return &i.newReport(r, req.Skill, o, err).Run, nil
}

// Published counts the publications of skills to the principal of ctx.
func (d *Directory) Published(ctx context.Context) uint64 {
	s, err := d.server(ctx, identity.FromContext(ctx))
	if err != nil {
		return 0
	}
	return s.published.count.Load()
}

// Output returns an output of a run that the principal of ctx owns.
func (d *Directory) Output(ctx context.Context, uri string) (output.Item, bool) {
	who := identity.FromContext(ctx)
	s, err := d.server(ctx, who)
	if err != nil {
		return output.Item{}, false
	}
	return s.invoke.outputs.Get(who.Key(), uri)
}
