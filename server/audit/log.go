// Package audit records the runs of skills. Start with [Log].
package audit

import (
	"context"
	"log/slog"

	"github.com/skillsmcp/skills-mcp/server/run"
)

// A Log is a [run.Recorder] that logs the connections of skills.
type Log struct {
	Logger *slog.Logger
}

// Begin implements [run.Recorder]. It does nothing.
func (Log) Begin(context.Context, *run.Proposal) error { return nil }

// Record implements [run.Recorder]: a line for each connection, and one warning if some
// were refused.
func (l Log) Record(ctx context.Context, r run.Record) {
	if r.Outcome == nil || len(r.Outcome.Connections) == 0 {
		return
	}
	logger := l.Logger.With("skill", r.Command.Skill, "run", r.Command.RunID)
	refused, first := 0, ""
	for _, c := range r.Outcome.Connections {
		if c.Refused != "" {
			if refused++; refused == 1 {
				first = c.Refused
			}
		}
		logger.LogAttrs(ctx, slog.LevelInfo, "a skill connected",
			slog.String("host", c.Host), slog.String("address", c.Address), slog.String("refused", c.Refused),
			slog.Int64("sent", c.Sent), slog.Int64("got", c.Got), slog.Duration("time", c.Time))
	}
	if refused > 0 {
		logger.Warn("a skill was refused connections", "count", refused, "first", first)
	}
}
