package approval

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/skillsmcp/skills-mcp/server/elicit"
	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/skills"
)

// errCannotAsk is returned by a way of asking that reaches nobody for this call: the next
// one is used.
var errCannotAsk = errors.New("nobody can be asked in this way")

const (
	// instant is the time in which no person reads a question: a client that declines one
	// so fast cannot ask.
	instant = 300 * time.Millisecond
	// unread is the time in which no person has read one, and says yes: the client, or a
	// hook of it, does so by itself.
	unread = time.Second
)

// A ladder asks the person of a call, in the ways that reach them.
type ladder struct {
	terminal Terminal // of the program; nil is none
	forms    Forms
	waits    *elicit.WaitLimiter
}

// askTerminal asks the person whose own call it is.
func (l *ladder) askTerminal(ctx context.Context, c *call) (Scope, error) {
	if l.terminal == nil || !c.Principal.Answers() || c.machine {
		return "", errCannotAsk
	}
	c.offerPlugin(ctx)
	scope, err := l.terminal.Confirm(ctx, c.question)
	late, unanswered := errors.AsType[*elicit.WaitError](err)
	switch {
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case unanswered:
		return "", refused(c, late.Error())
	case err != nil:
		return "", errCannotAsk
	case scope == No && c.Way == run.WayPage:
		return No, nil
	case !slices.Contains(c.question.Answers(), scope):
		return "", refused(c, "it was not confirmed on the terminal")
	}
	return scope, nil
}

// askForm asks by a form of the call's client.
func (l *ladder) askForm(ctx context.Context, c *call) (Scope, error) {
	q := l.forms.of(c)
	if q == nil || c.Principal.Kind == identity.Person || c.Principal.Named() && !c.Principal.Answers() || c.machine || !c.Client.ShowsForms() || !q.fitsForm() {
		return "", errCannotAsk
	}
	request, err := elicit.NewForm(q.Form(), q.schema())
	if err != nil {
		return "", errCannotAsk
	}
	answer, err := l.ask(ctx, c, request)
	if err != nil {
		return "", err
	}
	switch scope := Scope(answer.Content.Answer); {
	case answer.Action == "accept" && l.forms != FormsAll && answer.after < unread:
		return "", errCannotAsk
	case answer.Action == "accept" && (scope == No || slices.Contains(q.Scopes, scope)):
		return scope, nil
	case !answer.declines():
		return "", errCannotAsk
	}
	return No, nil
}

// of returns the question of a call for a form; nil if no form asks about it.
func (f Forms) of(c *call) *Question {
	q := *c.question
	switch {
	case f == FormsAll:
		return &q
	case f == FormsNever, q.Class == skills.Dangerous, q.Needed > 1, len(q.Variables)+len(q.Secrets) > 0,
		q.Review != nil, q.Trust != nil, q.Fetch != nil, len(q.Grown) > 0: // a yes to one of these lasts
		return nil
	}
	q.Scopes = slices.DeleteFunc(slices.Clone(q.Scopes), func(s Scope) bool { return s == Always })
	return &q
}

// An answer is the result of a request to a person, or {"error": …}.
type answer struct {
	Action  string `json:"action"`
	Content struct {
		Answer string `json:"answer"`
	} `json:"content"`
	after time.Duration // the request was put to the client
}

// declines reports whether a person has declined or dismissed a request.
func (a *answer) declines() bool {
	return (a.Action == "decline" || a.Action == "cancel") && a.after >= instant
}

// ask puts a request to the client of a call and returns its answer. The error refuses the
// call, or is errCannotAsk.
func (l *ladder) ask(ctx context.Context, c *call, request *elicit.Request) (*answer, error) {
	waiting, leave := l.waits.Enter(ctx, c.Principal.Key(), c.subject)
	defer leave()
	return put(waiting, c, request)
}

// put is ask with a context that bounds the wait.
func put(ctx context.Context, c *call, request *elicit.Request) (*answer, error) {
	key := "approval-" + rand.Text() // nobody can answer before it is asked
	if c.fresh {
		key = "approval-" + c.pending.ID
	}
	request.Put, request.Once, request.Fresh = time.Now(), true, c.fresh // a client that answers wrongly would do so again
	answers, err := c.Client.Ask(ctx, map[string]*elicit.Request{key: request})
	switch {
	case ctx.Err() != nil:
		return nil, unanswered(ctx, c)
	case err != nil:
		return nil, errCannotAsk
	}
	got := &answer{}
	if json.Unmarshal(answers[key], got) != nil {
		got = &answer{}
	}
	got.after = time.Since(request.Put)
	return got, nil
}

// schema returns the form of a question: one choice, which has no default.
func (q *Question) schema() json.RawMessage {
	choices := append([]Scope{No}, q.Scopes...) // a client that fills in the first says no
	titles := make([]string, len(choices))
	for i, choice := range choices {
		titles[i] = q.Title(choice)
	}
	form, _ := json.Marshal(map[string]any{ // texts can be encoded
		"type": "object", "required": []string{"answer"},
		"properties": map[string]any{"answer": map[string]any{"type": "string", "title": "Your answer", "enum": choices, "enumNames": titles}},
	})
	return form
}

// unanswered returns the error of a call whose wait has ended.
func unanswered(ctx context.Context, c *call) error {
	if late, timeout := errors.AsType[*elicit.WaitError](context.Cause(ctx)); timeout {
		return refused(c, late.Error())
	}
	return context.Cause(ctx)
}
