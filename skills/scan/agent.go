package scan

import (
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/manifest"
)

// agents reads the agents of a plugin: Markdown files.
func (s *scanner) agents(dir string, m *manifest.Plugin, report manifest.Report) {
	s.markdown(dir, "agents", m.Agents, report, s.agent)
}

// agent reads the agent in a file.
func (s *scanner) agent(file, name string) {
	shown := s.display(file)
	agent := &skills.Agent{Source: s.root.Source, File: shown}
	if s.inPlugin != nil {
		agent.Plugin, agent.PluginDir = s.inPlugin.Name, s.inPlugin.Dir
	}
	if !s.builder.enter(agent.Plugin, s.host(file), nil) {
		return
	}
	data, err := manifest.ReadFile(s.root.FS, file, manifest.MaxSize)
	if err == nil {
		err = manifest.ParseAgent(data, agent, name, s.reporter(shown))
	}
	if err != nil {
		s.reject(shown, err)
		return
	}
	s.builder.addAgent(agent, s.reporter(shown))
}
