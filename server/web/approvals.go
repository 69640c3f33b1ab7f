package web

func (p *Page) approvalRoutes(r *router) {}
