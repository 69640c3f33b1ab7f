// Package connection makes the entries of this server in the configurations of MCP clients: a
// command with the flags of this program, or the address and the token of a running server. It
// has the warnings and hints of each for its person.
//
// Start with [Connection.Entry].
package connection

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/config"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/connect"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/endpoint"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/exitcode"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/setup"
)

// DefaultName is the name of this server in the files of clients.
const DefaultName = "skills"

// A Connection connects a client to this server.
type Connection struct {
	Client connect.Client
	Name   string // of the server, in the client
	// URL is the address of a running server; "" if the client starts it with Flags.
	URL   string
	Flags setup.Flags
	// TokenVariable is the client's variable with the bearer token of URL; "" is none.
	TokenVariable string
	Project       bool // in the project's file, not the person's
	Force         bool // replace or remove another server of the name
	// Writes reports that the entry is written to a file: only there it has a token.
	Writes bool
	// Notes gets a line for each setting that the entry leaves out.
	Notes io.Writer

	sees      bool   // skills see a workspace wherever the server is started
	tokenFrom string // the file or variable of the token in the entry; "" is none
}

// Target returns the client's file.
func (c *Connection) Target() (connect.Target, error) {
	if c.Project {
		folder, err := os.Getwd()
		if err != nil {
			return connect.Target{}, err
		}
		target, err := c.Client.Project(folder)
		return target, exitcode.Usage(err)
	}
	places, err := connect.Here()
	if err != nil {
		return connect.Target{}, fmt.Errorf("find the client's file: %w", err)
	}
	return c.Client.User(places), nil
}

// NeedsSettings reports whether the entry depends on the settings of this machine: that of a
// server elsewhere does not.
func (c *Connection) NeedsSettings() bool {
	if c.URL == "" {
		return true
	}
	to, err := url.Parse(c.URL)
	return err == nil && c.TokenVariable == "" && endpoint.IsLoopback(net.JoinHostPort(to.Hostname(), to.Port()))
}

// Entry returns the server's entry: the command that starts it, or its URL. Without settings
// it is enough to find the entry in a file, and to remove it.
func (c *Connection) Entry(s *setup.Settings) (connect.Entry, error) {
	switch {
	case c.URL != "" && s != nil:
		return c.withToken(s)
	case c.URL != "":
		return connect.Entry{URL: c.URL, TokenVariable: c.TokenVariable}, nil
	}
	folder, err := os.Getwd()
	if err != nil {
		return connect.Entry{}, err
	}
	program, err := thisProgram()
	if err != nil {
		return connect.Entry{}, fmt.Errorf("find this program: %w", err)
	}
	if c.Project { // its folder on this machine is private
		program = strings.TrimSuffix(filepath.Base(program), ".exe")
	}
	args, err := c.serveArguments(folder)
	if s == nil {
		err = nil
	} else {
		c.sees = s.Workspaces.Named
	}
	return connect.Entry{Command: program, Args: args}, exitcode.Usage(err)
}

// withToken returns the entry of a running server of this machine, which demands the token
// that serve reads or makes.
func (c *Connection) withToken(s *setup.Settings) (connect.Entry, error) {
	entry := connect.Entry{URL: c.URL}
	if s.Serve.NoToken || s.Serve.OIDC.Issuer != "" && strings.HasPrefix(c.URL, s.Serve.URL+"/") { // the client gets one of its own
		return entry, nil
	}
	if c.Project {
		return entry, exitcode.Usage(errors.New("the server asks for a token, and a project's file is for all who have the project; name the variable that holds the token with --token-env NAME, or set serve.no_token if it asks for none"))
	}
	serve := s.Serve
	serve.Listen = config.DefaultListen // the one of the URL is of this machine
	token, err := endpoint.NewTokenReader(s).Token(serve, false)
	if err != nil {
		return entry, exitcode.Usage(err)
	}
	entry.Token, c.tokenFrom = token.Text, token.From
	if !c.Writes { // a terminal, or a model, is no place for a token
		entry.Token = "TOKEN"
	}
	return entry, nil
}

// serveArguments returns "serve" and the given flags.
func (c *Connection) serveArguments(folder string) ([]string, error) {
	args := []string{"serve"}
	var failed error
	add := func(flag string, values ...string) {
		if c.Project && setup.Personal(flag, values) {
			fmt.Fprintf(c.Notes, "%s, which your environment sets, is left out: the file is the project's.\n", flag)
			return
		}
		for _, value := range values {
			if value != "" && flag != "--sandbox" {
				var err error
				value, err = c.path(folder, flag, value)
				failed = errors.Join(failed, err)
			}
			if value != "" {
				args = append(args, flag, value)
			}
		}
	}
	add("--config", c.Flags.Config)
	add("--skills", c.Flags.Skills...)
	add("--plugins", c.Flags.Plugins...)
	add("--workspace", c.Flags.Workspaces...)
	if variable := c.Client.WorkspaceVariable; c.Project && variable != "" && !slices.Contains(args, "--workspace") {
		args = append(args, "--workspace", variable)
	}
	add("--sandbox", c.Flags.Sandbox)
	return args, failed
}

// path returns a path for the entry: absolute, or in a project's file relative to the
// project's folder, so that it is valid in every copy of the project.
func (c *Connection) path(folder, flag, value string) (string, error) {
	absolute := setup.AbsolutePath(folder, value)
	if !c.Project {
		return absolute, nil
	}
	below, err := filepath.Rel(folder, absolute)
	if err != nil || !filepath.IsLocal(below) {
		return "", fmt.Errorf("%s %s is not in the project, and its file is for all who have the project; leave it out, or leave --project out", flag, value)
	}
	switch variable := c.Client.WorkspaceVariable; {
	case variable == "":
		return filepath.ToSlash(below), nil
	case below == ".":
		return variable, nil
	default:
		return variable + "/" + filepath.ToSlash(below), nil
	}
}

// thisProgram returns the path by which the shell finds this program, as that stays
// when a package manager links it to another version; else its own path.
func thisProgram() (string, error) {
	program, err := os.Executable()
	if err != nil {
		return "", err
	}
	found, err := exec.LookPath(filepath.Base(os.Args[0]))
	if err != nil {
		return program, nil
	}
	if found, err = filepath.Abs(found); err != nil {
		return program, nil
	}
	ours, err1 := os.Stat(program)
	theirs, err2 := os.Stat(found)
	if err1 == nil && err2 == nil && os.SameFile(ours, theirs) {
		return found, nil
	}
	return program, nil
}

// Add adds the entry to the client's file, and returns a report in lines: one line if
// nothing was to be done.
func (c *Connection) Add(target connect.Target, entry connect.Entry) ([]string, error) {
	result, err := c.Client.Add(target, c.Name, entry, &connect.Options{Force: c.Force})
	if err != nil {
		return nil, explain(err, "--force replaces it, --name calls this one something else")
	}
	if !result.Changed {
		return []string{result.File + " has it already: nothing to do."}, nil
	}
	lines := []string{fmt.Sprintf("Added the server %q to %s.", c.Name, result.File)}
	return append(append(lines, backup(result)...), "Restart "+c.Client.Title+" to use it."), nil
}

// Remove removes the entry from the client's file, and returns a report in lines.
func (c *Connection) Remove(target connect.Target, entry connect.Entry) ([]string, error) {
	result, err := c.Client.Remove(target, c.Name, entry, &connect.Options{Force: c.Force})
	if err != nil {
		return nil, explain(err, "--remove takes out a program of this name; with --http URL, what has that address; with --force, anything")
	}
	if !result.Changed {
		return []string{fmt.Sprintf("%s has no server %q: nothing to do.", result.File, c.Name)}, nil
	}
	return append([]string{fmt.Sprintf("Removed the server %q from %s.", c.Name, result.File)}, backup(result)...), nil
}

// backup returns a line with the path of the backup, if there is one.
func backup(result connect.Result) []string {
	if result.Backup == "" {
		return nil
	}
	return []string{"What it was is kept in " + result.Backup + "."}
}

// explain adds a remedy to the error about another server of the name.
func explain(err error, remedy string) error {
	if _, different := errors.AsType[*connect.DifferentError](err); different {
		return fmt.Errorf("%w\n%s", err, remedy)
	}
	return err
}
