package web

import (
	"embed"
	"html/template"
	"sync"
)

//go:embed templates/*.html
var templateFiles embed.FS

// screens are the parsed templates, each when it is first shown: a server whose page
// nobody opens parses none.
type screens struct {
	assets assets

	mu     sync.Mutex
	parsed map[string]*template.Template // guarded by mu
}

// of returns the template of a screen, with the layout and the parts that all share.
func (s *screens) of(name string) (*template.Template, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t := s.parsed[name]; t != nil {
		return t, nil
	}
	t, err := template.New(name).Funcs(functions(s.assets)).ParseFS(templateFiles, "templates/layout.html", "templates/parts*.html", "templates/"+name)
	if err != nil {
		return nil, err
	}
	if s.parsed == nil {
		s.parsed = map[string]*template.Template{}
	}
	s.parsed[name] = t
	return t, nil
}
