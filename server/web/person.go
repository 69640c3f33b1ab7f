package web

import (
	"net/http"

	"github.com/skillsmcp/skills-mcp/server/run"
)

// forPerson returns a screen or an action for a person only.
func forPerson[T any](serve func(r *http.Request) (T, error)) func(r *http.Request) (T, error) {
	return func(r *http.Request) (result T, err error) {
		if !isPerson(r.Context()) {
			return result, errNotPerson()
		}
		return serve(r)
	}
}

func errNotPerson() error {
	return &run.Error{Code: run.PermissionDenied, Message: `Only the person at this machine may see and change this: sign in with the link that "skills-mcp ui" prints on a terminal.`}
}
