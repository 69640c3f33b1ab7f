package store

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// Processes that make the file at the same time make one, and lose no write.
func TestFirstOpens(t *testing.T) { eachBackend(t, testFirstOpens) }

func testFirstOpens(t *testing.T, newStore opener) {
	s, _ := newStore(t)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			s := New(s.File(), &Options{Server: s.server})
			if err := trust(t.Context(), s, strings.Repeat("x", i+1)); err != nil {
				t.Error(err)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if found, err := s.Decisions(t.Context(), "workspace", DecisionFilter{}); len(found) != 8 || err != nil {
		t.Errorf("%d of 8, %v", len(found), err)
	}
}

// A file that is none of SQLite, or whose pages are damaged, is moved aside with a
// warning: it is not deleted, its decisions do not count, and caches of them are stale.
func TestBroken(t *testing.T) {
	for name, damage := range map[string]func(data []byte) []byte{
		"text":      func([]byte) []byte { return []byte(strings.Repeat("no database", 100)) },
		"cut":       func(data []byte) []byte { return data[:len(data)/2] },
		"first":     func(data []byte) []byte { return append(bytes.Repeat([]byte{0xff}, 4096), data[4096:]...) },
		"no header": func(data []byte) []byte { return append(bytes.Repeat([]byte{0}, 100), data[100:]...) },
		"tables": func(data []byte) []byte {
			return append(bytes.Clone(data[:4096]), bytes.Repeat([]byte{0xee}, len(data)-4096)...)
		},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "skills-mcp.db")
			first := New(file, nil)
			if err := trust(t.Context(), first, "/a"); err != nil {
				t.Fatal(err)
			}
			before, err := first.Generation(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if err := first.Close(); err != nil {
				t.Fatal(err)
			}
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			data = damage(data)
			if err := os.WriteFile(file, data, 0o600); err != nil {
				t.Fatal(err)
			}
			var log bytes.Buffer
			s := New(file, &Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
			defer s.Close()
			if err := trust(t.Context(), s, "/b"); err != nil {
				// Damage that a write finds by itself is an error of that write alone.
				err = trust(t.Context(), s, "/b")
				if err != nil {
					t.Fatal(err)
				}
			}
			if ok, err := trusted(t.Context(), s, "/a"); ok || err != nil {
				t.Errorf("the decision of the broken file counts: %v, %v", ok, err)
			}
			if after, err := s.Generation(t.Context()); after <= before || err != nil {
				t.Errorf("generation %d, then %d, %v", before, after, err)
			}
			aside, _ := filepath.Glob(file + ".broken-*")
			if len(aside) == 0 || !strings.Contains(log.String(), "moved aside") {
				t.Fatalf("%v, log: %s", aside, &log)
			}
			if kept, err := os.ReadFile(aside[0]); err != nil || len(kept) != len(data) {
				t.Errorf("the broken file is not all there: %d bytes of %d, %v", len(kept), len(data), err)
			}
		})
	}
}

// A file that was deleted, or moved away, while it was open is not written any further.
func TestDeleted(t *testing.T) {
	s, other := newStore(t)
	for _, use := range []*Store{s, other} {
		if err := trust(t.Context(), use, "/a"); err != nil {
			t.Fatal(err)
		}
	}
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if err := os.Rename(s.File()+suffix, filepath.Join(t.TempDir(), "moved"+suffix)); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := s.Generation(t.Context()); n != 0 || err != nil {
		t.Errorf("generation %d of no file, %v", n, err)
	}
	for path, use := range map[string]*Store{"/b": s, "/c": other} {
		if err := trust(t.Context(), use, path); err != nil {
			t.Fatal(err)
		}
	}
	third := New(s.File(), nil)
	defer third.Close()
	if found, err := third.Decisions(t.Context(), "workspace", DecisionFilter{}); len(found) != 2 || err != nil {
		t.Errorf("%v, %v", found, err)
	}
}

// Reads need no writer: another process that writes for long delays none.
func TestReadWhileWritten(t *testing.T) { eachBackend(t, testReadWhileWritten) }

func testReadWhileWritten(t *testing.T, newStore opener) {
	s, other := newStore(t)
	if err := trust(t.Context(), s, "/a"); err != nil {
		t.Fatal(err)
	}
	err := other.write(t.Context(), "decisions workspace", func(*transaction) error {
		_, err := s.Generation(t.Context())
		ok, err2 := trusted(t.Context(), s, "/a")
		if !ok {
			t.Error("not found")
		}
		return errors.Join(err, err2)
	})
	if err != nil {
		t.Error(err)
	}
}

// A store without a folder, in a folder where nothing can be made, or after Close fails,
// and says why.
func TestUnusable(t *testing.T) {
	inTheWay := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(inTheWay, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	closed, _ := newStore(t)
	if err := closed.Close(); err != nil {
		t.Fatal(err)
	}
	for want, s := range map[string]*Store{
		"XDG_STATE_HOME": New("", nil),
		inTheWay:         New(filepath.Join(inTheWay, "skills-mcp.db"), nil),
		"closed":         closed,
	} {
		if err := trust(t.Context(), s, "/a"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q: %v", want, err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// Paths with characters that mean something in an address are files of that name.
func TestNames(t *testing.T) {
	for _, name := range []string{"a b.db", "a?b=c.db", "a#b.db", "a%41.db", "ä&.db"} {
		file := filepath.Join(t.TempDir(), name)
		s := New(file, nil)
		if err := trust(t.Context(), s, "/a"); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if info, err := os.Stat(file); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
}
