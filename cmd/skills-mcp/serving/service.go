package serving

import (
	"context"
	"slices"

	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/diagnosis"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/endpoint"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/setup"
	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/server/api"
	"github.com/skillsmcp/skills-mcp/server/approval"
	"github.com/skillsmcp/skills-mcp/server/elicit"
	"github.com/skillsmcp/skills-mcp/server/jobs"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/server/store"
)

// An apiServer serves the REST API of a backend, and holds the runs that it starts.
type apiServer struct {
	*api.Service
	running *jobs.Jobs
}

// Close ends the runs, and so the requests that wait for them.
func (s *apiServer) Close() error {
	s.running.Close()
	return nil
}

// service returns the operations of the REST API and of the page, which act on the parts of
// the backend. It is called once. The caller closes it before the backend.
func (b *Backend) service() *apiServer {
	directory := b.views.directory()
	running := jobs.New(directory.Run, &jobs.Options{Asking: elicit.Limits(b.settings.Sandbox.Asking), Logger: b.settings.Logger, Replicas: b.replicas})
	if b.asker != nil {
		b.asker.jobs.Store(running)
	}
	options := api.Options{
		Directory: directory, Rules: rules{b.views, b.filter}, Published: directory.Published, Approvals: b.approvals, Runs: store.NewRuns(b.settings.Store), Jobs: running,
		Page:   func(approval string) string { url, _ := endpoint.PagesOf(b.settings).Approval(approval); return url },
		Doctor: b.diagnose, Passphrases: setup.Passphrases(b.settings.Config), Workspaces: b.settings.Workspaces.Folders, Secrets: b.settings.Secrets, Profiles: b.settings.Profiles, Trusting: b.approvalsFor,
	}
	if b.subagents != nil {
		options.Subagents = b.subagents
	}
	return &apiServer{running: running, Service: api.New(options)}
}

// approvalsFor returns the approvals in which a question about trust in a workspace is
// answered: another program may have asked it, for a workspace of its own.
func (b *Backend) approvalsFor(ctx context.Context, t *run.Trust) (*approval.Approvals, error) {
	if slices.Contains(b.settings.Workspaces.Folders, t.Workspace) {
		return b.approvals, nil
	}
	s, err := b.settings.For(ctx, t.Workspace)
	if err != nil {
		return nil, err
	}
	return s.Approvals(nil), nil
}

// diagnose returns the report of doctor about this process. Registries are not asked.
func (b *Backend) diagnose(ctx context.Context) (*api.Diagnosis, error) {
	s, sandboxes := *b.settings, *b.settings.Sandboxes
	sandboxes.Single, s.Sandboxes = true, &sandboxes
	found, err := diagnosis.Sections(ctx, &s, b.views.first.server.Catalog())
	if err != nil {
		return nil, err
	}
	d := &api.Diagnosis{OK: found[len(found)-1].Works()} // the verdict
	for _, each := range found {
		d.Sections = append(d.Sections, api.Section{Name: each.Name, Findings: append([]sandbox.Finding{}, each.Findings...)})
	}
	return d, nil
}
