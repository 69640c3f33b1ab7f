package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/exitcode"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/report"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/setup"
	"github.com/skillsmcp/skills-mcp/server/store"
)

// newRuns returns an app whose store is empty, and the store's record.
func newRuns(t *testing.T) (*app, store.Runs) {
	t.Helper()
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	s := store.New(setup.StoreFile(""), nil)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return &app{stdin: strings.NewReader(""), stderr: io.Discard}, store.NewRuns(s)
}

// addRun records a run that has ended.
func addRun(t *testing.T, runs store.Runs, id string) {
	t.Helper()
	_, err := runs.Add(t.Context(), &store.Run{ID: id, Started: time.Now(), Ended: time.Now(), Outcome: "ok", Skill: "demo", Action: "skill", PID: os.Getpid(), Args: json.RawMessage(`{"a":1}`)})
	if err != nil {
		t.Fatal(err)
	}
}

func TestSince(t *testing.T) {
	now := time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Time{
		"2h": now.Add(-2 * time.Hour), "90m": now.Add(-90 * time.Minute), "7d": now.AddDate(0, 0, -7),
		"2026-01-31": time.Date(2026, 1, 31, 0, 0, 0, 0, time.UTC), "2026-01-31T15:04": time.Date(2026, 1, 31, 15, 4, 0, 0, time.UTC),
		"2026-01-31T15:04:05+01:00": time.Date(2026, 1, 31, 14, 4, 5, 0, time.UTC),
	} {
		if got, err := parseSince(text, now); err != nil || !got.Equal(want) {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"yesterday", "-2h", "d", "2", "2026-13-01"} {
		if got, err := parseSince(text, now); err == nil {
			t.Errorf("%s: %v", text, got)
		}
	}
}

// A row is one line on a terminal, whatever a skill or a client has put into it, and JSON
// has the same text, escaped.
func TestRunTexts(t *testing.T) {
	evil := "a\x1b[2J\u202eb\u200bc\nd"
	r := &store.Run{ID: "run-1", Outcome: "refused", Skill: evil, Action: "skill", Subject: evil, Message: evil, Times: 3, Args: json.RawMessage(`{"x":"\u202e"}`)}
	var out bytes.Buffer
	c := &runsCommand{app: &app{stdout: &out}}
	if err := c.printRuns([]*store.Run{r}, true); err != nil {
		t.Fatal(err)
	}
	if err := report.PrintRun(&out, r, "", nil); err != nil {
		t.Fatal(err)
	}
	if text := out.String(); strings.ContainsAny(text, "\x1b\u202e\u200b") || !strings.Contains(text, "refused ×3") || !strings.Contains(text, `\u202e`) {
		t.Errorf("%q", text)
	}
	if n := strings.Count(strings.SplitN(out.String(), "id ", 2)[0], "\n"); n != 2 {
		t.Errorf("%d lines for a head and a row", n)
	}
	out.Reset()
	if err := c.printLines([]*store.Run{r}); err != nil {
		t.Fatal(err)
	}
	var back store.Run
	if err := json.Unmarshal(out.Bytes(), &back); err != nil || back.Skill != evil || strings.ContainsAny(out.String(), "\x1b\u202e\u200b") {
		t.Errorf("%q: %v", out.String(), err)
	}
}

// --follow shows the runs of other processes as they end, and Ctrl-C ends it well.
func TestFollow(t *testing.T) {
	a, runs := newRuns(t)
	addRun(t, runs, "run-before")
	read, write := io.Pipe()
	a.stdout = write
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	cmd := newRootCommand(a)
	cmd.SetArgs([]string{"runs", "--follow", "--json"})
	go func() {
		defer a.close()
		ended <- cmd.ExecuteContext(ctx)
		write.Close()
	}()
	lines := json.NewDecoder(read)
	for i, want := range []string{"run-before", "run-1", "run-2"} {
		if i > 0 {
			addRun(t, runs, want)
		}
		var got store.Run
		if err := lines.Decode(&got); err != nil || got.ID != want {
			t.Fatalf("%s: %v, %v", want, got.ID, err)
		}
	}
	cancel()
	if err := <-ended; exitCode(ctx, err, nil, io.Discard) != exitcode.OK {
		t.Errorf("it ended with %v", err)
	}
}

// Pages are read one after the other, and --limit counts them all.
func TestPages(t *testing.T) {
	a, runs := newRuns(t)
	for i := range pageRows + 10 {
		addRun(t, runs, fmt.Sprintf("run-%04d", i))
	}
	for limit, want := range map[string]int{"0": pageRows + 10, "3": 3, fmt.Sprint(pageRows + 1): pageRows + 1} {
		var out bytes.Buffer
		a.stdout = &out
		cmd := newRootCommand(a)
		cmd.SetArgs([]string{"runs", "--json", "--limit", limit})
		if err := cmd.ExecuteContext(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(out.String(), "\n"); n != want {
			t.Errorf("--limit %s: %d lines", limit, n)
		}
	}
	a.close()
	if _, err := os.Stat(filepath.Join(os.Getenv("XDG_STATE_HOME"), "skills-mcp")); err != nil {
		t.Error(err)
	}
}
