package web

// manageRoutes mounts the screens of the machine.
func (p *Page) manageRoutes(r *router) {
	m := &management{manage: p.options.Manage, service: p.options.Service}
	m.sourceRoutes(r)
	m.clientRoutes(r)
	m.doctorRoutes(r)
	m.settingRoutes(r)
}
