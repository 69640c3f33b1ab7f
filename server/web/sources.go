package web

func (p *Page) sourceRoutes(r *router) {}
