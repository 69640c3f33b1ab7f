package agents

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/skillsmcp/skills-mcp/server/agents/chat"
	"github.com/skillsmcp/skills-mcp/skills/truncate"
)

const (
	maxParallel = 4 // calls of one reply that run at once

	goOn     = "Your reply was cut off at its largest length. Continue exactly where it ended, without repeating anything."
	noResult = "(no result)"
)

// run works until the model's reply has no calls, and no message and no running child is
// left. It returns the last text of the model, with an error too.
func (l *loop) run(ctx context.Context) (result string, err error) {
	if err := l.begin(ctx); err != nil {
		return "", err
	}
	for {
		text, err := l.answer(ctx)
		if err != nil {
			return result, err
		}
		result = cmp.Or(text, noResult)
		l.host.replied(result)
		messages, open, err := l.host.next(ctx, true)
		if err != nil || !open {
			return result, err
		}
		if err := l.hear(ctx, messages); err != nil {
			return result, err
		}
	}
}

// answer asks the model, and makes the calls that it asks for, until a reply has none. It
// returns the text of that reply. One that was cut is continued once.
func (l *loop) answer(ctx context.Context) (string, error) {
	begun, cut := "", false
	for {
		messages, _, err := l.host.next(ctx, false)
		if err != nil {
			return "", err
		}
		if err := l.hear(ctx, messages); err != nil {
			return "", err
		}
		reply, err := l.ask(ctx)
		switch {
		case err != nil:
			return "", err
		case len(reply.Calls) > 0:
			begun, cut = "", false
			l.add(reply.Message)
			l.add(l.call(ctx, reply.Calls)...)
		case reply.Cut && !cut:
			begun, cut = reply.Text, true
			l.add(reply.Message, chat.Message{Role: chat.User, Text: goOn})
		case reply.Cut && begun+reply.Text == "": // it has only thought
			return "", fmt.Errorf("the model %s spent all of its max_tokens, %d, before any text; raise them in agents.models", l.model.Name, l.MaxTokens)
		default:
			text := l.hooked(ctx, "message_sending", "message", begun+reply.Text, nil)
			if text != begun+reply.Text {
				reply.Text = text
			}
			l.add(reply.Message)
			return text, nil
		}
	}
}

// ask returns the model's next message. Before it, or where the endpoint says that the
// window is full, it makes room.
func (l *loop) ask(ctx context.Context) (*chat.Reply, error) {
	tools, err := l.tools.List(ctx)
	if err != nil {
		return nil, fmt.Errorf("list the session's tools: %w", err)
	}
	l.Tools = tools
	if limit := l.window() * 4 / 5; l.size() >= limit {
		if err := l.compact(ctx, limit); err != nil {
			return nil, err
		}
		if l.size() >= limit {
			return nil, fmt.Errorf("the conversation does not fit the window of the model %s; raise it in agents.models, or give the agent fewer tools", l.model.Name)
		}
	}
	reply, err := l.request(ctx, l.Request, l.size())
	if errors.Is(err, chat.ErrWindowFull) {
		l.known, l.counted = 0, 0 // its count was of no use
		if err := l.compact(ctx, l.size()-tokens(l.Messages...)/2); err != nil {
			return nil, err
		}
		reply, err = l.request(ctx, l.Request, l.size())
	}
	if err != nil {
		return nil, err
	}
	if reply.Usage.Input > 0 {
		l.known, l.counted = reply.Usage.Input, len(l.Messages)
	}
	return reply, nil
}

// call makes calls side by side and returns their results in the order of the calls.
func (l *loop) call(ctx context.Context, calls []chat.Call) []chat.Message {
	results := make([]chat.Message, len(calls))
	var group errgroup.Group
	group.SetLimit(maxParallel)
	for i, c := range calls {
		group.Go(func() error {
			text, failed := l.callOne(ctx, c)
			text = truncate.String(harmless(cmp.Or(text, "(no output)")), maxOutput)
			results[i] = chat.Message{Role: chat.Tool, CallID: c.ID, Text: text, Failed: failed}
			return nil
		})
	}
	_ = group.Wait() // no call returns an error
	return results
}

// callOne makes a call.
func (l *loop) callOne(ctx context.Context, c chat.Call) (text string, failed bool) {
	switch {
	case !slices.ContainsFunc(l.Tools, func(d chat.Definition) bool { return d.Name == c.Name }):
		return fmt.Sprintf("there is no tool %q", truncate.String(c.Name, 100)), true
	case c.Broken != "":
		return "the arguments have to be a JSON object, not " + c.Broken, true
	}
	return l.tools.Call(ctx, c.Name, c.Args)
}
