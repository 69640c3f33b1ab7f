package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/skillsmcp/skills-mcp/server/approval"
	"github.com/skillsmcp/skills-mcp/server/elicit"
)

// client returns the client that answers the questions of a job's scripts.
func client(j *Job) *elicit.Client {
	if !j.asks {
		return elicit.Nobody("nobody can be asked in such a call; make it on the page, or with an MCP client")
	}
	return elicit.Forms(elicit.AskerFunc(func(ctx context.Context, r *elicit.Request) (json.RawMessage, error) {
		return askForm(ctx, j, r)
	}), "on the page only a person can be asked")
}

// askForm puts a form of a script to the person.
func askForm(ctx context.Context, j *Job, r *elicit.Request) (json.RawMessage, error) {
	var q Question
	q.Message, q.Form = r.Form()
	a, err := j.ask(ctx, q, func(a Answer) error {
		if a.Content != nil && !json.Valid(a.Content) {
			return errors.New("the content is not JSON")
		}
		return r.Check(elicited(a))
	})
	if err != nil {
		return nil, err
	}
	return elicited(a), nil
}

// elicited returns an answer as the result of MCP's elicitation.
func elicited(a Answer) json.RawMessage {
	if a.Action != accept {
		a.Content = nil
	}
	data, _ := json.Marshal(struct {
		Action  string          `json:"action"`
		Content json.RawMessage `json:"content,omitempty"`
	}{a.Action, a.Content}) // whose content is JSON
	return data
}

// confirm puts the question of an approval to the person.
func confirm(ctx context.Context, j *Job, q *approval.Question) (approval.Scope, error) {
	a, err := j.ask(ctx, Question{Approval: q}, func(a Answer) error {
		if a.Action == accept && a.Scope != approval.No && !slices.Contains(q.Scopes, a.Scope) {
			return fmt.Errorf("%q is no answer to this question", a.Scope)
		}
		return nil
	})
	switch {
	case err != nil:
		return "", err
	case a.Action != accept:
		return approval.No, nil
	}
	return a.Scope, nil
}
