package web

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/skillsmcp/skills-mcp/server/run"
)

// clients lists the MCP clients.
func (m *management) clients(r *http.Request) (*content, error) {
	all, err := m.manage.Clients(r.Context())
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return &content{Title: "Clients", Template: "clients.html", Section: "clients", Data: map[string]any{"Clients": all, "Told": m.told}}, nil
}

// confirmReplace asks whether another server of the name is replaced.
func (m *management) confirmReplace(r *http.Request) (*content, error) {
	all, err := m.manage.Clients(r.Context())
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
func (m *management) connectClient(r *http.Request) (string, error) {
	do := r.PostFormValue("do")
	if do != "add" && do != "replace" && do != "remove" {
		return "", &run.Error{Code: run.InvalidParam, Message: "The form cannot be read; send it again."}
	}
	told, err := m.manage.Connect(r.Context(), r.PathValue("name"), do == "remove", do == "replace")
	if err != nil {
		return "", err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.told = told
	return Path + "clients", nil
}
