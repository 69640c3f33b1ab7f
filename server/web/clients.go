package web

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/skillsmcp/skills-mcp/server/run"
)

// clientRoutes mounts the screens of MCP clients.
func (p *Page) clientRoutes(r *router) {
	r.get("clients", forPerson(p.clients))
	r.get("clients/{name}/replace", forPerson(p.confirmReplace))
	r.post("clients/{name}", byPerson(p.connectClient))
}

// clients lists the MCP clients.
func (p *Page) clients(r *http.Request) (*content, error) {
	all, err := p.options.Manage.Clients(r.Context())
	if err != nil {
		return nil, err
	}
	p.known.mu.Lock()
	defer p.known.mu.Unlock()
	return &content{Title: "Clients", Template: "clients.html", Section: "clients", Data: map[string]any{"Clients": all, "Told": p.known.told}}, nil
}

// confirmReplace asks whether another server of the name is replaced.
func (p *Page) confirmReplace(r *http.Request) (*content, error) {
	all, err := p.options.Manage.Clients(r.Context())
	if err != nil {
		return nil, err
	}
	for _, client := range all {
		if client.Name != r.PathValue("name") || client.Other == "" {
			continue
		}
		return &content{Title: "Replace the server of " + client.Title, Template: "confirm.html", Section: "clients", Data: confirmation{
			Lines: []string{
				"Its file " + client.File + " has a server of this name that starts " + client.Other + ". Its arguments and variables are replaced by the entry below. A copy of the file is kept beside it.",
			},
			Details: strings.Split(strings.TrimSpace(client.Entry), "\n"),
			Action:  Path + "clients/" + url.PathEscape(client.Name), Button: "Replace it", Back: Path + "clients",
			Fields: [][2]string{{"do", "replace"}},
		}}, nil
	}
	return nil, &run.Error{Code: run.NotFound, Message: "There is nothing to replace: look at the clients again."}
}

// connectClient adds this server to the file of a client, or removes it.
func (p *Page) connectClient(r *http.Request) (string, error) {
	do := r.PostFormValue("do")
	if do != "add" && do != "replace" && do != "remove" {
		return "", &run.Error{Code: run.InvalidParam, Message: "The form cannot be read; send it again."}
	}
	told, err := p.options.Manage.Connect(r.Context(), r.PathValue("name"), do == "remove", do == "replace")
	if err != nil {
		return "", err
	}
	p.known.mu.Lock()
	defer p.known.mu.Unlock()
	p.known.told = told
	return Path + "clients", nil
}
