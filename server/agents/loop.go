package agents

import (
	"context"
	"log/slog"

	"github.com/skillsmcp/skills-mcp/server/agents/chat"
	"github.com/skillsmcp/skills-mcp/server/identity"
)

// A Model is a model at an endpoint, which sessions work with.
type Model struct {
	Name   string // of the configuration
	Client interface {
		Complete(ctx context.Context, r chat.Request) (chat.Reply, error)
	}
	// Window is the number of tokens that a request and its reply may have together; 0 is
	// unknown. MaxTokens bounds a reply; 0 is 4,096.
	Window, MaxTokens int
	// InputPrice and OutputPrice are the prices of a million tokens.
	InputPrice, OutputPrice float64
}

// A Hook tells plugins of an event in the session of who. The fields that it returns stand
// for the given ones where an event lets them.
type Hook func(ctx context.Context, who identity.Principal, event string, fields map[string]any) map[string]any

// A host is the session around a loop.
type host interface {
	// next removes and returns the messages that have come for the model: those of
	// sessions_send and the announcements of children. With wait it blocks until one comes or
	// no child is left that runs. open is false where no message has come and none will: from
	// then on the session takes none.
	next(ctx context.Context, wait bool) (messages []string, open bool, err error)
	// record keeps the conversation as it is now. It must not change it.
	record(conversation []chat.Message)
	// replied tells of a text without calls, after record: the reply to all that next has
	// returned.
	replied(text string)
}

// A loop works on the task of one session with a model and tools.
type loop struct {
	session Session // whose task, label, run ID and depth it reads
	who     identity.Principal
	agent   *Agent
	model   *Model
	tools   Tools
	host    host
	ledger  *ledger
	skills  int  // bodies of skills that a message may add
	hook    Hook // may be nil
	log     *slog.Logger
}

// run works until the model's reply has no calls, and no message and no running child is
// left. It returns the last text of the model, with an error too.
func (l *loop) run(ctx context.Context) (result string, err error) {
	panic("TODO")
}
