package setup

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"log/slog"
	"os"
	"path/filepath"
	"time"
)

// A dailyHandler logs each warning once a day: a person who runs a skill by hand has
// read it the first time. It records warnings as files in a folder; if it cannot, it
// logs them all.
type dailyHandler struct {
	slog.Handler
	dir string
}

// daily returns a logger for warnings that a short-lived program repeats at each
// start. With a log level below warnings, it logs each.
func daily(logger *slog.Logger) *slog.Logger {
	dir, err := CacheDir()
	if err != nil || logger.Enabled(context.Background(), slog.LevelInfo) {
		return logger
	}
	return slog.New(&dailyHandler{logger.Handler(), filepath.Join(dir, "warned")})
}

func (h *dailyHandler) Handle(ctx context.Context, record slog.Record) error {
	if record.Level == slog.LevelWarn && !h.due(record) {
		return nil
	}
	return h.Handler.Handle(ctx, record)
}

// due reports whether a warning was not logged in the last day, and records it. A
// warning with another reason is another warning.
func (h *dailyHandler) due(record slog.Record) bool {
	text := record.Message
	record.Attrs(func(a slog.Attr) bool {
		text += "\x00" + a.String()
		return true
	})
	sum := sha256.Sum256([]byte(text))
	stamp := filepath.Join(h.dir, hex.EncodeToString(sum[:8]))
	if info, err := os.Stat(stamp); err == nil {
		if age := record.Time.Sub(info.ModTime()); age >= 0 && age < 24*time.Hour {
			return false
		}
	}
	// If it cannot be written, the warning is due next time, too.
	if os.MkdirAll(h.dir, 0o700) == nil && os.WriteFile(stamp, nil, 0o600) == nil {
		_ = os.Chtimes(stamp, record.Time, record.Time)
	}
	return true
}
