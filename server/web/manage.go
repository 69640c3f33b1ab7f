package web

// Manage knows the machine: the installed skills, the clients and the settings.
type Manage interface{}

func (p *Page) manageRoutes(r *router) {}
