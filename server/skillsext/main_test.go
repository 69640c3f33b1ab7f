package skillsext

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/scan"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// shelf is a host folder of skills under test, among them those of the plugin "p".
type shelf struct {
	t       testing.TB
	dir     string
	digests Digests
}

func newShelf(t testing.TB, files map[string]string) *shelf {
	t.Helper()
	s := &shelf{t: t, dir: t.TempDir()}
	for name, text := range files {
		s.write(name, text)
	}
	return s
}

// path is the host path of a file; what is in "p" is the plugin's.
func (s *shelf) path(name string) string {
	root := "skills"
	if strings.HasPrefix(name, "p/") {
		root = "plugins"
	}
	return filepath.Join(s.dir, root, filepath.FromSlash(name))
}

func (s *shelf) write(name, text string) {
	s.t.Helper()
	file := s.path(name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		s.t.Fatal(err)
	}
}

func (s *shelf) link(target, name string) {
	s.t.Helper()
	if err := os.Symlink(target, s.path(name)); err != nil {
		s.t.Fatal(err)
	}
}

// library reads what is there.
func (s *shelf) library() *Library {
	s.t.Helper()
	catalog, err := scan.Scan(s.t.Context(), []scan.Root{
		{Source: skills.SourceUser, Dir: filepath.Join(s.dir, "skills")},
		{Source: skills.SourceExtra, Dir: filepath.Join(s.dir, "plugins"), Plugins: true},
	}, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	return New(catalog, &s.digests)
}

func skillMD(name string) string {
	return "---\nname: " + name + "\ndescription: Does " + name + ".\n---\nText.\n"
}
