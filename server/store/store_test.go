package store

import (
	"crypto/rand"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// newStore returns an empty store in a file, and a second one of the same, as another
// process would have it.
func newStore(t *testing.T) (one, other *Store) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "state", "skills-mcp.db")
	one, other = New(file, nil), New(file, nil)
	closeAfter(t, one, other)
	return one, other
}

// closeAfter closes stores at the end of a test.
func closeAfter(t testing.TB, all ...*Store) {
	t.Cleanup(func() {
		for _, s := range all {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
	})
}

// An opener returns an empty store, and a second one of the same.
type opener func(t *testing.T) (one, other *Store)

// eachBackend runs a test with a file, and with a shared database.
func eachBackend(t *testing.T, test func(*testing.T, opener)) {
	t.Run("sqlite", func(t *testing.T) { test(t, newStore) })
	t.Run("postgres", func(t *testing.T) { test(t, newShared) })
}

// newShared returns two servers of an empty database.
func newShared(t *testing.T) (one, other *Store) {
	t.Helper()
	server := newServer(t, testServer(t))
	one, other = New(filepath.Join(t.TempDir(), "skills-mcp.db"), &Options{Server: server}), New(filepath.Join(t.TempDir(), "skills-mcp.db"), &Options{Server: server})
	closeAfter(t, one, other)
	return one, other
}

// testServer returns the address of the server for tests.
func testServer(t testing.TB) string {
	t.Helper()
	address := os.Getenv("SKILLS_MCP_TEST_POSTGRES")
	if address == "" && os.Getenv("SKILLS_MCP_REQUIRE_TOOLS") == "1" {
		t.Fatal(`SKILLS_MCP_REQUIRE_TOOLS is 1 and SKILLS_MCP_TEST_POSTGRES is not set; eval "$(integration/postgres env)"`)
	}
	if address == "" {
		t.Skip(`SKILLS_MCP_TEST_POSTGRES is not set; eval "$(integration/postgres env)"`)
	}
	return address
}

// newServer returns a schema of its own on a server, which is removed after the test.
func newServer(t testing.TB, address string) *Server {
	t.Helper()
	schema := strings.ToLower("test_" + rand.Text())
	admin, err := sql.Open("pgx", address)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := admin.Exec("CREATE SCHEMA " + schema); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_, err := admin.Exec("DROP SCHEMA " + schema + " CASCADE")
		if err := errors.Join(err, admin.Close()); err != nil {
			t.Error(err)
		}
	})
	return &Server{"postgres://test/" + schema, func() (*sql.DB, error) {
		return sql.Open("pgx", address+"&search_path="+schema+"&application_name="+schema+"&statement_timeout=10s")
	}}
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

// What a newer program has made is left as it is.
func TestNewer(t *testing.T) { eachBackend(t, testNewer) }

func testNewer(t *testing.T, newStore opener) {
	s, other := newStore(t)
	err := s.write(t.Context(), "", func(tx *transaction) error {
		statement := "PRAGMA user_version = 99"
		if s.Shared() {
			statement = "UPDATE schema_version SET n = 99"
		}
		_, err := tx.Exec(statement)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.Generation(t.Context()); err == nil {
		t.Error("a newer one was opened")
	}
}
