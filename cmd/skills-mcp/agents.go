package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/plain"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/report"
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
	*agents.Role
	Model string `json:"model,omitempty"` // the default where the agent names none
	State string `json:"state"`           // "ready", or its problem
}

// tools returns the skills that the agent may use, in words.
func (i agentInfo) tools() string {
	text, p := "all", i.Profile
	if p.Allow != nil {
		text = cmp.Or(strings.Join(p.Allow, ", "), "none")
	}
	if len(p.Deny) > 0 {
		text += " but " + strings.Join(p.Deny, ", ")
	}
	if p.Mode != "" {
		text += ", " + string(p.Mode)
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
		all = append(all, agentInfo{role, cmp.Or(role.Model, s.Config.Agents.Default()), cmp.Or(s.AgentProblem(role), "ready")})
	}
	return listing[agentInfo]{
		key: "agents", none: "there are no agents; agents.define of the configuration has some, and files agents/*.md", headings: "NAME\tMODEL\tSOURCE\tTOOLS\tSTATE", optional: []string{"SOURCE", "TOOLS"},
		row: func(i agentInfo) string {
			return fmt.Sprintf("%s\t%s\t%s\t%s\t%s", plain.OneLine(i.Name, 80), plain.OneLine(i.Model, 40), report.Whose(skills.Source(i.Source), i.Untrusted), plain.OneLine(i.tools(), 200), plain.Flat(i.State))
		},
	}.print(c.app, c.json, all)
}
