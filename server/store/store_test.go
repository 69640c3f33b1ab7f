package store

import (
	"database/sql"
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// newStore returns an empty store, and a second one of the same file, as another process
// would have it.
func newStore(t *testing.T) (one, other *Store) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "state", "skills-mcp.db")
	one, other = New(file, nil), New(file, nil)
	t.Cleanup(func() {
		for _, s := range []*Store{one, other} {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
	})
	return one, other
}

// Nothing is made before the first write, and the file is the person's alone.
func TestOpenedWhenUsed(t *testing.T) {
	s, _ := newStore(t)
	if n, err := s.Generation(t.Context()); n != 0 || err != nil || s.Exists() {
		t.Errorf("%d, %v, exists %v", n, err, s.Exists())
	}
	if _, err := s.open(); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(s.File())
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if n, err := s.Generation(t.Context()); n == 0 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
}

// A file of a newer program is left as it is.
func TestNewer(t *testing.T) {
	s, other := newStore(t)
	err := s.write(t.Context(), func(tx *sql.Tx) error {
		_, err := tx.Exec("PRAGMA user_version = 99")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.Generation(t.Context()); err == nil {
		t.Error("a newer file was opened")
	}
}
