package server

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/skillsmcp/skills-mcp/server/media"
	"github.com/skillsmcp/skills-mcp/server/rpc"
	"github.com/skillsmcp/skills-mcp/server/skillsext"
	"github.com/skillsmcp/skills-mcp/server/tasks"
)

// extensions are what the server declares to speak beyond MCP.
func extensions() map[string]any {
	return map[string]any{
		"io.modelcontextprotocol/skills": map[string]any{"directoryRead": true},
		tasks.Extension:                  map[string]any{},
	}
}

// listen is for notices that mcp-go does not know: those of tasks.
func (s *Server) listen(ctx context.Context, params json.RawMessage, send func(method string, params map[string]any)) (agreed map[string]any, stop func(), err error) {
	return s.invoke.tasks.Listen(ctx, owner(ctx), params, send)
}

// Methods are what the server answers that mcp-go does not know, by name: those of
// the Skills extension (SEP-2640), and of that for tasks (SEP-2663).
func (s *Server) Methods() map[string]rpc.Method {
	methods := s.invoke.tasks.Methods(owner)
	methods["skills/list"] = rpc.Method{Handle: s.listSkills, Cacheable: true}
	methods["skills/get"] = rpc.Method{Handle: s.getSkill, Cacheable: true}
	methods["resources/directory/read"] = rpc.Method{Handle: s.readDirectory, Cacheable: true}
	return methods
}

// about are the parameters of all these methods.
type about struct {
	URI    string `json:"uri"`
	Cursor string `json:"cursor"`
}

func readAbout(params json.RawMessage) (a about, err error) {
	if len(params) > 0 && json.Unmarshal(params, &a) != nil {
		err = rpc.InvalidParams("the parameters must be an object; its uri and cursor are strings", nil)
	}
	return a, err
}

func (s *Server) listSkills(ctx context.Context, params json.RawMessage) (any, error) {
	in, err := readAbout(params)
	if err != nil {
		return nil, err
	}
	entries, next, err := s.view.Load().library.List(ctx, in.Cursor, s.logger)
	if err != nil {
		return nil, refused(err, nil)
	}
	return struct {
		Skills []json.RawMessage `json:"skills"`
		Next   string            `json:"nextCursor,omitempty"`
	}{entries, next}, nil
}

func (s *Server) getSkill(ctx context.Context, params json.RawMessage) (any, error) {
	in, err := readAbout(params)
	if err != nil {
		return nil, err
	}
	entry, err := s.view.Load().library.Get(ctx, in.URI)
	if err != nil {
		return nil, refused(err, atURI{in.URI})
	}
	return struct {
		Skill *skillsext.Entry `json:"skill"`
	}{entry}, nil
}

func (s *Server) readDirectory(_ context.Context, params json.RawMessage) (any, error) {
	in, err := readAbout(params)
	if err != nil {
		return nil, err
	}
	children, next, err := s.view.Load().library.Directory(in.URI, in.Cursor)
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

// atURI is what an error about a URI carries.
type atURI struct {
	URI string `json:"uri"`
}

// refused gives an error the code that the extension has for it.
func refused(err error, data any) error {
	if why := (*skillsext.NotServedError)(nil); errors.As(err, &why) {
		return rpc.InvalidParams(why.Message, data)
	}
	return err
}
