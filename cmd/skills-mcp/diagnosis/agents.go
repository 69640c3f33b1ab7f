package diagnosis

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/plain"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/setup"
	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/skills"
)

// checkAgents checks the models and the agents. Without a model there are no findings. Models
// are not asked.
func checkAgents(s *setup.Settings, catalog *skills.Catalog) (findings []sandbox.Finding) {
	c := &s.Config.Agents
	if len(c.Models) == 0 {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(c.Models)) {
		subject, m := "model "+name, c.Models[name]
		if m.Key == "" || s.Secrets.Store.Has("", m.Key) {
			findings = append(findings, sandbox.OK(subject, "%s at %s", m.Model, m.URL))
		} else {
			findings = append(findings, sandbox.Warning(subject, "its key "+m.Key+" has no value", "skills-mcp secret set "+m.Key))
		}
	}
	all, broken, first := s.Roster.Roles(catalog), 0, ""
	for _, role := range all {
		if why := s.AgentProblem(role); why != "" {
			broken, first = broken+1, cmp.Or(first, role.Name+": "+why)
		}
	}
	ready := fmt.Sprintf("%d of %s ready", len(all)-broken, plain.Count(len(all), "agent"))
	if broken == 0 {
		return append(findings, sandbox.OK("agents", "%s", ready))
	}
	return append(findings, sandbox.Warning("agents", ready+"; "+first, "skills-mcp agents lists them all"))
}
