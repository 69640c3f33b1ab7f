package server

import (
	"bytes"
	"context"
	"errors"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/server/tasks"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/search"
)

// A request is a call of a tool, a prompt or a resource, decoded.
type request struct {
	ctx       context.Context
	args      map[string]any
	principal identity.Principal // that the request acts for
	token     mcp.ProgressToken
	view      *view // one catalog for the whole call
	retry     retry
	task      *tasks.Task // that the call may become; nil is none
}

// newRequest returns a request without arguments. meta may be nil.
func newRequest(ctx context.Context, meta *mcp.Meta, v *view) *request {
	r := &request{ctx: ctx, principal: principal(ctx), view: v}
	if meta != nil {
		r.token = meta.ProgressToken
	}
	return r
}

// A retry names a call, and holds the answers with which a client repeats one that has
// asked it something. The zero retry is that of a request whose result has no field
// for questions.
type retry struct {
	method, name string
	args         any // of the call, as it is encoded
	mcp.MultiRoundTripParams
}

// A handler answers a call with a result, or with an error that becomes one.
type handler func(r *request) (*mcp.CallToolResult, error)

// decodeArguments returns the arguments of a call with numbers as they were written: an
// integer above 2^53 arrives whole.
func decodeArguments(in mcp.CallToolRequest) (map[string]any, error) {
	raw := in.Params.RawArguments
	if len(raw) == 0 || bytes.Equal(bytes.TrimSpace(raw), []byte("null")) {
		return map[string]any{}, nil
	}
	return decodeObject(raw)
}

func decodeObject(raw []byte) (map[string]any, error) {
	value, err := skills.DecodeJSON(string(raw))
	args, ok := value.(map[string]any)
	if err != nil || !ok {
		return nil, &run.Error{Code: run.InvalidParam, Message: "the arguments must be a JSON object"}
	}
	return args, nil
}

// A finder finds the skills that calls name.
type finder struct {
	view     func() *view
	index    *search.Index
	reloader Reloader // nil: the files of skills are not looked at
}

// maxReads bounds how often a call has a skill read again whose script comes and goes.
const maxReads = 3

// find returns the skill that a call means, as its files are now, and sets the request's
// view to the one that it is found in. look finds it in a view. A reload may publish a skill
// in the middle of an edit: it is read again where it lacks its script.
func (f *finder) find(r *request, look func(*view) (*skills.Skill, error)) (*skills.Skill, error) {
	skill, err := look(r.view)
	if f.reloader == nil {
		return skill, err
	}
	for range maxReads {
		if err := f.reloader.Refresh(r.ctx, skill); err != nil {
			return nil, err
		}
		now := f.view()
		if now == r.view {
			break
		}
		r.view = now
		if skill, err = look(now); err != nil || !skill.LacksScript() {
			break
		}
	}
	return skill, err
}

// named finds the skill of a name. Where none has it, nor a similar one, the error names
// those that it describes.
func (f *finder) named(r *request, name string) (*skills.Skill, error) {
	skill, err := f.find(r, func(v *view) (*skills.Skill, error) { return v.lookup(name) })
	if missing, ok := errors.AsType[*skills.NotFoundError](err); ok && len(missing.Closest) == 0 {
		err = &skills.NotFoundError{Name: name, Closest: f.described(r, name)}
	}
	return skill, err
}

// maxDescribed bounds the skills that an error names.
const maxDescribed = 3

// described returns the names of the skills that fit a text.
func (f *finder) described(r *request, text string) (names []string) {
	found, err := f.index.Search(r.ctx, r.view.catalog, search.Query{Text: text})
	if err != nil || found.Unsure {
		return nil
	}
	for _, h := range found.Hits[:min(maxDescribed, len(found.Hits))] {
		names = append(names, h.Skill.QualifiedName())
	}
	return names
}

// optional finds the skill of a name, or returns nil for "".
func (f *finder) optional(r *request, name string) (*skills.Skill, error) {
	if name == "" {
		return nil, nil
	}
	return f.named(r, name)
}
