package setup

import (
	"context"

	"github.com/skillsmcp/skills-mcp/server/approval"
	"github.com/skillsmcp/skills-mcp/server/elicit"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/skills"
)

// Decided returns the catalog with the skills marked that are blocked, and those that the
// person has pinned.
func Decided(ctx context.Context, s *Settings, catalog *skills.Catalog) *skills.Catalog {
	return s.Pins(nil).Apply(ctx, s.Sandboxes.Rules.Book.Apply(ctx, catalog))
}

// A Truster trusts workspaces and accepts their skills as they are: one that comes later,
// or that could not be shown, is asked about.
type Truster struct{ *Settings }

// Trust implements the workspaces of package approval.
func (t Truster) Trust(ctx context.Context, proposed *run.Trust) error {
	all, err := t.OpenPins()
	if err != nil {
		return err
	}
	all.AcceptAll(ctx, t.Settings.Trust.Skills(proposed))
	return t.Settings.Trust.Trust(ctx, proposed)
}

// Approvals returns the approvals of the store. terminal asks the person who runs the
// program; nil asks nobody there.
func (s *Settings) Approvals(terminal approval.Terminal) *approval.Approvals {
	options := ApprovalOptions(s)
	options.Terminal = terminal
	return approval.New(s.Store, options)
}

// ApprovalOptions returns the options of approvals that ask nobody at the command line.
func ApprovalOptions(s *Settings) *approval.Options {
	return &approval.Options{
		Home: s.Home, Workspaces: Truster{s}, Servers: s.Host, Asking: elicit.Limits(s.Sandbox.Asking), Expiry: approval.Expiry(s.Policy.Expiry), Forms: approval.Forms(s.Policy.Forms), Key: s.key, Logger: s.Logger,
	}
}
