package server

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/skillsmcp/skills-mcp/server/exposure"
	"github.com/skillsmcp/skills-mcp/server/media"
	"github.com/skillsmcp/skills-mcp/server/rpc"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/server/skillsext"
	"github.com/skillsmcp/skills-mcp/server/tasks"
	"github.com/skillsmcp/skills-mcp/skills"
)

// extensions returns the extensions of MCP that the server declares.
func extensions() map[string]any {
	return map[string]any{
		rpc.Skills:      map[string]any{"directoryRead": true},
		tasks.Extension: map[string]any{},
	}
}

// An extension answers the methods that mcp-go does not know: those of the Skills
// extension (SEP-2640), and of that for tasks (SEP-2663).
type extension struct {
	view   func() *view
	tasks  *tasks.Store
	texts  func(ctx context.Context, skill *skills.Skill) error // of the options
	logger *slog.Logger
}

// methods returns the methods by name.
func (s *extension) methods() map[string]rpc.Method {
	methods := s.tasks.Methods(owner)
	methods["skills/list"] = skillMethod(s.listSkills, func(skillParams) any { return nil })
	methods["skills/get"] = skillMethod(s.getSkill, atURI)
	methods["resources/directory/read"] = skillMethod(s.readDirectory, atURI)
	return methods
}

// skillParams are the parameters of the Skills extension's methods.
type skillParams struct {
	URI    string `json:"uri"`
	Cursor string `json:"cursor"`
}

// atURI returns the data of an error about a URI.
func atURI(in skillParams) any {
	return struct {
		URI string `json:"uri"`
	}{in.URI}
}

// skillMethod returns a method of the Skills extension. A refusal gets the code that the
// extension defines for it, and the data that about returns.
func skillMethod(handle func(ctx context.Context, in skillParams) (any, error), about func(skillParams) any) rpc.Method {
	return rpc.Method{Cacheable: true, Handle: func(ctx context.Context, params json.RawMessage) (any, error) {
		var in skillParams
		if len(params) > 0 && json.Unmarshal(params, &in) != nil {
			return nil, rpc.InvalidParams("the parameters must be an object; its uri and cursor are strings", nil)
		}
		result, err := handle(ctx, in)
		if why, ok := errors.AsType[*run.Error](err); ok {
			return nil, rpc.InvalidParams(why.Message, about(in))
		}
		if why, ok := errors.AsType[*skillsext.NotServedError](err); ok {
			return nil, rpc.InvalidParams(why.Message, about(in))
		}
		return result, err
	}}
}

func (s *extension) listSkills(ctx context.Context, in skillParams) (any, error) {
	v := s.view()
	entries, next := []json.RawMessage{}, ""
	if v.form(ctx) != exposure.Tools {
		var err error
		if entries, next, err = v.served(ctx).List(ctx, in.Cursor, s.logger); err != nil {
			return nil, err
		}
	}
	return struct {
		Skills []json.RawMessage `json:"skills"`
		Next   string            `json:"nextCursor,omitempty"`
	}{entries, next}, nil
}

func (s *extension) getSkill(ctx context.Context, in skillParams) (any, error) {
	library := s.view().served(ctx)
	if err := s.check(ctx, library, in.URI); err != nil {
		return nil, err
	}
	entry, err := library.Get(ctx, in.URI)
	return struct {
		Skill *skillsext.Entry `json:"skill"`
	}{entry}, err
}

// check returns the error of a URI in the folder of a skill whose files must not be
// passed on.
func (s *extension) check(ctx context.Context, library *skillsext.Library, uri string) error {
	if skill := library.Skill(uri); skill != nil {
		return s.texts(ctx, skill)
	}
	return nil
}

func (s *extension) readDirectory(ctx context.Context, in skillParams) (any, error) {
	v := s.view()
	library := v.served(ctx)
	if err := s.check(ctx, library, in.URI); err != nil {
		return nil, err
	}
	children, next, err := library.Directory(in.URI, in.Cursor)
	resources := []mcp.Resource{}
	for _, child := range children {
		resources = append(resources, v.childResource(child))
	}
	return struct {
		Resources []mcp.Resource `json:"resources"`
		Next      string         `json:"nextCursor,omitempty"`
	}{resources, next}, err
}

func (v *view) childResource(c skillsext.Child) mcp.Resource {
	switch {
	case c.Dir:
		return mcp.Resource{URI: c.URI, Name: c.Name, MIMEType: "inode/directory"}
	case c.Skill != nil:
		r := v.skillResource(c.Skill)
		r.Size = &c.Size
		return r
	}
	return mcp.Resource{URI: c.URI, Name: c.Name, MIMEType: media.Type(c.Name, c.Head), Size: &c.Size}
}
