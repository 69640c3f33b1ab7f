package server

import (
	"errors"
	"fmt"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/skillsmcp/skills-mcp/server/rpc"
	"github.com/skillsmcp/skills-mcp/server/run"
)

// refusal is the error of a request whose result cannot be an error: a prompt, or
// a resource. It is nil where there is none, an [*rpc.Error] otherwise, with what a
// tool would have said.
func (s *Server) refusal(result *mcp.CallToolResult, err error) error {
	if err == nil && !result.IsError {
		return nil
	}
	if failed := (*rpc.Error)(nil); errors.As(err, &failed) {
		return failed
	}
	code := mcp.INTERNAL_ERROR
	if err != nil {
		if e := asCallError(err); e.Code == run.InvalidParam || e.Code == run.NotFound {
			code = mcp.INVALID_PARAMS
		}
		result = s.failure(err)
	}
	return &rpc.Error{Code: code, Message: texts(result.Content)}
}

// texts are the texts among contents.
func texts(contents []mcp.Content) string {
	var all []string
	for _, content := range contents {
		if text, ok := mcp.AsTextContent(content); ok {
			all = append(all, text.Text)
		}
	}
	return strings.Join(all, "\n")
}

// notFound is the error of a prompt or a resource that there is not.
func notFound(kind, name string) error {
	return rpc.InvalidParams(fmt.Sprintf("there is no %s %q", kind, name), nil)
}
