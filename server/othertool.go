package server

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/skills"
)

// otherTool is the name of the tool that answers for those which are not listed,
// any more: a client may have been shown them. No client can call it by this name.
const otherTool = "~"

// calledTool is the field of a request's header that has the name of such a tool.
const calledTool = "Tool-Name"

// hookTools has calls of tools that are not listed answered, and the list paged.
func (s *Server) hookTools(hooks *mcpserver.Hooks) {
	hooks.AddBeforeCallTool(func(_ context.Context, _ any, in *mcp.CallToolRequest) {
		v, name := s.view.Load(), in.Params.Name
		_, listed := v.listed[name]
		switch {
		case name == otherTool:
			in.Params.Name = "" // which there is not
		case listed && s.core.GetTool(name) == nil:
			in.Header, in.Params.Name = http.Header{calledTool: {name}}, otherTool
		}
	})
	hooks.AddAfterListTools(func(_ context.Context, _ any, _ *mcp.ListToolsRequest, out *mcp.ListToolsResult) {
		out.Tools, out.NextCursor = toolPage(out.Tools)
	})
}

// Bounds of one page of tools/list. Some clients read the first page only; the
// selection for them is smaller.
const (
	maxTools     = 500
	maxToolsSize = 256 << 10 // bytes
)

// toolPage returns the first tools of those that are left, and the cursor of the
// next page, as mcp-go reads it.
func toolPage(tools []mcp.Tool) (page []mcp.Tool, next mcp.Cursor) {
	tools = slices.DeleteFunc(tools, func(t mcp.Tool) bool { return t.Name == otherTool })
	size := 0
	for i, tool := range tools {
		size += len(encoded(tool))
		if i > 0 && (i == maxTools || size > maxToolsSize) {
			return tools[:i], mcp.Cursor(base64.StdEncoding.EncodeToString([]byte(tools[i-1].Name)))
		}
	}
	return tools, ""
}

func (s *Server) otherTool() mcpserver.ServerTool {
	return mcpserver.ServerTool{Tool: mcp.Tool{Name: otherTool}, Handler: func(ctx context.Context, in mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		r := s.request(ctx, in.Params.Meta)
		name := in.Header.Get(calledTool)
		skill, err := s.find(&r, name, func(v *view) (*skills.Skill, error) {
			if skill := cmp.Or(v.shown(name), v.called(name)); skill != nil {
				return skill, nil
			}
			return v.lookup(name)
		})
		if _, gone := errors.AsType[*skills.NotFoundError](err); gone {
			err = &run.Error{Code: run.NotFound, Message: fmt.Sprintf("the skill of the tool %s is no longer there; search_skills and list_skills name those there are", name), Err: err}
		}
		if err != nil {
			return s.refused(err)
		}
		tool, err := s.skillTool(skill, name)
		if err != nil {
			return s.refused(err)
		}
		in.Params.Name = name
		return tool.Handler(ctx, in)
	}}
}
