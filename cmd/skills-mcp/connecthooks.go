package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/connect"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/connection"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/exitcode"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/plain"
	"github.com/skillsmcp/skills-mcp/sandbox/shellproto"
	"github.com/skillsmcp/skills-mcp/skills"
)

// A hookCopy copies the hooks of plugins into the settings of Claude Code, or takes them out.
type hookCopy struct {
	*app
	to     connection.Connection
	remove bool
}

func (c *hookCopy) run(ctx context.Context) error {
	if c.to.Client.Name != "claude-code" || c.to.URL != "" {
		return exitcode.Usage(errors.New("--hooks is for claude-code, which starts this program at each event; leave --http out"))
	}
	places, err := connect.Here()
	project := ""
	if c.to.Project {
		project, err = os.Getwd()
	}
	if err != nil {
		return err
	}
	c.to.Project = false // its file is the person's alone
	entry, err := c.to.Entry(nil)
	if err != nil {
		return err
	}
	var wanted []connect.Hook
	if !c.remove {
		if wanted, err = c.wanted(ctx, project, connect.EnabledPlugins(places)); err != nil {
			return err
		}
	}
	r, err := c.to.Client.EditHooks(connect.HookTarget(places, project), entry.Command, wanted, &connect.Options{Force: c.to.Force, DryRun: !c.to.Writes && !c.remove})
	if err != nil {
		return err
	}
	changes := fmt.Sprintf("%s: %s of plugins, %d new, %d taken out.", r.File, plain.Count(len(wanted), "hook"), len(r.Added), len(r.Removed))
	if !c.to.Writes && !c.remove {
		fmt.Fprintln(c.stderr, changes+" --write does it.")
		_, err = c.stdout.Write(append(r.Snippet, '\n'))
		return err
	}
	if r.Backup != "" {
		changes += "\nWhat it was is kept in " + r.Backup + "."
	}
	_, err = fmt.Fprintln(c.stdout, changes)
	return err
}

// wanted returns the hooks for the settings of a person, or of one in a project. It tells of
// each that is left out, and of plugins whose hooks Claude Code runs, too.
func (c *hookCopy) wanted(ctx context.Context, project string, enabled map[string]any) (wanted []connect.Hook, err error) {
	s, catalog, err := c.catalog(ctx)
	if err != nil {
		return nil, err
	}
	server, err := c.to.Entry(s)
	if err != nil {
		return nil, err
	}
	for i, p := range catalog.Plugins {
		name := p.QualifiedName()
		if i > 0 && catalog.Plugins[i-1].QualifiedName() == name { // such as a copy in a marketplace
			continue
		}
		for _, h := range p.Hooks {
			why := ""
			skill, err := hookSkill(catalog, name, h.ID)
			switch {
			case p.Untrusted():
				why = "its workspace is not trusted; see skills-mcp trust --help"
			case p.Workspace != "" && project == "":
				why = "it is of a workspace, for which --project copies it"
			case err != nil:
				why = err.Error()
			}
			if why != "" {
				fmt.Fprintf(c.stderr, "Left out: the hook %s of %s: %s.\n", h.ID, plain.Visible(name), plain.Visible(why))
			} else if one := clientHook(server, name, skill); !slices.Contains(wanted, one) {
				wanted = append(wanted, one)
			}
		}
		for _, full := range slices.Sorted(maps.Keys(enabled)) {
			if of, _, _ := strings.Cut(full, "@"); of == p.Name && len(p.Hooks) > 0 && enabled[full] == true {
				fmt.Fprintf(c.stderr, "Warning: Claude Code itself runs the hooks of %s, too, outside of any sandbox. Disable the plugin there: claude plugin disable %s\n", plain.Visible(full), plain.Visible(full))
			}
		}
	}
	return wanted, nil
}

// startTime is added to the time limit of a hook for the start of its sandbox, in seconds.
const startTime = 10

// clientHook returns the entry of a plugin's hook: the command has the flags of a server's.
func clientHook(server connect.Entry, plugin string, skill *skills.Skill) connect.Hook {
	h, command := skill.Entry.Hook, shellproto.Quote(server.Command)+" hook"
	for _, word := range append(slices.Clone(server.Args[1:]), plugin, h.ID) {
		command += " " + shellproto.Quote(word)
	}
	return connect.Hook{
		Event: h.Event, Matcher: h.Matcher, Type: "command", If: h.If, Async: h.Async, Command: command,
		Timeout: int(math.Ceil(skill.Entry.Timeout.Seconds())) + startTime,
	}
}
