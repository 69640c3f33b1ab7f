package api

import (
	"context"

	"github.com/skillsmcp/skills-mcp/server/approval"
	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/run"
)

// isPerson reports whether ctx is of the person of this machine.
func isPerson(ctx context.Context) bool { return identity.FromContext(ctx).Kind == identity.Person }

// sees reports whether the principal of ctx may see what another one, or itself, owns.
func sees(ctx context.Context, owner identity.Principal) bool {
	return identity.FromContext(ctx).Oversees() || owns(ctx, owner)
}

// owns reports whether the principal of ctx is the owner.
func owns(ctx context.Context, owner identity.Principal) bool {
	return identity.FromContext(ctx).Owner() == owner.Owner()
}

// onlyPersons returns an error unless ctx is of the person of this machine.
func onlyPersons(ctx context.Context) error {
	switch who := identity.FromContext(ctx); {
	case who.Kind == identity.Person:
		return nil
	case who.Answers():
		return denied("only the person who runs this server may do this")
	}
	return denied("only a person may do this: sign in on the page, or use the command line in a terminal of yours")
}

// onlyAnswering returns an error unless ctx is of a principal that answers questions.
func onlyAnswering(ctx context.Context) error {
	if identity.FromContext(ctx).Answers() {
		return nil
	}
	return onlyPersons(ctx)
}

// onlyOverseers returns an error unless ctx is of a principal that oversees others.
func onlyOverseers(ctx context.Context) error {
	if identity.FromContext(ctx).Oversees() {
		return nil
	}
	return denied("only the person who runs this server, or a principal with the scope skills:admin, may do this")
}

// MayAnswer reports whether the principal of ctx may confirm or deny a question: the person
// of this machine any, others their own, and one who oversees the calls of all a question that
// needs several people, once another one has confirmed it.
func MayAnswer(ctx context.Context, r *approval.Record) bool {
	who := identity.FromContext(ctx)
	return who.Answers() && (isPerson(ctx) || !r.Question.OfMachine() && (r.OwnedBy(who) || who.Oversees() && r.Needed > 1 && len(r.Signatures) > 0))
}

// MayRevoke reports whether the principal of ctx may withdraw an approval.
func MayRevoke(ctx context.Context, r *approval.Record) bool {
	who := identity.FromContext(ctx)
	return who.Answers() && (isPerson(ctx) || r.OwnedBy(who))
}

func denied(message string) error { return &run.Error{Code: run.PermissionDenied, Message: message} }
