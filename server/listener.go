package server

import (
	"context"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/skillsmcp/skills-mcp/server/tasks"
)

// A listener sends the progress and the log lines of a call to its client. It ignores
// errors: a client that is gone needs no notifications.
type listener struct {
	core   *mcpserver.MCPServer
	ctx    context.Context // of the request, without its end
	token  mcp.ProgressToken
	task   *tasks.Task // that the call may become; nil is none
	logger string      // whose log lines they are
}

// newProgressOf returns the progress of a request, which must be closed, or nil if its
// client wants neither progress nor logs. logger names the source of its log lines.
func newProgressOf(r *request, logger string) *progress {
	ctx := context.WithoutCancel(r.ctx)
	l := &listener{core: mcpserver.ServerFromContext(ctx), ctx: ctx, token: r.token, task: r.task, logger: logger}
	if r.token == nil && r.task == nil && !l.hears(mcp.LoggingLevelEmergency) {
		return nil
	}
	return newProgress(l)
}

func (l *listener) progress(at mark, message string) {
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

func (l *listener) log(level mcp.LoggingLevel, message string) {
	_ = l.core.SendLogMessageToClient(l.ctx, mcp.NewLoggingMessageNotification(level, l.logger, message))
}

// hears reports whether the client wants logs of a level: the request says so since
// 2026-07-28, and logging/setLevel before.
func (l *listener) hears(level mcp.LoggingLevel) bool {
	if info := mcpserver.RequestProtocolInfoFromContext(l.ctx); info != nil && info.Modern {
		return level.ShouldSendTo(info.LogLevel)
	}
	session, ok := mcpserver.ClientSessionFromContext(l.ctx).(mcpserver.SessionWithLogging)
	return ok && level.ShouldSendTo(session.GetLogLevel())
}
