package describe

import (
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/truncate"
)

// A Plugin is a plugin in a list, with the qualified names of its skills.
type Plugin struct {
	Name        string        `json:"name"`
	Version     string        `json:"version,omitempty"`
	Description string        `json:"description,omitempty"`
	Author      string        `json:"author,omitempty"`
	Source      skills.Source `json:"source"`
	Untrusted   bool          `json:"untrusted,omitempty"` // it is of a workspace that the person does not trust
	Skills      []string      `json:"skills"`
	Counts      Counts        `json:"counts"`

	Marketplace string             `json:"marketplace,omitempty"`
	Agents      []Agent            `json:"agents,omitempty"`
	Servers     []skills.MCPServer `json:"mcp_servers,omitempty"` // each has a skill
	Faults      []string           `json:"faults,omitempty"`      // why servers cannot run, or they or hooks have failed
	Hooks       []skills.Hook      `json:"hooks,omitempty"`       // they have a skill, with a tool for each
}

// Counts counts the parts of a plugin. Tools of skills do not count as skills.
type Counts struct {
	Skills   int `json:"skills"`
	Commands int `json:"commands"`
	Tools    int `json:"tools"`
	Agents   int `json:"agents"`
	Servers  int `json:"mcp_servers"`
	Hooks    int `json:"hooks"`
}

// An Agent is an agent in a list.
type Agent struct {
	Name        string   `json:"name"`
	Description string   `json:"description,omitempty"`
	Model       string   `json:"model,omitempty"`
	Tools       []string `json:"tools,omitempty"`
}

// Agents describes the agents of a catalog, by their qualified names.
func Agents(catalog *skills.Catalog) []Agent {
	list := []Agent{}
	for _, a := range catalog.Agents {
		list = append(list, newAgent(a, a.QualifiedName()))
	}
	return list
}

func newAgent(a *skills.Agent, name string) Agent {
	return Agent{name, truncate.String(a.Description, maxText), a.Model, a.Tools}
}

// Plugins describes the plugins of a catalog.
func Plugins(catalog *skills.Catalog) []Plugin {
	list := []Plugin{}
	for _, p := range catalog.Plugins {
		list = append(list, newPlugin(catalog, p))
	}
	return list
}

func newPlugin(catalog *skills.Catalog, p *skills.Plugin) Plugin {
	d := Plugin{
		Name: p.QualifiedName(), Version: p.Version, Description: p.Description, Author: p.Author, Source: p.Source, Untrusted: p.Untrusted(), Skills: []string{},
		Marketplace: p.Marketplace, Servers: p.Servers, Hooks: p.Hooks,
	}
	for _, a := range catalog.Agents {
		if a.Plugin == p.Name && a.PluginDir == p.Dir {
			d.Agents = append(d.Agents, newAgent(a, a.Name))
		}
	}
	d.Counts = Counts{Agents: len(d.Agents), Servers: len(p.Servers), Hooks: len(p.Hooks)}
	for _, skill := range catalog.Skills {
		if skill.Plugin == p.Name && skill.PluginDir == p.Dir {
			d.add(skill)
		}
	}
	return d
}

// add counts a skill of the plugin, and names it unless it is a skill's tool.
func (p *Plugin) add(skill *skills.Skill) {
	switch {
	case skill.Of != nil && skill.Entry != nil && (skill.Entry.Hook != nil || skill.Entry.Server != nil && skill.Entry.Server.Method != skills.CallTool): // no tool
		return
	case skill.Of != nil:
		p.Counts.Tools++
		return
	case skill.OfHooks(), skill.Entry != nil && skill.Entry.Server != nil: // a server counts as one
		if skill.Unavailable != "" {
			p.Faults = append(p.Faults, skill.QualifiedName()+" cannot run: "+skill.Unavailable)
		}
		for _, problem := range skill.Problems {
			p.Faults = append(p.Faults, truncate.String(problem.Message, maxText))
		}
	case skill.Command:
		p.Counts.Commands++
	default:
		p.Counts.Skills++
	}
	p.Skills = append(p.Skills, skill.QualifiedName())
}

// Short returns the plugin for a model: it names the first 100 skills and agents.
func (p Plugin) Short() Plugin {
	p.Skills = p.Skills[:min(len(p.Skills), maxNames)]
	p.Agents = p.Agents[:min(len(p.Agents), maxNames)]
	p.Description = truncate.String(p.Description, maxText)
	return p
}
