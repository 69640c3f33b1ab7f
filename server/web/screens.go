package web

import (
	"embed"
	"sync"

	"github.com/skillsmcp/skills-mcp/server/web/markup"
)

//go:embed templates/*.html
var templateFiles embed.FS

// screens are the parsed templates, each when it is first shown: a server whose page
// nobody opens parses none.
type screens struct {
	options *markup.Options // functions and methods of all templates

	mu     sync.Mutex
	parsed map[string]*markup.Template // guarded by mu
}

// of returns the template of a screen, with the layout and the parts that all share.
func (s *screens) of(name string) (*markup.Template, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t := s.parsed[name]; t != nil {
		return t, nil
	}
	files := []string{"templates/layout.html", "templates/parts.html", "templates/parts-skill.html", "templates/" + name}
	t, err := markup.Parse(templateFiles, files, s.options)
	if err != nil {
		return nil, err
	}
	if s.parsed == nil {
		s.parsed = map[string]*markup.Template{}
	}
	s.parsed[name] = t
	return t, nil
}
