package server

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/skillsmcp/skills-mcp/server/media"
	"github.com/skillsmcp/skills-mcp/server/rpc"
	"github.com/skillsmcp/skills-mcp/server/skillsext"
	"github.com/skillsmcp/skills-mcp/server/tasks"
)

// extensions returns the extensions of MCP that the server declares.
func extensions() map[string]any {
	return map[string]any{
		"io.modelcontextprotocol/skills": map[string]any{"directoryRead": true},
		tasks.Extension:                  map[string]any{},
	}
}

// An extension answers the methods that mcp-go does not know: those of the Skills
// extension (SEP-2640), and of that for tasks (SEP-2663).
type extension struct {
	view   func() *view
	tasks  *tasks.Store
	logger *slog.Logger
}

// listen subscribes to the notifications of tasks.
func (s *extension) listen(ctx context.Context, params json.RawMessage, send func(method string, params map[string]any)) (agreed map[string]any, stop func(), err error) {
	return s.tasks.Listen(ctx, owner(ctx), params, send)
}

// methods returns the methods by name.
func (s *extension) methods() map[string]rpc.Method {
	methods := s.tasks.Methods(owner)
	methods["skills/list"] = rpc.Method{Handle: s.listSkills, Cacheable: true}
	methods["skills/get"] = rpc.Method{Handle: s.getSkill, Cacheable: true}
	methods["resources/directory/read"] = rpc.Method{Handle: s.readDirectory, Cacheable: true}
	return methods
}

// skillParams are the parameters of the Skills extension's methods.
type skillParams struct {
	URI    string `json:"uri"`
	Cursor string `json:"cursor"`
}

func decodeSkillParams(params json.RawMessage) (p skillParams, err error) {
	if len(params) > 0 && json.Unmarshal(params, &p) != nil {
		err = rpc.InvalidParams("the parameters must be an object; its uri and cursor are strings", nil)
	}
	return p, err
}

func (s *extension) listSkills(ctx context.Context, params json.RawMessage) (any, error) {
	in, err := decodeSkillParams(params)
	if err != nil {
		return nil, err
	}
	entries, next, err := s.view().library.List(ctx, in.Cursor, s.logger)
	if err != nil {
		return nil, refused(err, nil)
	}
	return struct {
		Skills []json.RawMessage `json:"skills"`
		Next   string            `json:"nextCursor,omitempty"`
	}{entries, next}, nil
}

func (s *extension) getSkill(ctx context.Context, params json.RawMessage) (any, error) {
	in, err := decodeSkillParams(params)
	if err != nil {
		return nil, err
	}
	entry, err := s.view().library.Get(ctx, in.URI)
	if err != nil {
		return nil, refused(err, atURI{in.URI})
	}
	return struct {
		Skill *skillsext.Entry `json:"skill"`
	}{entry}, nil
}

func (s *extension) readDirectory(_ context.Context, params json.RawMessage) (any, error) {
	in, err := decodeSkillParams(params)
	if err != nil {
		return nil, err
	}
	children, next, err := s.view().library.Directory(in.URI, in.Cursor)
	if err != nil {
		return nil, refused(err, atURI{in.URI})
	}
	result := struct {
		Resources []mcp.Resource `json:"resources"`
		Next      string         `json:"nextCursor,omitempty"`
	}{[]mcp.Resource{}, next}
	for _, child := range children {
		result.Resources = append(result.Resources, childResource(child))
	}
	return result, nil
}

func childResource(c skillsext.Child) mcp.Resource {
	switch {
	case c.Dir:
		return mcp.Resource{URI: c.URI, Name: c.Name, MIMEType: "inode/directory"}
	case c.Skill != nil:
		r := skillResource(c.Skill)
		r.Size = &c.Size
		return r
	}
	return mcp.Resource{URI: c.URI, Name: c.Name, MIMEType: media.Type(c.Name, c.Head), Size: &c.Size}
}

// atURI is the data of an error about a URI.
type atURI struct {
	URI string `json:"uri"`
}

// refused returns an error with the code that the extension defines for it.
func refused(err error, data any) error {
	if why := (*skillsext.NotServedError)(nil); errors.As(err, &why) {
		return rpc.InvalidParams(why.Message, data)
	}
	return err
}
