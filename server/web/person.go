package web

import (
	"net/http"

	"github.com/skillsmcp/skills-mcp/server/run"
)

// forPerson returns a screen for a person only.
func forPerson(s screen) screen {
	return func(r *http.Request) (*content, error) {
		if !isPerson(r.Context()) {
			return nil, errNotPerson()
		}
		return s(r)
	}
}

// byPerson returns an action for a person only.
func byPerson(a action) action {
	return func(r *http.Request) (string, error) {
		if !isPerson(r.Context()) {
			return "", errNotPerson()
		}
		return a(r)
	}
}

func errNotPerson() error {
	return &run.Error{Code: run.PermissionDenied, Message: `Only the person at this machine may see and change this: sign in with the link that "skills-mcp ui" prints on a terminal.`}
}
