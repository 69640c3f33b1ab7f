package usage

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/skillsmcp/skills-mcp/server/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func newStore(t *testing.T, file string) *store.Store {
	s := store.New(file, nil)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func uses(t *testing.T, s Store) map[string]int {
	t.Helper()
	all, err := s.Uses(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestCounting(t *testing.T) {
	s := newStore(t, filepath.Join(t.TempDir(), "s.db"))
	Open(s, slog.New(slog.DiscardHandler)).Close()
	if s.Exists() {
		t.Error("a file was made where nothing was called")
	}
	first := Open(s, slog.New(slog.DiscardHandler))
	first.Used("a")
	first.Used("a")
	first.Used("p/b")
	if got := first.Uses(); len(got) != 0 {
		t.Errorf("the counts changed while they are in use: %v", got)
	}
	first.Close()
	second := Open(s, slog.New(slog.DiscardHandler))
	second.Used("a")
	defer second.Close()
	if diff := cmp.Diff(map[string]int{"a": 2, "p/b": 1}, second.Uses()); diff != "" {
		t.Error(diff)
	}
}

// Servers that run at the same time lose none of each other's counts.
func TestProcesses(t *testing.T) {
	file := filepath.Join(t.TempDir(), "s.db")
	var all sync.WaitGroup
	for range 4 {
		s := newStore(t, file)
		all.Go(func() {
			c := Open(s, slog.New(slog.DiscardHandler))
			for range 10 {
				c.Used("a")
			}
			c.Close()
		})
	}
	all.Wait()
	if got := uses(t, newStore(t, file))["a"]; got != 40 {
		t.Errorf("%d uses, want 40", got)
	}
}

// A memory is a store that may fail.
type memory struct {
	mu    sync.Mutex // guards the fields
	all   map[string]int
	fails bool
}

func (m *memory) Uses(context.Context) (map[string]int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fails {
		return nil, errors.New("no")
	}
	return map[string]int{"a": m.all["a"]}, nil
}

func (m *memory) AddUses(_ context.Context, calls map[string]int) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fails {
		return errors.New("no")
	}
	m.all["a"] += calls["a"]
	return nil
}

// A server that is killed loses the calls of its last moments only.
func TestWrittenMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &memory{all: map[string]int{}}
		c := Open(m, slog.New(slog.DiscardHandler))
		defer c.Close()
		c.Used("a")
		if got := uses(t, m)["a"]; got != 0 {
			t.Errorf("it was written at once: %v", got)
		}
		time.Sleep(saveDelay + time.Millisecond)
		synctest.Wait()
		if got := uses(t, m)["a"]; got != 1 {
			t.Errorf("%d uses are written, want 1", got)
		}
	})
}

// Counts that cannot be written are written later, and those that cannot be read are none.
func TestBrokenStore(t *testing.T) {
	m := &memory{all: map[string]int{}, fails: true}
	c := Open(m, slog.New(slog.DiscardHandler))
	if len(c.Uses()) > 0 {
		t.Error("uses of a store that fails")
	}
	c.Used("a")
	c.save()
	m.mu.Lock()
	m.fails = false
	m.mu.Unlock()
	c.Close()
	if got := uses(t, m)["a"]; got != 1 {
		t.Errorf("%d uses, want 1", got)
	}
}
