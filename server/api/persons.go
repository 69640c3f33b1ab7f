package api

import (
	"context"

	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/run"
)

func isPerson(ctx context.Context) bool { return identity.FromContext(ctx).Kind == identity.Person }

// onlyPersons returns an error unless ctx is of a person.
func onlyPersons(ctx context.Context) error {
	if isPerson(ctx) {
		return nil
	}
	return &run.Error{Code: run.PermissionDenied, Message: "only a person may do this: sign in on the page, or use the command line in a terminal of yours"}
}
