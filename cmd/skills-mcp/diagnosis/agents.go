package diagnosis

import (
	"maps"
	"slices"

	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/plain"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/setup"
	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/skills"
)

// maxAgents bounds the agents that findings name.
const maxAgents = 5

// checkAgents checks the models and the agents. Without a model there are no findings. Models
// are not asked.
func checkAgents(s *setup.Settings, catalog *skills.Catalog) (findings []sandbox.Finding) {
	c := &s.Config.Agents
	if len(c.Models) == 0 {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(c.Models)) {
		subject, m := "model "+name, c.Models[name]
		switch {
		case m.Key == "":
			findings = append(findings, sandbox.OK(subject, "%s at %s, without a key", m.Model, m.URL))
		case s.Secrets.Store.Has("", m.Key):
			findings = append(findings, sandbox.OK(subject, "%s at %s, with the key %s", m.Model, m.URL, m.Key))
		default:
			findings = append(findings, sandbox.Warning(subject, "its key "+m.Key+" has no value", "skills-mcp secret set "+m.Key))
		}
	}
	ready, broken := 0, []sandbox.Finding{}
	for _, role := range s.Roster.Roles(catalog) {
		if why := s.CannotRun(role); why == "" {
			ready++
		} else if len(broken) < maxAgents {
			broken = append(broken, sandbox.Warning("agent "+role.Name, why, "skills-mcp agents lists them all"))
		}
	}
	return append(append(findings, sandbox.OK("agents", "%s ready", plain.Count(ready, "agent"))), broken...)
}
