package approval

import (
	"crypto/rand"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/skillsmcp/skills-mcp/server/elicit"
	"github.com/skillsmcp/skills-mcp/server/seal"
	"github.com/skillsmcp/skills-mcp/server/store"
	"github.com/skillsmcp/skills-mcp/server/store/postgres"
)

// sharedStores returns two stores of each kind that two servers may share, by name.
func sharedStores(t *testing.T) map[string][]*store.Store {
	file := filepath.Join(t.TempDir(), "skills-mcp.db")
	all := map[string][]*store.Store{"sqlite": {store.New(file, nil), store.New(file, nil)}, "postgres": nil}
	address := os.Getenv("SKILLS_MCP_TEST_POSTGRES")
	if address == "" && os.Getenv("SKILLS_MCP_REQUIRE_TOOLS") == "1" {
		t.Fatal("SKILLS_MCP_REQUIRE_TOOLS is 1 and SKILLS_MCP_TEST_POSTGRES is not set")
	}
	if address != "" {
		admin, err := sql.Open("pgx", address)
		if err != nil {
			t.Fatal(err)
		}
		schema := strings.ToLower("test_" + rand.Text())
		if _, err := admin.Exec("CREATE SCHEMA " + schema); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_, err := admin.Exec("DROP SCHEMA " + schema + " CASCADE")
			if err := errors.Join(err, admin.Close()); err != nil {
				t.Error(err)
			}
		})
		for range 2 {
			name, open, err := postgres.New(address + "&search_path=" + schema)
			if err != nil {
				t.Fatal(err)
			}
			all["postgres"] = append(all["postgres"], store.New(filepath.Join(t.TempDir(), "skills-mcp.db"), &store.Options{Server: &store.Server{Name: name, Open: open}}))
		}
	}
	t.Cleanup(func() {
		for _, two := range all {
			for _, s := range two {
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			}
		}
	})
	return all
}

// A question that one server asked is answered at another one, and of the equal calls that
// come to both at once then, one runs by it.
func TestUsedOnceByServers(t *testing.T) {
	for name, two := range sharedStores(t) {
		t.Run(name, func(t *testing.T) {
			if two == nil {
				t.Skip(`SKILLS_MCP_TEST_POSTGRES is not set; eval "$(integration/postgres env)"`)
			}
			var servers []*Approvals
			for _, s := range two {
				servers = append(servers, New(s, &Options{Key: seal.NewShared(s, nil)}))
			}
			call := func(a *Approvals) string { return outcome(a.Approve(t.Context(), proposed(&elicit.Client{}))) }
			if got := call(servers[0]); got != "APPROVAL_REQUIRED+id!" {
				t.Fatal(got)
			}
			waiting, err := servers[1].List(t.Context(), false)
			if err != nil || len(waiting) != 1 {
				t.Fatal(waiting, err)
			}
			if err := servers[1].Confirm(t.Context(), waiting[0], Local(), ByTerminal, Once); err != nil {
				t.Fatal(err)
			}
			var ran atomic.Int32
			var all sync.WaitGroup
			for i := range 16 {
				all.Go(func() {
					if got := call(servers[i%2]); got == "runs" {
						ran.Add(1)
					} else if got != "APPROVAL_REQUIRED+id!" {
						t.Error(got)
					}
				})
			}
			all.Wait()
			if ran.Load() != 1 {
				t.Errorf("%d calls ran by one approval", ran.Load())
			}
		})
	}
}
