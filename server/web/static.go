package web

func (p *Page) staticRoutes(r *router) {}
