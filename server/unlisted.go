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

// forwardTool returns the hook that forwards the calls of tools that are not registered:
// those that clients were shown before, and those of skills that a model reaches by
// search. An earlier process of the server may have shown them.
func forwardTool(current func() *view, registered func(name string) bool) mcpserver.OnBeforeCallToolFunc {
	return func(_ context.Context, _ any, in *mcp.CallToolRequest) {
		if in.Params.Name == unlistedTool {
			in.Params.Name = "" // which no tool has
		}
		if registered(in.Params.Name) {
			return
		}
		v := current()
		if _, listed := v.listed[in.Params.Name]; listed || v.answers(in.Params.Name) {
			forward(&in.Header, &in.Params.Name, unlistedTool)
		}
	}
}

// Bounds of one page of tools/list. Some clients read the first page only; the
// selection for them is smaller.
const (
	maxTools     = 500
	maxToolsSize = 256 << 10 // bytes
)

// toolPage returns the first tools of those that are left, that have a schema and that
// are not hidden, and the cursor of the next page, as mcp-go reads it.
func toolPage(tools []mcp.Tool, hidden []string) (page []mcp.Tool, next mcp.Cursor) {
	tools = slices.DeleteFunc(tools, func(t mcp.Tool) bool { return t.RawInputSchema == nil || slices.Contains(hidden, t.Name) })
	size := 0
	for i, tool := range tools {
		size += len(encoded(tool))
		if i > 0 && (i == maxTools || size > maxToolsSize) {
			return tools[:i], mcp.Cursor(base64.StdEncoding.EncodeToString([]byte(tools[i-1].Name)))
		}
	}
	return tools, ""
}

// unlisted returns the tools that are registered and not listed, which have no schema:
// those that clients were shown before and that are not among tools, and [unlistedTool].
// A tool that was registered once stays so: mcp-go looks for it after the hook.
func (s *skillTools) unlisted(v *view, tools []mcpserver.ServerTool) []mcpserver.ServerTool {
	current := make(map[string]bool, len(tools))
	for _, tool := range tools {
		current[tool.Tool.Name] = true
	}
	all := []mcpserver.ServerTool{{Tool: mcp.Tool{Name: unlistedTool}, Handler: func(ctx context.Context, in mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		in.Params.Name = forwarded(in.Header)
		return s.callGone(ctx, in)
	}}}
	for name := range v.listed {
		if !current[name] {
			all = append(all, mcpserver.ServerTool{Tool: mcp.Tool{Name: name}, Handler: s.callGone})
		}
	}
	return all
}

// callGone answers the call of a tool that is not listed.
func (s *skillTools) callGone(ctx context.Context, in mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	tool, err := s.gone(newRequest(ctx, in.Params.Meta, s.view()), in.Params.Name)
	if err != nil {
		return s.answer(err)
	}
	return tool.Handler(ctx, in)
}

// gone returns the tool that clients were last shown under a name.
func (s *skillTools) gone(r *request, name string) (mcpserver.ServerTool, error) {
	skill, err := s.find.find(r, name, func(v *view) (*skills.Skill, error) {
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
