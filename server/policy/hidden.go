package policy

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/skills"
)

// traces are the problems and plugins of a catalog, which can name skills.
type traces struct {
	problems []skills.Problem
	plugins  []*skills.Plugin
}

func (t traces) equal(other traces) bool {
	return slices.Equal(t.problems, other.problems) && slices.Equal(t.plugins, other.plugins)
}

// in returns a catalog that tells no more, without the servers and hooks of plugins whose
// skills are gone.
func (t traces) in(catalog *skills.Catalog, gone []*skills.Skill) *skills.Catalog {
	if len(t.problems) == len(catalog.Problems) && len(t.plugins) == len(catalog.Plugins) && len(gone) == 0 {
		return catalog
	}
	next := *catalog
	next.Problems, next.Plugins = t.problems, trimmed(t.plugins, gone)
	next.Agents = slices.DeleteFunc(slices.Clone(catalog.Agents), func(a *skills.Agent) bool {
		return a.Plugin != "" && !slices.ContainsFunc(t.plugins, func(p *skills.Plugin) bool { return p.Name == a.Plugin && p.Dir == a.PluginDir })
	})
	return &next
}

// tracesFor returns what a catalog tells a principal of those skills that are not gone: a
// problem of a file, and a plugin, could name another one. To those whom no profile bounds it
// tells all.
func tracesFor(p *Policy, page *page, who identity.Principal, catalog *skills.Catalog, gone []*skills.Skill) traces {
	if who.Profile == "" && !who.ReadOnly && who.Agents == nil {
		return traces{catalog.Problems, catalog.Plugins}
	}
	all, unknown := p.current().bounds(page, who)
	excluded := func(name, plugin string) bool {
		return unknown != "" || slices.ContainsFunc(all, func(b bound) bool { return b.excludes(&skills.Skill{Name: name, Plugin: plugin}) != "" })
	}
	var t traces
	var hidden []*skills.Plugin
	for _, p := range catalog.Plugins {
		of := func(s *skills.Skill) bool { return s.Plugin == p.Name && s.PluginDir == p.Dir }
		lost := slices.ContainsFunc(gone, of)
		kept := slices.ContainsFunc(catalog.Skills, func(s *skills.Skill) bool {
			return of(s) && !slices.Contains(gone, s)
		})
		if kept || !lost && !excluded(p.Name, p.Name) {
			t.plugins = append(t.plugins, p)
		} else {
			hidden = append(hidden, p)
		}
	}
	within := func(path, dir string) bool {
		return dir != "" && strings.HasPrefix(path, dir+string(filepath.Separator))
	}
	for _, problem := range catalog.Problems {
		name, plugin := filepath.Base(filepath.Dir(problem.Path)), ""
		for _, p := range catalog.Plugins {
			if within(problem.Path, p.Dir) {
				plugin = p.Name
			}
		}
		if file := filepath.Base(problem.Path); filepath.Ext(file) == ".md" && !strings.EqualFold(file, "SKILL.md") {
			name = strings.TrimSuffix(file, ".md") // of a command
		}
		of := func(s *skills.Skill) bool {
			return s.File == problem.Path || !s.Command && within(problem.Path, s.Dir)
		}
		switch {
		case slices.ContainsFunc(hidden, func(p *skills.Plugin) bool { return within(problem.Path, p.Dir) }):
		case slices.ContainsFunc(gone, func(s *skills.Skill) bool { return of(s.Owner()) }):
		case !slices.ContainsFunc(catalog.Skills, of) && excluded(name, plugin): // it does not load
		default:
			t.problems = append(t.problems, problem)
		}
	}
	return t
}

// trimmed returns plugins without the servers and hooks whose skills are gone.
func trimmed(plugins []*skills.Plugin, gone []*skills.Skill) []*skills.Plugin {
	all := slices.Clone(plugins)
	for i, p := range all {
		next := *p
		next.Servers = slices.Clone(p.Servers)
		for _, s := range gone {
			switch {
			case s.Plugin != p.Name || s.PluginDir != p.Dir:
			case s.OfHooks():
				next.Hooks = nil
			case s.Entry != nil && s.Entry.Server != nil:
				next.Servers = slices.DeleteFunc(next.Servers, func(m skills.MCPServer) bool { return m.Name == s.Entry.Server.Server.Name })
			}
		}
		if len(next.Servers) != len(p.Servers) || len(next.Hooks) != len(p.Hooks) {
			all[i] = &next
		}
	}
	return all
}
