// Package web is the page: skills, approvals, runs and the state of the machine, for a
// person with a browser. Each screen is HTML that works without script; the script only
// replaces parts of it that have changed.
//
// Start with [New]; [Page.Handler] serves the page below [Path].
package web

import (
	"net/http"

	"github.com/skillsmcp/skills-mcp/server/web/markup"
)

// New returns a page. Close ends the polls of browsers.
func New(o Options) *Page {
	files := newAssets()
	return &Page{o, files, newScreens(files), newChanges(o.Service, o.Manage, o.Logger)}
}

// newScreens returns the screens, whose functions know the static files.
func newScreens(files assets) *screens {
	return &screens{options: &markup.Options{Functions: functions(files), Methods: methods()}}
}

// Close ends the requests that have no end of their own.
func (p *Page) Close() error { return p.changes.Close() }

// Handler serves the page. Requests carry their principal; see package signin.
func (p *Page) Handler() http.Handler {
	r := &router{p, http.NewServeMux()}
	list, skill, try, kept := &skillsScreen{p.options.Service, p.options.Folders}, skillScreens{p}, runForms{p}, secretScreens{p.options.Service.Secrets()}
	for path, s := range map[string]screen{
		"{$}": list.show, "skills/{name}": skill.skill, "skills/{name}/files/{file...}": skill.skillFile,
		"skills/{name}/try": try.tryForm, "jobs/{id}": try.job,
		"approvals": p.approvals, "approvals/{id}": p.approval, "runs": p.runs, "runs/{id}": p.run, "": p.missing,
		"secrets": kept.list, "secrets/remove": kept.confirmRemove, "secrets/grant": forPerson(kept.grant),
	} {
		r.get(path, s)
	}
	for path, a := range map[string]action{
		"skills/{name}/enabled": skill.setEnabled, "skills/{name}/pinned": skill.setPinned, "skills/{name}/accept": skill.acceptChange,
		"jobs/{id}/cancel": try.cancel, "approvals/{id}": p.answer,
		"secrets/set": kept.set, "secrets/remove": kept.remove, "secrets/grant": kept.makeGrant, "secrets/revoke": kept.revoke,
	} {
		r.post(path, a)
	}
	for pattern, h := range map[string]http.HandlerFunc{
		"GET " + Path + "skills/{name}/raw/{file...}": skill.rawFile, "GET " + Path + "skills/{name}/paths": try.paths,
		"POST " + Path + "skills/{name}/try": try.try, "POST " + Path + "jobs/{id}/answer": try.answerJob,
		"GET " + Path + "jobs/{id}/{piece}": try.stream, "GET " + Path + "jobs/{id}/out/{file...}": try.output,
		"GET " + Path + "events": p.changes.serve, "GET " + Path + "static/": p.assets.serve,
	} {
		r.mux.HandleFunc(pattern, h)
	}
	(&management{manage: p.options.Manage, service: p.options.Service}).mount(r)
	profileScreens{p.options.Service}.mount(r)
	subagentScreens{p}.mount(r)
	return r.mux
}

// mount mounts the screens of the profiles, which are for a person alone.
func (s profileScreens) mount(r *router) {
	for path, screen := range map[string]screen{"profiles": s.list, "profiles/{name}": s.show, "profiles/{name}/remove": s.confirmRemove} {
		r.get(path, forPerson(screen))
	}
	for path, action := range map[string]action{"profiles": s.add, "profiles/{name}": s.save, "profiles/{name}/skill": s.chooseSkill, "profiles/{name}/remove": s.remove} {
		r.post(path, forPerson(action))
	}
}

// mount mounts the screens of the machine, which are for a person alone. No GET request asks
// a source.
func (m *management) mount(r *router) {
	for path, s := range map[string]screen{
		"sources": m.sources, "sources/entry": m.source, "sources/uninstall": m.confirmUninstall, "sources/operations/{id}": m.operation,
		"sources/catalog": m.catalog, "clients": m.clients, "clients/{name}/replace": m.confirmReplace, "doctor": m.doctor, "settings": m.settings,
	} {
		r.get(path, forPerson(s))
	}
	for path, a := range map[string]action{
		"sources/catalog": m.searchCatalog, "sources/operations": m.order, "sources/operations/{id}/answer": m.answerOperation,
		"sources/operations/{id}/stop": m.stopOperation, "clients/{name}": m.connectClient, "doctor": m.diagnose,
	} {
		r.post(path, forPerson(a))
	}
}
