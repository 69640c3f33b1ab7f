package audit

import (
	"context"
	"log/slog"

	"github.com/skillsmcp/skills-mcp/server/run"
)

// logConnections writes a line for each connection of a run, and one warning if some
// were refused.
func logConnections(ctx context.Context, logger *slog.Logger, r run.Record) {
	if r.Outcome == nil || len(r.Outcome.Connections) == 0 {
		return
	}
	logger = logger.With("skill", r.Command.Skill, "run", r.Command.RunID)
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
