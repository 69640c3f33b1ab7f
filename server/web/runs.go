package web

func (p *Page) runRoutes(r *router) {}
