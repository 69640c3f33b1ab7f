package store

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// newRun returns a row of a usual size.
func newRun(i int) *Run {
	exit := 0
	return &Run{
		ID: fmt.Sprintf("run-%016d", i), Started: time.Now(), Ended: time.Now(), Outcome: "ok", Skill: "colony-samples/code-complexity", PID: os.Getpid(), Exit: &exit,
		Principal: "model", Way: "tool", Action: "skill", Origin: "own:/home/somebody/.claude/skills/code-complexity",
		Digest: "sha256:" + strings.Repeat("0", 64), Class: "safe", Rule: "the class safe",
		Grant: json.RawMessage(`{"workspaces":["/home/somebody/project"]}`), Args: json.RawMessage(`{"path":"/home/somebody/project","top_n":3}`),
	}
}

// fill adds rows in one transaction.
func fill(t testing.TB, s *Store, n int) {
	t.Helper()
	err := s.write(t.Context(), "runs", func(tx *transaction) error {
		text := insertRun
		if s.Shared() {
			text = postgresWords(insertRun)
		}
		statement, err := tx.tx.Prepare(text)
		if err != nil {
			return err
		}
		defer statement.Close()
		for i := range n {
			if _, err := statement.Exec(newRun(i).values()...); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// pruneAll prunes until there is nothing more to do.
func pruneAll(t *testing.T, runs Runs, before time.Time, most int64) {
	t.Helper()
	for more := true; more; {
		var err error
		if more, err = runs.Prune(t.Context(), before, most); err != nil {
			t.Fatal(err)
		}
	}
}

// fileSize returns the size of the file, with the log that is not copied yet.
func fileSize(t *testing.T, s *Store) (file, log int64) {
	t.Helper()
	sizes := [2]int64{}
	for i, name := range []string{s.File(), s.File() + "-wal"} {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		sizes[i] = info.Size()
	}
	return sizes[0], sizes[1]
}

// The file stays within its bound while rows come, gives space back when the bound is
// lowered, and keeps the newest rows.
func TestSize(t *testing.T) { eachBackend(t, testSize) }

func testSize(t *testing.T, newStore opener) {
	s, _ := newStore(t)
	runs := NewRuns(s)
	const most = 2 << 20
	for range 20 { // some 8 MB
		fill(t, s, 500)
		if err := s.Checkpoint(t.Context()); err != nil {
			t.Fatal(err)
		}
		pruneAll(t, runs, time.Time{}, most)
		if err := s.Checkpoint(t.Context()); err != nil {
			t.Fatal(err)
		}
		if s.Shared() {
			continue
		}
		if file, log := fileSize(t, s); file > most*5/4 || log > 8<<20 {
			t.Fatalf("the file has %d bytes, its log %d; %d are allowed", file, log, most)
		}
	}
	pruneAll(t, runs, time.Time{}, most/4)
	if err := s.Checkpoint(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s.Shared() {
		var used, rows int64
		err := s.write(t.Context(), "", func(tx *transaction) error {
			return tx.tx.QueryRow("SELECT count(*), sum(pg_column_size(r.*)) FROM runs AS r").Scan(&rows, &used)
		})
		if err != nil || used > most/4 || used < most/8 {
			t.Errorf("%d rows of %d bytes after the bound was lowered to %d, %v", rows, used, most/4, err)
		}
	} else if file, _ := fileSize(t, s); file > most/4 {
		t.Errorf("%d bytes after the bound was lowered to %d", file, most/4)
	}
	left, err := runs.List(t.Context(), RunFilter{Limit: 1})
	if err != nil || len(left) != 1 || left[0].Seq != 10_000 {
		t.Errorf("%v, %v", left, err)
	}
}

// Rows that are too old are deleted, but the newest: numbers grow for ever.
func TestAge(t *testing.T) { eachBackend(t, testAge) }

func testAge(t *testing.T, newStore opener) {
	s, _ := newStore(t)
	runs := NewRuns(s)
	fill(t, s, 250)
	pruneAll(t, runs, time.Now().Add(-time.Hour), 0)
	if found, err := runs.List(t.Context(), RunFilter{Limit: 1000}); len(found) != 250 || err != nil {
		t.Errorf("%d rows, %v", len(found), err)
	}
	pruneAll(t, runs, time.Now().Add(time.Hour), 0)
	found, err := runs.List(t.Context(), RunFilter{Limit: 1000})
	if len(found) != 1 || err != nil || found[0].Seq != 250 {
		t.Errorf("%v, %v", found, err)
	}
}

// Runs of a process that has ended are interrupted, those of others go on.
func TestInterrupted(t *testing.T) { eachBackend(t, testInterrupted) }

func testInterrupted(t *testing.T, newStore opener) {
	s, other := newStore(t)
	if s.Shared() { // where the servers say that they are there
		testInterruptedShared(t, s, other)
		return
	}
	runs := NewRuns(s)
	for pid := 1; pid <= 3; pid++ {
		r := newRun(pid)
		r.PID, r.Outcome = pid, Running
		if _, err := runs.Add(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	if err := runs.Interrupt(t.Context(), func(pid int) bool { return pid == 2 }); err != nil {
		t.Fatal(err)
	}
	for outcome, want := range map[string]int{Running: 1, Interrupted: 2} {
		if found, err := runs.List(t.Context(), RunFilter{Outcome: outcome, Limit: 10}); len(found) != want || err != nil {
			t.Errorf("%s: %d, %v", outcome, len(found), err)
		}
	}
}

func testInterruptedShared(t *testing.T, s, other *Store) {
	third := New(filepath.Join(t.TempDir(), "skills-mcp.db"), &Options{Server: s.server})
	for _, one := range []*Store{s, other, third} {
		r := newRun(1)
		r.Outcome = Running
		if _, err := NewRuns(one).Add(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	if err := third.Close(); err != nil {
		t.Fatal(err)
	}
	if err := NewRuns(other).Interrupt(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	for outcome, want := range map[string]int{Running: 2, Interrupted: 1} {
		if found, err := NewRuns(s).List(t.Context(), RunFilter{Outcome: outcome, Limit: 10}); len(found) != want || err != nil {
			t.Errorf("%s: %d, %v", outcome, len(found), err)
		}
	}
}

// Each filter selects its rows, and an ID is found by its beginning.
func TestFilters(t *testing.T) { eachBackend(t, testFilters) }

func testFilters(t *testing.T, newStore opener) {
	s, other := newStore(t)
	runs := NewRuns(s)
	if found, err := runs.List(t.Context(), RunFilter{Limit: 10}); found != nil || err != nil || s.Exists() != s.Shared() {
		t.Errorf("an empty store: %v, %v", found, err)
	}
	begin := time.Now()
	for i := range 4 {
		r := newRun(i)
		r.Ended = begin.Add(time.Duration(i) * time.Hour)
		if i == 2 {
			r.Skill, r.Outcome, r.Parent = "other", "error", "run-x"
		}
		if _, err := runs.Add(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	for want, f := range map[string]RunFilter{
		"4 3 2 1": {}, "1 2 3 4": {Oldest: true}, "4 3": {Limit: 2}, "3": {Skill: "other"}, "3 ": {Outcome: "error"}, " 3": {Parent: "run-x"},
		"4": {Since: begin.Add(150 * time.Minute)}, "2 1": {Before: 3}, "3 4": {After: 2, Oldest: true}, "": {Skill: "none"},
	} {
		if f.Limit == 0 {
			f.Limit = 10
		}
		found, err := NewRuns(other).List(t.Context(), f)
		var got []string
		for _, r := range found {
			got = append(got, fmt.Sprint(r.Seq))
		}
		if err != nil || strings.Join(got, " ") != strings.TrimSpace(want) {
			t.Errorf("%+v: %v, %v", f, got, err)
		}
	}
	for prefix, want := range map[string]int{"run-": 4, "run-0000000000000001": 1, "run-1": 0, "": 4, "%": 0} {
		if found, err := runs.Find(t.Context(), prefix, 10); len(found) != want || err != nil {
			t.Errorf("%q: %d, %v", prefix, len(found), err)
		}
	}
}

// A count on a row is another call, and a row that is gone cannot count.
func TestRepeat(t *testing.T) { eachBackend(t, testRepeat) }

func testRepeat(t *testing.T, newStore opener) {
	s, _ := newStore(t)
	runs := NewRuns(s)
	seq, err := runs.Add(t.Context(), newRun(1))
	if err != nil {
		t.Fatal(err)
	}
	if found, err := runs.Repeat(t.Context(), seq); !found || err != nil {
		t.Error(found, err)
	}
	if found, err := runs.Repeat(t.Context(), seq+1); found || err != nil {
		t.Error(found, err)
	}
	if all, err := runs.List(t.Context(), RunFilter{Limit: 1}); err != nil || all[0].Times != 2 {
		t.Error(all, err)
	}
}

// BenchmarkAdd measures the row of a call.
func BenchmarkAdd(b *testing.B) {
	s := New(b.TempDir()+"/skills-mcp.db", nil)
	defer s.Close()
	fill(b, s, 10_000)
	runs := NewRuns(s)
	for i := 0; b.Loop(); i++ {
		if _, err := runs.Add(b.Context(), newRun(i)); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkRuns measures what the command runs reads of 100,000 rows.
func BenchmarkRuns(b *testing.B) {
	s := New(b.TempDir()+"/skills-mcp.db", nil)
	defer s.Close()
	fill(b, s, 100_000)
	runs := NewRuns(s)
	for name, f := range map[string]RunFilter{"page": {}, "skill": {Skill: "none"}, "outcome": {Outcome: "none"}, "since": {Since: time.Now().Add(time.Hour)}} {
		f.Limit = 20
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := runs.List(b.Context(), f); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
