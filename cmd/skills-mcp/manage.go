package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/connect"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/plain"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/setup"
	"github.com/skillsmcp/skills-mcp/server/installation"
	"github.com/skillsmcp/skills-mcp/server/manage"
	"github.com/skillsmcp/skills-mcp/server/run"
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

// Clients implements [web.Clients].
func (m *managing) Clients(ctx context.Context) ([]web.Client, error) {
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
func (m *managing) describeClient(client connect.Client, to *web.Client) error {
	c := m.connecting(client)
	target, err := c.target()
	if err != nil {
		return err
	}
	to.File = target.File
	entry, err := m.entry(c)
	if err != nil {
		return err
	}
	text, err := client.Snippet(c.name, entry)
	if err != nil {
		return err
	}
	to.Entry, to.Hint = string(text), strings.Join(c.advice(entry), "\n")
	state, err := client.State(target, c.name, entry)
	to.Installed, to.Has, to.Same, to.Other = state.Installed, state.Has, state.Same, state.Starts
	return err
}

// connecting returns the connection of a client to a server like this one.
func (m *managing) connecting(client connect.Client) *connectCommand {
	return &connectCommand{
		app: &app{stderr: io.Discard, flags: m.app.flags}, client: client, name: defaultServerName, sees: m.settings.Workspaces.Named,
	}
}

// entry returns the entry that starts a server with the flags of this one.
func (m *managing) entry(c *connectCommand) (connect.Entry, error) {
	folder, err := os.Getwd()
	if err != nil {
		return connect.Entry{}, err
	}
	return c.startEntry(folder)
}

// Connect implements [web.Clients].
func (m *managing) Connect(_ context.Context, name string, remove, force bool) ([]string, error) {
	client, err := connect.Find(name)
	if err != nil {
		return nil, &run.Error{Code: run.NotFound, Message: plain.Visible(err.Error())}
	}
	c := m.connecting(client)
	c.remove, c.force = remove, force
	target, err := c.target()
	if err != nil {
		return nil, err
	}
	entry, err := m.entry(c)
	var lines []string
	if err == nil && remove {
		lines, err = c.takeOut(target, entry)
	} else if err == nil {
		if lines, err = c.add(target, entry); len(lines) > 1 { // it was changed
			lines = append(lines, c.advice(entry)...)
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
