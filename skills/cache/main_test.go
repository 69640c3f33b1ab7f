package cache

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.uber.org/goleak"

	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/scan"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// texts are manifests of many kinds.
var texts = []string{
	"---\nname: %s\ndescription: What it does.\nscript: run.sh\nparams:\n  path: {type: string, required: true, format: path}\n  n: {type: integer, minimum: 1, default: 5, enum: [1, 5]}\n  l: {type: array, items: {type: string}}\noutput_schema: {properties: {n: {type: integer}, any: true}, required: [n], $defs: {a: {minimum: 1}}}\n---\nDo $ARGUMENTS.\n",
	"---\nname: %s\ndescription: a: b\nhooks: {x: [1, 2.5, null, true, {y: z}]}\nallowed-tools: Bash\narguments: [a, b]\n---\n",
	"---\nname: %s\ndescription: d\nscript: missing.py\ntimeout_seconds: 2.5\nclass: dangerous\nsandbox: {network: [\"example.com:443\"], warm: 2}\n---\n",
	"# %s\n\nA paragraph.\n",
	"---\nname: %s\nbroken",
}

// makeSkills makes n skills that changed last an hour ago.
func makeSkills(t testing.TB, root string, n int) {
	t.Helper()
	for i := range n {
		dir := filepath.Join(root, fmt.Sprintf("skill-%05d", i))
		write(t, filepath.Join(dir, "SKILL.md"), fmt.Sprintf(texts[i%len(texts)], filepath.Base(dir)))
		write(t, filepath.Join(dir, "run.sh"), "#!/bin/bash\nexec cat \"$@\"\n")
	}
}

func write(t testing.TB, file, content string) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(file), 0o755))
	must(t, os.WriteFile(file, []byte(content), 0o644))
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func tempDir(t testing.TB) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	return dir
}

// A counter opens a store's caches as they will be in an hour, and counts what
// they spare.
type counter struct {
	store *Store
	hits  map[string]int
}

type counted struct {
	*cache
	hits map[string]int
}

func (c *counter) open() scan.Cache {
	opened := c.store.Open().(*cache)
	opened.now = opened.now.Add(time.Hour)
	return &counted{opened, c.hits}
}

func (c *counted) Skill(key string, skill *skills.Skill) bool {
	hit := c.cache.Skill(key, skill)
	if hit {
		c.mu.Lock()
		c.hits["skills"]++
		c.mu.Unlock()
	}
	return hit
}

// scanned reads a root by way of the cache in a file; hits is how many skills it
// spared.
func scanned(t testing.TB, root, file, version string) (catalog *skills.Catalog, hits int) {
	t.Helper()
	c := &counter{New(file, &Options{Version: version}), map[string]int{}}
	catalog, err := scan.Scan(context.Background(), []scan.Root{{Source: skills.SourceExtra, Dir: root}}, &scan.Options{Cache: c.open, Folders: 100_000})
	must(t, err)
	c.store.Wait()
	return catalog, c.hits["skills"]
}

// plain scans without a cache.
func plain(t testing.TB, root string) *skills.Catalog {
	t.Helper()
	catalog, err := scan.Scan(context.Background(), []scan.Root{{Source: skills.SourceExtra, Dir: root}}, &scan.Options{Folders: 100_000})
	must(t, err)
	return catalog
}

func same(t *testing.T, want, got *skills.Catalog) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(skills.Skill{}, "Files", "Revision"), schemas()); diff != "" {
		t.Errorf("with the cache it is another catalog (-without +with):\n%s", diff)
	}
}
