package serving

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/connect"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/connection"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/plain"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/setup"
	"github.com/skillsmcp/skills-mcp/server/installation"
	"github.com/skillsmcp/skills-mcp/server/manage"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/server/seal"
	"github.com/skillsmcp/skills-mcp/server/web"
	"github.com/skillsmcp/skills-mcp/skills/install/clawhub"
)

var _ web.Manage = (*machine)(nil)

// A machine shows and changes this machine for the page. It implements [web.Manage].
type machine struct {
	*manage.Machine
	settings   *setup.Settings
	operations *installation.Operations
}

// newMachine returns the machine of some settings, on which nothing is done yet. agent signs
// for the persons of the page. The caller calls close.
func newMachine(s *setup.Settings, agent *seal.Agent) *machine {
	return &machine{s.Machine, s, installation.NewOperations(func(ctx context.Context, o *installation.Operation) error {
		return s.Machine.CarryOut(seal.NewContext(ctx, agent), o)
	})}
}

// close ends the changes that are under way.
func (m *machine) close() { m.operations.Close() }

// Operations implements [web.Sources].
func (m *machine) Operations() *installation.Operations { return m.operations }

// Servers implements [web.Sources].
func (m *machine) Servers(ctx context.Context) ([]web.Server, error) {
	servers, err := m.settings.Host.Servers(ctx)
	var all []web.Server
	for _, s := range servers {
		all = append(all, web.Server{Name: s.Label, Address: s.Address.String(), TokenEnv: s.TokenEnv, Since: s.Since, Skills: m.settings.Host.Count(s.Label)})
	}
	return all, err
}

// Catalog implements [web.Manage].
func (m *machine) Catalog(ctx context.Context, query string) ([]clawhub.Hit, error) {
	hits, err := m.settings.SearchClawHub(ctx, query, 0)
	if err != nil {
		return nil, &run.Error{Code: run.Unavailable, Message: plain.Visible(err.Error()), Retryable: true, Err: err}
	}
	return hits, nil
}

// Clients implements [web.Clients].
func (m *machine) Clients(ctx context.Context) ([]web.Client, error) {
	var all []web.Client
	for _, client := range connect.Clients() {
		described := web.Client{Name: client.Name, Title: client.Title}
		if err := m.describeClient(client, &described); err != nil {
			described.Err = err.Error()
		}
		all = append(all, described)
	}
	return all, context.Cause(ctx)
}

// describeClient describes a client, as far as its file can be read.
func (m *machine) describeClient(client connect.Client, to *web.Client) error {
	c := m.connection(client)
	target, err := c.Target()
	if err != nil {
		return err
	}
	to.File = target.File
	entry, err := c.Entry(m.settings)
	if err != nil {
		return err
	}
	text, err := client.Snippet(c.Name, entry)
	if err != nil {
		return err
	}
	to.Entry, to.Hint = string(text), strings.Join(c.Advice(entry), "\n")
	state, err := client.State(target, c.Name, entry)
	to.Installed, to.Has, to.Same, to.Other = state.Installed, state.Has, state.Same, state.Starts
	return err
}

// connection returns the connection of a client to a server with the flags of this one.
func (m *machine) connection(client connect.Client) *connection.Connection {
	return &connection.Connection{Client: client, Name: connection.DefaultName, Flags: m.settings.Flags, Writes: true, Notes: io.Discard}
}

// Connect implements [web.Clients].
func (m *machine) Connect(_ context.Context, name string, remove, force bool) ([]string, error) {
	client, err := connect.Find(name)
	if err != nil {
		return nil, &run.Error{Code: run.NotFound, Message: plain.Visible(err.Error())}
	}
	c := m.connection(client)
	c.Force = force
	target, err := c.Target()
	if err != nil {
		return nil, err
	}
	entry, err := c.Entry(m.settings)
	var lines []string
	if err == nil && remove {
		lines, err = c.Remove(target, entry)
	} else if err == nil {
		// Without a file and a folder of the client there is nothing that force replaces.
		state, _ := client.State(target, c.Name, entry)
		c.Force = force || !state.Installed
		if lines, err = c.Add(target, entry); len(lines) > 1 { // it was changed
			lines = append(lines, c.Advice(entry)...)
		}
	}
	if different, ok := errors.AsType[*connect.DifferentError](err); ok { // its text may have secrets
		err = fmt.Errorf("%s has another server %q now; look at the clients again", different.File, different.Name)
	}
	if err != nil {
		return nil, &run.Error{Code: run.InvalidParam, Message: plain.Visible(err.Error()), Err: err}
	}
	return lines, nil
}
