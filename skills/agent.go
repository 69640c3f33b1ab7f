package skills

import (
	"cmp"
	"strings"
)

// An Agent is a role for a model: who it is, and what it may
// use. Nothing here starts one.
type Agent struct {
	// Name is the agent's own name, by default its file's.
	Name string
	// Plugin is the name of the plugin that the agent belongs to, or "", and
	// PluginDir its host folder.
	Plugin, PluginDir string
	// Description says when to use the agent; "" where nobody said.
	Description string
	// Tools are those that it may use, as it names them; none is all.
	Tools []string
	// Model is the one that it wants; "" is any.
	Model  string
	Source Source
	// File is where the agent is defined, for people.
	File string
	// Instructions are the text below the frontmatter, for the model that is it.
	Instructions string
	// Frontmatter is the whole frontmatter as JSON values, unknown keys included.
	Frontmatter map[string]any
}

// QualifiedName is "plugin/agent", or the agent's name outside of plugins.
func (a *Agent) QualifiedName() string {
	if a.Plugin == "" {
		return a.Name
	}
	return a.Plugin + "/" + a.Name
}

// agents reads the agents of a plugin: Markdown files.
func (s *scanner) agents(dir string, m *manifest, report reportFunc) {
	s.markdown(dir, "agents", m.agents, report, s.agent)
}

// agent reads the agent in a file.
func (s *scanner) agent(file, name string) {
	shown := s.display(file)
	agent := &Agent{Source: s.root.Source, File: shown}
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

// parseAgent reads an agent. agent comes with what is known of its place; name is
// its file's, with the folders above it.
func parseAgent(data []byte, agent *Agent, name string, report reportFunc) error {
	doc, err := parseDocument(data)
	if err != nil {
		return err
	}
	if agent.Frontmatter, err = doc.values(); err != nil {
		return err
	}
	doc.repairs(report)
	f := newFields(doc.front, report)
	agent.Instructions = strings.TrimSpace(doc.body)
	agent.Name = cmp.Or(cleanName(f.text("name")), commandName(name))
	agent.Description = strings.TrimSpace(f.text("description"))
	agent.Model = strings.TrimSpace(f.text("model"))
	agent.Tools = f.words("tools", splitTools)
	switch {
	case agent.Name == "":
		return reject(position{}, "add a name", "the agent has no name")
	case agent.Description == "" && agent.Instructions == "":
		return reject(position{}, "write who the agent is below the frontmatter", "the agent has neither a description nor a text")
	case agent.Description == "":
		report(Warning, f.pos("description"), "say when to use the agent", "there is no description")
	}
	if r, found := hiddenRune(agent.Name, agent.Description); found {
		report(Warning, f.pos("description"), "remove it", "name or description contain the invisible or direction-changing character %U", r)
	}
	return nil
}

// splitTools splits the names of tools at commas and blanks, but not within
// parentheses: "Bash(git add *), Read".
func splitTools(text string) []string { return splitOutside(text, '(', ')', ", \t\n") }
