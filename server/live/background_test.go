package live

import (
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"

	"github.com/skillsmcp/skills-mcp/skills"
)

// The workspaces are searched after each reload, beside it.
func TestActivation(t *testing.T) {
	f, workspace := newFolder(t), t.TempDir()
	file := filepath.Join(workspace, "src", "a.go")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		p, c := &published{}, newChanges()
		r := New(f.scanner(), &Options{Watch: c.watch, Workspaces: []string{workspace}})
		f.write("demo", "")
		start(t, r, p)
		p.active = nil
		for _, glob := range []string{"src/*.go", "src/*.rs", "'**/*.go'", "[]"} {
			c.send(f.write("demo", "paths: "+glob+"\n"))
		}
		expect(t, p.active, "map[demo:true]", "map[]", "map[demo:true]", "map[]")
		r.Close()
		if _, _, err := r.Reload(t.Context()); err != nil { // nobody searches any more
			t.Error(err)
		}
		synctest.Wait()
		if len(p.active) != 4 {
			t.Errorf("activated after Close: %q", p.active)
		}
	})
}

// Of catalogs that come while one is worked on, the newest is the next.
func TestNewest(t *testing.T) {
	n := newNewest()
	first, last := &skills.Catalog{}, &skills.Catalog{}
	n.put(first)
	n.put(last)
	if got := <-n; got != last {
		t.Error("an older catalog is next")
	}
}
