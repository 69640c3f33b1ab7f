package store

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// A database that restarts, or crashes, under the calls of two servers loses and repeats no
// write that was acknowledged, fails no call, and needs no restart of theirs.
func TestRestart(t *testing.T) {
	testServer(t)
	dir, err := os.MkdirTemp("", "pg")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil { // for the server's user
		t.Fatal(err)
	}
	control := func(verb string) {
		if out, err := exec.Command("../../integration/postgres", "--dir", dir, verb).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	control("env")
	t.Cleanup(func() { control("stop") })
	server := newServer(t, "postgres://postgres@/postgres?host="+dir)
	stores := []*Store{New(dir+"/one/skills-mcp.db", &Options{Server: server}), New(dir+"/other/skills-mcp.db", &Options{Server: server})}
	closeAfter(t, stores...)
	if err := change(t.Context(), stores[0], Durable, Decision{Kind: "approval", Key: "a"}); err != nil {
		t.Fatal(err)
	}
	if err := NewItems(stores[0], "task").Put(t.Context(), &Item{Key: "a"}); err != nil {
		t.Fatal(err)
	}

	var ended atomic.Bool
	var signed, put atomic.Int64
	done := make(chan struct{})
	var all sync.WaitGroup
	for i := range 8 {
		s := stores[i%2]
		all.Go(func() {
			for !ended.Load() {
				if err := sign(t.Context(), s); err != nil {
					t.Error("decision:", err)
				}
				signed.Add(1)
				switch err := putNext(t.Context(), s); {
				case err == nil:
					put.Add(1)
				case !errors.Is(err, ErrChanged):
					t.Error("item:", err)
				}
				if _, err := s.Generation(t.Context()); err != nil {
					t.Error("generation:", err)
				}
				if _, err := NewRuns(s).Add(t.Context(), newRun(i)); err != nil {
					t.Error("run:", err)
				}
				select {
				case done <- struct{}{}:
				default:
				}
			}
		})
	}
	for _, verb := range []string{"restart", "crash", "restart", ""} {
		for i := 0; i < 40 && !t.Failed(); i++ {
			<-done
		}
		if verb != "" {
			control(verb)
		}
	}
	ended.Store(true)
	all.Wait()

	rows, err := stores[1].Decisions(t.Context(), "approval", DecisionFilter{})
	if err != nil || int64(len(rows[0].Body)) != signed.Load() {
		t.Errorf("%d of %d signatures, %v", len(rows[0].Body), signed.Load(), err)
	}
	item, err := NewItems(stores[1], "task").Get(t.Context(), "a")
	if err != nil || item.Version != put.Load()+1 {
		t.Errorf("version %d after %d writes, %v", item.Version, put.Load(), err)
	}
}

// sign adds a byte to a decision.
func sign(ctx context.Context, s *Store) error {
	return s.ChangeDecisions(ctx, Durable, "approval", func(tx *Decisions) error {
		rows, err := tx.Select(DecisionFilter{Key: "a"})
		if err != nil {
			return err
		}
		rows[0].Body = append(rows[0].Body, 'x')
		return tx.Put(rows[0])
	})
}

// putNext writes the next version of an item.
func putNext(ctx context.Context, s *Store) error {
	item, err := NewItems(s, "task").Get(ctx, "a")
	if err != nil {
		return err
	}
	return NewItems(s, "task").Put(ctx, item)
}

// A server that is away is an error that says what to do, after a time to restart, and an
// operation whose caller has gone waits for nothing.
func TestAway(t *testing.T) {
	testServer(t)
	server := &Server{Name: "postgres://me@nowhere/state", Open: func() (*sql.DB, error) { return sql.Open("pgx", "postgres://me@/state?host="+t.TempDir()) }}
	s := New(t.TempDir()+"/skills-mcp.db", &Options{Server: server})
	closeAfter(t, s)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, patient := range []bool{false, true, true} {
		if patient {
			ctx = t.Context()
			s.awaySince.Store(time.Now().Add(-patience).UnixNano())
		}
		err := trust(ctx, s, "/a")
		if err == nil || !strings.Contains(err.Error(), "open postgres://me@nowhere/state") || strings.Contains(err.Error(), "start the database") != patient {
			t.Error(err)
		}
	}
}

// An operation ends, though others succeed meanwhile.
func TestRetryEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, began := New("", &Options{Server: &Server{}}), time.Now()
		err := s.retry(t.Context(), func() error {
			s.awaySince.Store(0) // by another operation
			if time.Since(began) > patience {
				return nil
			}
			return lostError{errors.New("away")}
		})
		if err == nil || time.Since(began) < firstPatience {
			t.Errorf("%v after %v", err, time.Since(began))
		}
	})
}

// The commits decide whether a transaction was committed where the server says at its end
// that a connection was lost.
func TestLostCommit(t *testing.T) {
	s, _ := newShared(t)
	if err := trust(t.Context(), s, "/a"); err != nil {
		t.Fatal(err)
	}
	for _, statement := range []string{
		"CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RAISE 'lost' USING ERRCODE = '08006'; END$$",
		"CREATE CONSTRAINT TRIGGER fail AFTER INSERT OR UPDATE ON decisions DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION fail()",
	} {
		if _, err := s.db.writer.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // it is not tried again
	if err := trust(ctx, s, "/b"); !isLost(err) {
		t.Error(err)
	}
	var asked int
	if err := s.db.readers.QueryRow("SELECT count(*) FROM commits WHERE at = 0").Scan(&asked); asked != 1 || err != nil {
		t.Errorf("asked for %d transactions, %v", asked, err)
	}
}
