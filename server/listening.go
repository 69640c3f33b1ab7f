package server

import (
	"context"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/skillsmcp/skills-mcp/server/tasks"
)

// listening is a client that hears of its call while that runs. A client that
// is gone needs to hear nothing, so errors are of no interest.
type listening struct {
	core   *mcpserver.MCPServer
	ctx    context.Context // of the request, without its end
	token  mcp.ProgressToken
	task   *tasks.Task // that the call may become; nil is none
	logger string      // whose log lines they are
}

// progress returns where a call's progress and log lines go. They go nowhere
// where the client wants neither.
func (s *Server) progress(r *request, logger string) *progress {
	l := &listening{core: s.core, ctx: context.WithoutCancel(r.ctx), token: r.token, task: r.task, logger: logger}
	if r.token == nil && r.task == nil && !l.hears(mcp.LoggingLevelEmergency) {
		return nil
	}
	return newProgress(l)
}

func (l *listening) progress(at mark, message string) {
	l.task.Say(at.words(message))
	if l.token == nil {
		return
	}
	params := map[string]any{"progressToken": l.token, "progress": at.at}
	if at.total > 0 {
		params["total"] = at.total
	}
	if message != "" {
		params["message"] = message
	}
	_ = l.core.SendNotificationToClient(l.ctx, "notifications/progress", params)
}

func (l *listening) log(level mcp.LoggingLevel, message string) {
	_ = l.core.SendLogMessageToClient(l.ctx, mcp.NewLoggingMessageNotification(level, l.logger, message))
}

// hears reports whether the client wants logs of a level: by what the request
// says since 2026-07-28, and by logging/setLevel before.
func (l *listening) hears(level mcp.LoggingLevel) bool {
	if info := mcpserver.RequestProtocolInfoFromContext(l.ctx); info != nil && info.Modern {
		return level.ShouldSendTo(info.LogLevel)
	}
	session, ok := mcpserver.ClientSessionFromContext(l.ctx).(mcpserver.SessionWithLogging)
	return ok && level.ShouldSendTo(session.GetLogLevel())
}
