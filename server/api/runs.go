package api

import (
	"context"

	"github.com/skillsmcp/skills-mcp/server/approval"
	"github.com/skillsmcp/skills-mcp/server/jobs"
	"github.com/skillsmcp/skills-mcp/server/output"
)

// Execute starts a run of a skill.
func (s *Service) Execute(ctx context.Context, name string, e Execution) (*jobs.Job, error) {
	panic("TODO")
}

// Runs returns a page of the record: all of it for a person, and for another principal its
// own runs.
func (s *Service) Runs(ctx context.Context, q RunQuery) (*RunPage, error) { panic("TODO") }

// Run returns one run.
func (s *Service) Run(ctx context.Context, id string) (*Run, error) { panic("TODO") }

// Job returns a run that this server holds.
func (s *Service) Job(ctx context.Context, id string) (*jobs.Job, error) { panic("TODO") }

// Output returns an output of a run: "stdout", "stderr", or "out/" and the path of a file.
func (s *Service) Output(ctx context.Context, id, piece string) (output.Item, error) { panic("TODO") }

// CancelRun ends a run that this server holds.
func (s *Service) CancelRun(ctx context.Context, id string) error { panic("TODO") }

// Approvals returns the records that wait or count, or all with those that have ended.
func (s *Service) Approvals(ctx context.Context, ended bool) ([]*approval.Record, error) {
	panic("TODO")
}

// Approval returns one record.
func (s *Service) Approval(ctx context.Context, id string) (*approval.Record, error) { panic("TODO") }

// Answer records a person's answer to a question.
func (s *Service) Answer(ctx context.Context, id string, a Answer) (*approval.Record, error) {
	panic("TODO")
}

// Revoke withdraws an approval.
func (s *Service) Revoke(ctx context.Context, id string) error { panic("TODO") }
