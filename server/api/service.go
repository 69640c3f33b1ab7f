// Package api is the REST API, and the operations below it that the page shares. Each
// operation acts for the principal of its context, with the policy and the record of a
// call over MCP.
//
// Start with [New]; [Service.Handler] serves the API.
package api

import (
	"context"
	"errors"
	"strconv"

	"github.com/skillsmcp/skills-mcp/server/audit"
	"github.com/skillsmcp/skills-mcp/server/describe"
	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/store"
	"github.com/skillsmcp/skills-mcp/skills"
)

// A Service has the operations of the API and of the page.
type Service struct {
	RunService
	ApprovalService
	options Options
}

// New returns a service.
func New(o Options) *Service {
	s := &Service{options: o}
	s.RunService, s.ApprovalService = RunService{&s.options}, ApprovalService{&s.options, make(prover, 1)}
	return s
}

// SubagentsOf returns the subagents of a service.
func SubagentsOf(s *Service) SubagentService { return SubagentService{&s.options} }

// A SkillQuery selects skills. Zero fields select all.
type SkillQuery struct {
	Category string        `json:"category,omitempty"`
	Text     string        `json:"q,omitempty" jsonschema_description:"words to search for"`
	State    string        `json:"state,omitempty" jsonschema_description:"the first word of a state, such as ready, unavailable or blocked"`
	Source   skills.Source `json:"source,omitempty" jsonschema:"enum=session,enum=user,enum=system,enum=extra"`
	Class    skills.Class  `json:"class,omitempty" jsonschema:"enum=safe,enum=mutating,enum=dangerous"`
	// Cursor is the Next of the page before; "" is the first page.
	Cursor string `json:"cursor,omitempty" jsonschema_description:"next of the page before"`
	Limit  int    `json:"limit,omitempty" jsonschema:"minimum=1,maximum=200" jsonschema_description:"skills of one page; 50 by default"`
}

// A SkillPage is one page of skills. Skills that are off are in it, for a person.
type SkillPage struct {
	Items []SkillItem `json:"items"`
	Total int         `json:"total"` // that match, on all pages
	Next  string      `json:"next,omitempty"`
}

// A SkillItem is a skill in a list.
type SkillItem struct {
	describe.Listed
	Title   string `json:"title"` // for people
	Plugin  string `json:"plugin,omitempty"`
	Enabled bool   `json:"enabled"`
	Pinned  bool   `json:"pinned"`
	Match   string `json:"match,omitempty"` // a line that shows what a search found
}

// Stamps are texts that differ after a change of the skills, the approvals, or the runs and
// subagents.
type Stamps struct{ Skills, Approvals, Runs string }

// Stamps returns the stamps of what the principal of ctx may see, by short queries.
func (s *Service) Stamps(ctx context.Context) (all Stamps, err error) {
	var who *identity.Principal
	var owner *store.RunOwner
	if p := identity.FromContext(ctx); !p.Oversees() {
		own := audit.Owner(p)
		who, owner = &p, &own
	}
	if s.options.Published != nil {
		all.Skills = strconv.FormatUint(s.options.Published(ctx), 10)
	}
	var err1, err2, err3 error
	all.Approvals, err1 = s.options.Approvals.Stamp(ctx, who)
	all.Runs, err2 = s.options.Runs.Stamp(ctx, owner)
	var subagents string
	subagents, err3 = SubagentsOf(s).stamp(ctx)
	all.Runs += subagents
	return all, errors.Join(err1, err2, err3)
}
