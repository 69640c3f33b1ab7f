package web

import (
	"context"
	"net/http"

	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/run"
)

// isPerson reports whether a request acts for the person of this machine, who may decide
// about it.
func isPerson(ctx context.Context) bool {
	return identity.FromContext(ctx).Kind == identity.Person
}

// forPerson returns a screen or an action for the person of this machine only.
func forPerson[T any](serve func(r *http.Request) (T, error)) func(r *http.Request) (T, error) {
	return func(r *http.Request) (result T, err error) {
		if !isPerson(r.Context()) {
			return result, errNotPerson(r.Context())
		}
		return serve(r)
	}
}

func errNotPerson(ctx context.Context) error {
	if identity.FromContext(ctx).Named() {
		return &run.Error{Code: run.PermissionDenied, Message: "Only the person who runs this server may see and change this."}
	}
	return &run.Error{Code: run.PermissionDenied, Message: `Only the person at this machine may see and change this: sign in with the link that "skills-mcp ui" prints on a terminal.`}
}
