package approval

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	"github.com/skillsmcp/skills-mcp/server/elicit"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/server/seal"
)

// A Terminal asks the person whose own call it is, at the command line or on the page.
type Terminal interface {
	// Confirm shows a question and returns the answer, [No] or one of its scopes. It must
	// return when ctx is done. An [*elicit.WaitError] says that nobody answered; any other
	// error says that nobody was asked.
	Confirm(ctx context.Context, q *Question) (Scope, error)
}

// Expiry bounds the lives of approvals. A zero field means the default.
type Expiry struct {
	Pending time.Duration // of a question; 10 minutes
	Once    time.Duration // of an approval of one call; 10 minutes
	Always  time.Duration // of an approval of all later calls; 90 days
}

// DefaultExpiry returns the default lives.
func DefaultExpiry() Expiry { return Expiry{10 * time.Minute, 10 * time.Minute, 90 * 24 * time.Hour} }

// sessionExpiry bounds the approvals of a session that nobody ends.
const sessionExpiry = 12 * time.Hour

// lifetime returns the time for which an approval of a scope counts.
func (e Expiry) lifetime(scope Scope) time.Duration {
	switch scope {
	case Once:
		return e.Once
	case Session:
		return sessionExpiry
	}
	return e.Always
}

// Workspaces are the workspaces that the person trusts.
type Workspaces interface {
	// Trust records that the person trusts a workspace.
	Trust(ctx context.Context, t *run.Trust) error
}

// Servers are the MCP servers that the person has connected.
type Servers interface {
	// Consent records the person's yes to a skill of a server.
	Consent(ctx context.Context, f *run.Fetch) error
}

// Forms are the calls that forms of clients ask about. A form is answered by a person, or
// by a program that the client runs: nothing tells them apart but their speed.
type Forms string

// The values of Forms; "" is FormsOnce.
const (
	FormsAll   Forms = "all"   // every call, with every answer, however fast
	FormsOnce  Forms = "once"  // calls of little risk: once, or for the session
	FormsNever Forms = "never" // none
)

// AllForms returns the values of Forms.
func AllForms() []Forms { return []Forms{FormsAll, FormsOnce, FormsNever} }

// Options configure [Approvals]. The zero value is usable.
type Options struct {
	// Terminal asks a person about their own calls; nil asks nobody so.
	Terminal Terminal
	// Workspaces records the trust that a confirmed question was about; without it such a
	// question cannot be confirmed.
	Workspaces Workspaces
	// Servers records the consent that a confirmed question was about; without it such a
	// question cannot be confirmed.
	Servers Servers
	// Page returns the URL of the page that asks about an approval, if there is one; nil
	// is none.
	Page func(id string) (url string, ok bool)
	// Home is the home folder of the person, which questions call ~; "" is not known.
	Home string
	// Notify is called with each question that begins to wait for an answer elsewhere than
	// in its client; nil is not. It must not block.
	Notify func(r *Record)
	// Shared reports that other machines call: a caller may have no terminal of this one.
	Shared bool
	// Replicas reports that other servers share the store: a question that a client gets is
	// stored, so that its answer counts there if this server ends.
	Replicas bool
	Expiry   Expiry
	// Forms are the calls that forms ask about; "" is FormsOnce.
	Forms Forms
	// Asking bounds how calls wait for answers; zero fields: elicit.DefaultLimits.
	Asking elicit.Limits
	// Pending bounds the questions that wait for an answer; zero fields: 8 of a
	// client about one skill, 16 of a client, 32 of one principal, and 64 in all but those of named ones.
	Pending Limits
	// Key seals questions, and signs answers; nil is a file beside the store's. A question
	// that was asked under another person's key is not answered under this one.
	Key *seal.Key
	// Logger gets rows that do not count; nil discards them.
	Logger *slog.Logger
}

// withDefaults returns a copy of o with its defaults; o may be nil.
func (o *Options) withDefaults() Options {
	var c Options
	if o != nil {
		c = *o
	}
	d := DefaultExpiry()
	c.Expiry = Expiry{cmp.Or(c.Expiry.Pending, d.Pending), cmp.Or(c.Expiry.Once, d.Once), cmp.Or(c.Expiry.Always, d.Always)}
	c.Pending.Subject = cmp.Or(c.Pending.Subject, 8)
	c.Pending.Client = cmp.Or(c.Pending.Client, 16)
	c.Pending.Owner = cmp.Or(c.Pending.Owner, 32)
	c.Pending.Total = cmp.Or(c.Pending.Total, 64)
	c.Logger = cmp.Or(c.Logger, slog.New(slog.DiscardHandler))
	return c
}
