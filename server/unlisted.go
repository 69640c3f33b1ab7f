package server

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/skills"
)

// anyTool is the name of the tool that answers for all. No client can call it by this
// name, and none sees it: it has no schema.
const anyTool = "~"

// forwardTool returns the hook that makes mcp-go call the handler of [anyTool] for the tools
// that there are, for those that clients were shown before, by this process or an earlier
// one, and for those of skills that a model reaches by search.
func forwardTool(current func() *view) mcpserver.OnBeforeCallToolFunc {
	return func(_ context.Context, _ any, in *mcp.CallToolRequest) {
		switch {
		case current().knows(in.Params.Name):
			forward(&in.Header, &in.Params.Name, anyTool)
		case in.Params.Name == anyTool:
			in.Params.Name = "" // which no tool has
		}
	}
}

// Bounds of one page of tools/list. Some clients read the first page only; the
// selection for them is smaller.
const (
	maxTools     = 500
	maxToolsSize = 256 << 10 // bytes
)

// toolPage returns the first tools of those that are left, and the cursor of the next page, as mcp-go reads it.
func toolPage(tools []mcp.Tool) (page []mcp.Tool, next mcp.Cursor) {
	tools = slices.DeleteFunc(tools, func(t mcp.Tool) bool { return t.Name == anyTool })
	size := 0
	for i, tool := range tools {
		size += len(encoded(tool))
		if i > 0 && (i == maxTools || size > maxToolsSize) {
			return tools[:i], mcp.Cursor(base64.StdEncoding.EncodeToString([]byte(tools[i-1].Name)))
		}
	}
	return tools, ""
}

// any returns [anyTool].
func (s *skillTools) any() mcpserver.ServerTool {
	return mcpserver.ServerTool{Tool: mcp.Tool{Name: anyTool}, Handler: func(ctx context.Context, in mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		in.Params.Name = forwarded(in.Header)
		v := s.view()
		if handle := v.handlers[in.Params.Name]; handle != nil {
			return handle(ctx, in)
		}
		tool, err := s.gone(newRequest(ctx, in.Params.Meta, v), in.Params.Name)
		if err != nil {
			return s.answer(err)
		}
		return tool.Handler(ctx, in)
	}}
}

// gone returns the tool that clients were last shown under a name.
func (s *skillTools) gone(r *request, name string) (mcpserver.ServerTool, error) {
	skill, err := s.find.find(r, func(v *view) (*skills.Skill, error) {
		if skill := cmp.Or(v.shown(name), v.called(name)); skill != nil {
			return skill, nil
		}
		return v.lookup(name)
	})
	if _, gone := errors.AsType[*skills.NotFoundError](err); gone {
		err = &run.Error{Code: run.NotFound, Message: fmt.Sprintf("the skill of the tool %s is no longer there; search_skills and list_skills name those there are", name), Err: err}
	}
	if err != nil {
		return mcpserver.ServerTool{}, err
	}
	return s.of(skill, name, name)
}
