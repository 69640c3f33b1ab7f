package setup

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/config"
)

// The address of a database comes from the setting or from a file, and its password is in
// no error and no setting that is shown.
func TestDatabase(t *testing.T) {
	file := filepath.Join(t.TempDir(), "address")
	if err := os.WriteFile(file, []byte("postgres://me:hush@db.example/state?sslmode=disable\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if server, err := newDatabase(&config.Config{}); server != nil || err != nil {
		t.Errorf("%v, %v without the setting", server, err)
	}
	for setting, want := range map[string]string{
		file: "postgres://me@db.example:5432/state",
		"postgresql://me:hush@/state?host=/run/pg&port=5433": "postgres://me@/run/pg:5433/state",
		"postgres://me:hush@db.example:port/state":           "cannot be read; write postgres://USER@",
		file + ".missing": "no such file",
		"/dev/null":       "does not have the address",
	} {
		server, err := newDatabase(&config.Config{Store: setting})
		got := ""
		if server != nil {
			got = server.Name
		}
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, want) && !strings.Contains(got, "-tags cluster") || strings.Contains(got, "hush") {
			t.Errorf("%s: %s, want %s", setting, got, want)
		}
		for _, v := range (&config.Config{Store: setting}).Values() {
			if strings.Contains(v.Text, "hush") {
				t.Errorf("%s is shown as %s", v.Key, v.Text)
			}
		}
	}
}
