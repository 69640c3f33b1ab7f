package store

import (
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// pendingApproval returns a question that waits.
func pendingApproval(id, owner, client, subject, key string, life time.Duration) Approval {
	return Approval{ID: id, Owner: owner, Client: client, Subject: subject, Key: key, State: ApprovalPending, Expires: time.Now().Add(life), Content: []byte("c"), MAC: []byte("m")}
}

// Of pending approvals each has a key of its own, whoever adds them at the same time; one
// that has ended, or expired, leaves its key.
func TestApprovalKeys(t *testing.T) {
	file := filepath.Join(t.TempDir(), "skills-mcp.db")
	stores := []*Store{New(file, nil), New(file, nil)}
	limits := ApprovalLimits{100, 100, 100, 100}
	var group sync.WaitGroup
	results := make(chan error, 20)
	for i := range cap(results) {
		group.Go(func() {
			results <- stores[i%2].AddApproval(t.Context(), pendingApproval(fmt.Sprint(i), "me", "1", "s", "k", time.Hour), limits)
		})
	}
	group.Wait()
	close(results)
	added := 0
	for err := range results {
		if err == nil {
			added++
		} else if !errors.Is(err, ErrSameApproval) {
			t.Error(err)
		}
	}
	all, err := stores[0].Approvals(t.Context(), "s")
	if added != 1 || len(all) != 1 || err != nil {
		t.Fatalf("%d added, %d stored, %v", added, len(all), err)
	}
	denied := all[0]
	denied.State = ApprovalDenied
	if replaced, err := stores[0].ReplaceApproval(t.Context(), all[0], denied); !replaced || err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"expired", "next"} {
		life := map[string]time.Duration{"expired": -time.Second, "next": time.Hour}[id]
		if err := stores[1].AddApproval(t.Context(), pendingApproval(id, "me", "1", "s", "k", life), limits); err != nil {
			t.Errorf("%s: %v", id, err)
		}
	}
	for _, s := range stores {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A file of version 1 gets the columns since then, and keeps its rows.
func TestSchemaChanges(t *testing.T) {
	file := filepath.Join(t.TempDir(), "skills-mcp.db")
	if _, err := private(file); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", address(file, false))
	if err != nil {
		t.Fatal(err)
	}
	statements := append(schema(), "INSERT INTO approvals VALUES ('a', 'me', 's', 'pending', 4102444800, 'c', 'm'), ('b', 'me', 's', 'pending', 4102444800, 'c', 'm')", "PRAGMA user_version = 1")
	for _, statement := range statements {
		if _, err := db.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	for range 2 { // and once more, with nothing to change
		s := New(file, nil)
		all, err := s.Approvals(t.Context(), "s")
		if err != nil || len(all) != 2 || all[0].ID != "b" || string(all[1].MAC) != "m" {
			t.Errorf("%+v, %v", all, err)
		}
		if err := s.AddApproval(t.Context(), pendingApproval("c", "me", "1", "s", "k", time.Hour), ApprovalLimits{2, 9, 9, 9}); !errors.Is(err, ErrTooManyApprovals) {
			t.Errorf("the old rows are not counted: %v", err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}
