package web

func (p *Page) tryRoutes(r *router) {}
