package scan

import "github.com/skillsmcp/skills-mcp/skills"

// agents reads the agents of a plugin: Markdown files.
func (s *scanner) agents(dir string, m *manifest, report reportFunc) {
	s.markdown(dir, "agents", m.agents, report, s.agent)
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
	data, err := readFile(s.root.FS, file, maxManifest)
	if err == nil {
		err = parseAgent(data, agent, name, s.reporter(shown))
	}
	if err != nil {
		s.reject(shown, err)
		return
	}
	s.builder.addAgent(agent, s.reporter(shown))
}
