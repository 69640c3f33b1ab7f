package main

import (
	"context"

	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/setup"
	"github.com/skillsmcp/skills-mcp/server/installation"
	"github.com/skillsmcp/skills-mcp/server/manage"
	"github.com/skillsmcp/skills-mcp/server/seal"
	"github.com/skillsmcp/skills-mcp/server/web"
)

var _ web.Manage = (*managing)(nil)

// A managing shows and changes the machine for the page. It implements [web.Manage].
type managing struct {
	*manage.Machine
	app        *app
	settings   *setup.Settings
	operations *installation.Operations
}

// newManaging returns the management of the machine by some settings, which does nothing yet.
// agent signs for the persons of the page. The caller calls close.
func newManaging(a *app, s *setup.Settings, agent *seal.Agent) *managing {
	return &managing{s.Machine, a, s, installation.NewOperations(func(ctx context.Context, o *installation.Operation) error {
		return s.Machine.CarryOut(seal.NewContext(ctx, agent), o)
	})}
}

// close ends the changes that are under way.
func (m *managing) close() { m.operations.Close() }

// Operations implements [web.Sources].
func (m *managing) Operations() *installation.Operations { return m.operations }

// Servers implements [web.Sources].
func (m *managing) Servers(ctx context.Context) ([]web.Server, error) {
	servers, err := m.settings.Host.Servers(ctx)
	var all []web.Server
	for _, s := range servers {
		all = append(all, web.Server{Name: s.Label, Address: s.Address.String(), TokenEnv: s.TokenEnv, Since: s.Since, Skills: m.settings.Host.Count(s.Label)})
	}
	return all, err
}
