package web

import "net/http"

func (p *Page) skillRoutes(r *router) { r.get("{$}", p.skills) }

// skills lists the skills.
func (p *Page) skills(r *http.Request) (*content, error) {
	return &content{Title: "Skills", Template: "skills.html", Section: "skills", Live: []string{"skills"}}, nil
}
