package web

// manageRoutes mounts the screens of the machine.
func (p *Page) manageRoutes(r *router) {
	p.sourceRoutes(r)
	p.clientRoutes(r)
	p.doctorRoutes(r)
	p.settingRoutes(r)
}
