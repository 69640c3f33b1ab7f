package scan

import (
	"io/fs"
	"path"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/manifest"
)

// markdown calls visit for each Markdown file of a plugin's commands or agents:
// those that the manifest names, or those at and below the folder kind. name is
// the file's path there, without its extension.
func (s *finder) markdown(dir, kind string, named []string, report manifest.Report, visit func(file, name string)) {
	if named == nil {
		standard := path.Join(dir, kind)
		if info, err := fs.Stat(s.root.FS, standard); err == nil && info.IsDir() {
			s.markdownIn(dir, standard, "", 0, visit)
		}
		return
	}
	for _, name := range named {
		real, ok := s.inside(dir, kind, name, report)
		if !ok {
			continue
		}
		if info, err := fs.Stat(s.root.FS, real); err == nil && info.IsDir() {
			s.markdownIn(dir, real, "", 0, visit)
		} else if stem, ok := markdownName(path.Base(real)); ok {
			visit(real, stem)
		} else {
			report(skills.Error, manifest.Position{}, "name a folder, or a file that ends with .md", "the %s path %q is no Markdown file", kind, name)
		}
	}
}

func (s *finder) markdownIn(plugin, dir, prefix string, depth int, visit func(file, name string)) {
	if s.walker.ctx.Err() != nil || depth > s.walker.options.Depth || !s.walker.count(dir) {
		return
	}
	entries, err := s.walker.list(dir)
	if err != nil {
		s.reject(s.display(dir), err)
		return
	}
	for _, entry := range entries {
		file := path.Join(dir, entry.Name())
		stem, isMarkdown := markdownName(entry.Name())
		switch {
		case Skip(entry.Name()):
		case entry.IsDir():
			s.markdownIn(plugin, file, prefix+entry.Name()+"/", depth+1, visit)
		case isMarkdown:
			if real := s.real(plugin, file, entry); real != "" {
				visit(real, prefix+stem)
			}
		}
	}
}

// markdownName returns the name of a Markdown file without its extension. A
// README is none.
func markdownName(name string) (stem string, ok bool) {
	stem, ok = strings.CutSuffix(name, ".md")
	return stem, ok && stem != "" && !strings.EqualFold(stem, "README")
}

// agent reads the agent in a file.
func (s *finder) agent(file, name string) {
	shown := s.display(file)
	agent := &skills.Agent{Source: s.root.Source, Workspace: s.root.Within, Trusted: s.root.trusted, File: shown}
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
	s.builder.addAgent(agent, s.root.untrusted(), s.reporter(shown))
}
