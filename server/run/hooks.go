package run

import (
	"context"
	"encoding/json"

	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/skills"
)

// Hooks run the hooks of plugins around calls.
type Hooks interface {
	// Around makes a call by c.Do, with the hooks before it and after it. Without hooks it does
	// nothing else.
	Around(ctx context.Context, c *HookedCall) (*Outcome, error)
	// Any reports whether hooks may have a call asked about.
	Any() bool
	// Leave ends the session of a principal who has left. It does not wait.
	Leave(owner identity.Key)
}

// A HookedCall is a call with hooks around it.
type HookedCall struct {
	*Call
	// Skill is the skill that is called, or whose folder the code has; nil is none.
	Skill *skills.Skill
	Code  bool // it is of [Executor.RunCode]
	Args  map[string]any
	// Do makes the call with arguments. With a reason to ask, a person is asked about it, whoever
	// has said yes to such calls before.
	Do func(ctx context.Context, args map[string]any, ask string) (*Outcome, error)
	// Refuse records that the call is refused, and returns the error for that.
	Refuse func(ctx context.Context, err error) error
	// Hook runs a hook. Its output is not asked for, and its record has the call's.
	Hook func(ctx context.Context, r Request) (*Outcome, error)
}

// askedByHook adds a question to the decision about a call, if a hook wants one.
func askedByHook(j *job, d *Decision) error {
	if j.asked == "" {
		return nil
	}
	if j.skill == nil {
		return &Error{Code: PermissionDenied, Message: "a hook wants a person asked, and nobody is asked about code without a skill: " + j.asked}
	}
	d.Hook, d.Signatures, d.Each = j.asked, max(d.Signatures, 1), true
	return nil
}

// codeOf changes a request for code to other arguments of [CodeRequest.arguments].
func (r *CodeRequest) codeOf(args map[string]any) error {
	var code struct {
		Language, Code *string
		Args           []string
	}
	text, err := json.Marshal(args)
	if err == nil {
		err = json.Unmarshal(text, &code)
	}
	if err != nil || code.Language == nil || code.Code == nil {
		return invalid("hooks have left code without a text in \"language\" and \"code\", or with \"args\" that are no list of texts")
	}
	r.Language, r.Code, r.Args = *code.Language, *code.Code, code.Args
	return nil
}
