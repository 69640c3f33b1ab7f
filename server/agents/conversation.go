package agents

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/server/agents/chat"
	"github.com/skillsmcp/skills-mcp/server/identity"
)

const (
	maxOutput     = 48 << 10 // bytes of a call's result
	defaultReply  = 4096     // tokens, where a model has no MaxTokens
	defaultWindow = 128_000  // tokens, where a model has no Window
)

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

	conversation
}

// add adds messages to the conversation. An endpoint may refuse one that is empty.
func (l *loop) add(messages ...chat.Message) {
	for _, m := range messages {
		if m.Role != chat.Assistant || m.Text != "" || len(m.Calls) > 0 {
			l.Messages = append(l.Messages, m)
		}
	}
	l.host.record(slices.Clip(l.Messages))
}

// A conversation is the next request to a model.
type conversation struct {
	chat.Request // whose messages are never changed in place
	// known is the number of tokens, by the endpoint, of all before the message of index
	// counted; 0 is unknown.
	known, counted int
}

// size returns about how many tokens the conversation has: the endpoint's count, and a
// quarter of the bytes of later messages.
func (c *conversation) size() int {
	size := c.known
	if size == 0 {
		size = len(c.System) / 4
		for _, d := range c.Tools {
			size += (len(d.Name) + len(d.Description) + len(d.Schema)) / 4
		}
	}
	return size + tokens(c.Messages[c.counted:]...)
}

// tokens returns about how many tokens messages have.
func tokens(messages ...chat.Message) int {
	bytes := 0
	for _, m := range messages {
		bytes += len(m.Text) + 16 // of its role and marks
		for _, c := range m.Calls {
			bytes += len(c.ID) + len(c.Name) + len(c.Args) + 16
		}
	}
	return bytes / 4
}

// has reports whether the conversation has a text.
func (c *conversation) has(text string) bool {
	return strings.Contains(c.System, text) ||
		slices.ContainsFunc(c.Messages, func(m chat.Message) bool { return strings.Contains(m.Text, text) })
}

func (l *loop) window() int { return cmp.Or(l.model.Window, defaultWindow) }

// maxCut is the number of times that a request is made whose replies break off.
const maxCut = 5

// request makes one request of about size tokens, which the ledger has to allow. One whose
// reply breaks off is made again, and counts again.
func (l *loop) request(ctx context.Context, r chat.Request, size int) (reply *chat.Reply, err error) {
	for range maxCut {
		if reply, err = l.attempt(ctx, r, size); !errors.Is(err, chat.ErrCut) {
			break
		}
	}
	return reply, err
}

func (l *loop) attempt(ctx context.Context, r chat.Request, size int) (*chat.Reply, error) {
	most, settle, err := l.ledger.reserve(ctx, l.model, size, min(r.MaxTokens, max(l.window()-size, minReply)))
	if err != nil {
		return nil, err
	}
	usage := chat.Usage{Input: size}
	defer func() { settle(usage) }()
	r.MaxTokens = most
	reply, err := l.model.Client.Complete(ctx, r)
	switch {
	case errors.Is(err, chat.ErrWindowFull):
		usage.Input = 0
		return nil, err
	case err != nil:
		return nil, err
	}
	usage.Input = cmp.Or(reply.Usage.Input, size)
	usage.Output = cmp.Or(reply.Usage.Output, tokens(reply.Message))
	return reply, nil
}
