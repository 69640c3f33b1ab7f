package agents

import (
	"context"
	"errors"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skillsmcp/skills-mcp/server/agents/chat"
	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/store"
)

// Another process, such as that of the page, sees what a session has used within a second,
// and ends it within another, with its descendants and nothing else.
func TestOtherProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := store.New(filepath.Join(t.TempDir(), "skills-mcp.db"), nil)
		defer file.Close()
		s, page := newSessions(t, Options{Store: file}), newSessions(t, Options{Store: file})
		defer s.Close()
		defer page.Close()
		<-page.swept // it takes the sessions of its own process number for old ones
		top, other := spawn(t, s, ann, SpawnRequest{}), spawn(t, s, bob, SpawnRequest{})
		child := spawn(t, s, agentOf(s, top), SpawnRequest{})
		_, settle, err := s.live[child.RunID].ledger.reserve(t.Context(), &Model{}, 10, 10)
		if err != nil {
			t.Fatal(err)
		}
		settle(chat.Usage{Input: 10, Output: 5})
		time.Sleep(following)
		synctest.Wait()
		for _, id := range []string{top.RunID, child.RunID, other.RunID} {
			found, err := page.Find(t.Context(), id)
			want := Used{Turns: 1, Tokens: 15}
			if id == other.RunID {
				want = Used{}
			}
			if err != nil || found.Status != Running || found.Used != want {
				t.Errorf("the page finds %+v, %v", found, err)
			}
		}
		if err := page.Stop(t.Context(), top.RunID); err != nil {
			t.Fatal(err)
		}
		time.Sleep(following)
		await(t, s, top)
		for id, want := range map[string]Status{top.RunID: Killed, child.RunID: Killed, other.RunID: Running} {
			if found, err := page.Find(t.Context(), id); err != nil || found.Status != want {
				t.Errorf("after the stop %+v, %v", found, err)
			}
		}
		if all, err := page.All(t.Context(), nil, Running); err != nil || len(all) != 1 || all[0].RunID != other.RunID {
			t.Errorf("%v run, %v", all, err)
		}
	})
}

// A client whose credential counts no more loses its sessions, with all below them, within a
// second; nobody else does.
func TestRevoked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var revoked, unread atomic.Bool
		s := newSessions(t, Options{Watch: func(_ context.Context, who identity.Principal) func(context.Context) (bool, error) {
			if who.ID != ann.ID {
				return nil
			}
			return func(context.Context) (bool, error) {
				if unread.Load() {
					return false, errors.New("the store is busy")
				}
				return !revoked.Load(), nil
			}
		}})
		defer s.Close()
		top, other := spawn(t, s, ann, SpawnRequest{}), spawn(t, s, bob, SpawnRequest{})
		child := spawn(t, s, agentOf(s, top), SpawnRequest{})
		for _, busy := range []bool{false, true, false} {
			unread.Store(busy)
			time.Sleep(2 * following)
			synctest.Wait()
			if all, err := s.All(t.Context(), nil, Running); err != nil || len(all) != 3 {
				t.Errorf("%v run before it, %v; unread: %t", all, err, busy)
			}
		}
		revoked.Store(true)
		time.Sleep(following)
		await(t, s, top)
		for id, want := range map[string]Status{top.RunID: Failed, child.RunID: Failed, other.RunID: Running} {
			found, err := s.Find(t.Context(), id)
			if err != nil || found.Status != want || want == Failed && found.Result != "The token of its client was revoked." {
				t.Errorf("%+v, %v, want %s", found, err, want)
			}
		}
	})
}

// What runs is listed, however many sessions are newer and have ended.
func TestRunningIsListed(t *testing.T) {
	s := newSessions(t, Options{})
	old := spawn(t, s, ann, SpawnRequest{Label: "old"})
	for range maxListed + 1 {
		await(t, s, spawn(t, s, ann, SpawnRequest{Task: "done"}))
	}
	all, err := s.All(t.Context(), nil, "")
	if err != nil || len(all) != maxListed || all[maxListed-1].RunID != old.RunID {
		t.Errorf("%d are listed, without the one that runs: %v", len(all), err)
	}
}
