package web

import (
	"net/http"
	"net/url"
	"strings"
)

// oneSkillRoutes mounts the screen of a skill and its switches.
func (p *Page) oneSkillRoutes(r *router) {
	r.post("skills/{name}/enabled", p.setEnabled)
	r.post("skills/{name}/pinned", p.setPinned)
}

// setEnabled enables or disables a skill: the field "to" of the form is "true" or "false".
// The next screen is that of the field "next", or the skill's.
func (p *Page) setEnabled(r *http.Request) (string, error) {
	name := r.PathValue("name")
	return nextScreen(r, name), p.options.Service.SetEnabled(r.Context(), name, r.PostFormValue("to") == "true")
}

// setPinned keeps the tool of a skill, or no longer, with the fields of setEnabled.
func (p *Page) setPinned(r *http.Request) (string, error) {
	name := r.PathValue("name")
	return nextScreen(r, name), p.options.Service.SetPinned(r.Context(), name, r.PostFormValue("to") == "true")
}

// nextScreen returns the screen of the page that a form names, or that of a skill.
func nextScreen(r *http.Request, skill string) string {
	next, err := url.Parse(r.PostFormValue("next"))
	if err != nil || next.Scheme != "" || next.Host != "" || !strings.HasPrefix(next.Path, Path) || strings.Contains(next.Path, "..") || strings.ContainsAny(next.String(), "\\") {
		return skillPath(skill)
	}
	return next.String()
}
