package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/plain"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/report"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/setup"
	"github.com/skillsmcp/skills-mcp/server/agents"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/spf13/cobra"
)

// agentsCommand lists the agents.
type agentsCommand struct {
	*app
	json bool
}

func newAgentsCommand(a *app) *cobra.Command {
	c := &agentsCommand{app: a}
	cmd := &cobra.Command{
		Use:   "agents",
		Short: "List the agents to which a client can hand tasks",
		Long: `List the agents to which a client can hand tasks with the tool sessions_spawn: those of
the configuration (agents.define), and of the files agents/*.md of plugins and folders,
with the skills that each may use. The tool exists once agents.models has a model.
With --json also what of an agent's file has no counterpart here.`,
		Example: "  skills-mcp agents --json",
		RunE:    func(cmd *cobra.Command, _ []string) error { return c.run(cmd.Context()) },
	}
	cmd.Flags().BoolVar(&c.json, "json", false, "print JSON")
	return cmd
}

// agentInfo is an agent in the list.
type agentInfo struct {
	Name        string   `json:"name"`
	Description string   `json:"description,omitempty"`
	Model       string   `json:"model,omitempty"` // "" is none
	Source      string   `json:"source"`
	Untrusted   bool     `json:"untrusted,omitempty"`
	File        string   `json:"file,omitempty"`
	Mode        string   `json:"mode,omitempty"`
	Allow       []string `json:"allow,omitzero"` // the skills that it may use; none is all
	Deny        []string `json:"deny,omitzero"`
	AllowAgents []string `json:"allow_agents,omitzero"` // none is any
	MaxChildren int      `json:"max_children,omitempty"`
	Skills      []string `json:"skills,omitempty"`
	State       string   `json:"state"` // "ready", or why it cannot run
	Notes       []string `json:"notes,omitempty"`
}

func newAgentInfo(s *setup.Settings, r *agents.Role) agentInfo {
	return agentInfo{
		Name: r.Name, Description: r.Description, Model: cmp.Or(r.Model, s.Config.Agents.Default()), Source: r.Source, Untrusted: r.Untrusted, File: r.File,
		Mode: string(r.Profile.Mode), Allow: r.Profile.Allow, Deny: r.Profile.Deny, AllowAgents: r.AllowAgents, MaxChildren: r.MaxChildren, Skills: r.Agent.Skills,
		State: cmp.Or(s.CannotRun(r), "ready"), Notes: r.Notes,
	}
}

// tools returns the skills that the agent may use, in words.
func (i agentInfo) tools() string {
	text := "all"
	if i.Allow != nil {
		text = cmp.Or(strings.Join(i.Allow, ", "), "none")
	}
	if len(i.Deny) > 0 {
		text += " but " + strings.Join(i.Deny, ", ")
	}
	if i.Mode != "" {
		text += ", " + i.Mode
	}
	return text
}

func (c *agentsCommand) run(ctx context.Context) error {
	s, catalog, err := c.catalog(ctx)
	if err != nil {
		return err
	}
	var all []agentInfo
	for _, role := range s.Roster.Roles(catalog) {
		all = append(all, newAgentInfo(s, role))
	}
	return listing[agentInfo]{
		key: "agents", none: "there are no agents; agents.define of the configuration has some, and files agents/*.md", headings: "NAME\tMODEL\tSOURCE\tTOOLS\tSTATE", optional: []string{"SOURCE", "TOOLS"},
		row: func(i agentInfo) string {
			return fmt.Sprintf("%s\t%s\t%s\t%s\t%s", plain.OneLine(i.Name, 80), plain.OneLine(i.Model, 40), report.Whose(skills.Source(i.Source), i.Untrusted), plain.OneLine(i.tools(), 200), plain.Flat(i.State))
		},
	}.print(c.app, c.json, all)
}
