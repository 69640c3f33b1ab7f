package setup

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestDailyWarnings(t *testing.T) {
	var out strings.Builder
	dir := filepath.Join(t.TempDir(), "warned")
	h := &dailyHandler{slog.NewTextHandler(&out, nil), dir}
	told := func(at time.Time, level slog.Level, reason string) bool {
		out.Reset()
		record := slog.NewRecord(at, level, "no containers", 0)
		record.Add("reason", reason)
		if err := h.Handle(t.Context(), record); err != nil {
			t.Fatal(err)
		}
		return out.Len() > 0
	}
	day := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, step := range []struct {
		at     time.Time
		level  slog.Level
		reason string
		want   bool
	}{
		{day, slog.LevelWarn, "no engine", true},
		{day.Add(time.Hour), slog.LevelWarn, "no engine", false},
		{day.Add(time.Hour), slog.LevelWarn, "no image", true},
		{day.Add(time.Hour), slog.LevelError, "no engine", true},
		{day.Add(25 * time.Hour), slog.LevelWarn, "no engine", true},
		{day.Add(26 * time.Hour), slog.LevelWarn, "no engine", false},
		{day, slog.LevelWarn, "no engine", true}, // the clock was set back
	} {
		if got := told(step.at, step.level, step.reason); got != step.want {
			t.Errorf("%+v: told %v", step, got)
		}
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(dir, nil, 0o600); err != nil { // nothing can be noted
		t.Fatal(err)
	}
	for range 2 {
		if !told(day, slog.LevelWarn, "no engine") {
			t.Error("it was not told")
		}
	}
}
