package activation

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/skillsmcp/skills-mcp/skills"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// workspace makes a folder with these files.
func workspace(t *testing.T, names ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range names {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// wants makes a catalog of one skill for each glob, of the glob's name.
func wants(globs ...string) *skills.Catalog {
	catalog := &skills.Catalog{}
	for _, glob := range globs {
		catalog.Skills = append(catalog.Skills, &skills.Skill{Name: glob, Paths: []string{"nothing/matches/this", glob}, ModelInvocable: true})
	}
	return catalog
}

func found(active map[string]bool) []string {
	var names []string
	for name := range active {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func TestFind(t *testing.T) {
	one := workspace(t, "go.mod", "src/a/b/main.go", ".github/workflows/ci.yml", "node_modules/x/index.js", ".git/config", "docs/read me.md")
	two := workspace(t, "deep/er/lib.rs")
	for _, test := range []struct {
		glob string
		want bool
	}{
		{"go.mod", true}, {"*.mod", true}, {"*.go", false}, {"**/*.go", true}, {"src/**/*.{ts,go}", true}, {"src/**", true},
		{"**/go.mod", true}, {".github/**/*.yml", true}, {"**/*.yml", true}, {"docs/*.md", true}, {"**/*.rs", true}, {"lib.rs", false},
		{"**/*.js", false}, {".git/config", false}, {"src", false}, {"GO.MOD", false},
	} {
		active, complete := Find(t.Context(), wants(test.glob), []string{one, two})
		if active[test.glob] != test.want || !complete {
			t.Errorf("%q: %v, complete %t", test.glob, active, complete)
		}
	}
}

func TestWho(t *testing.T) {
	catalog := wants("*")
	if !Wanted(catalog) {
		t.Error("somebody asks")
	}
	catalog.Skills[0].Plugin = "p"
	active, _ := Find(t.Context(), catalog, []string{workspace(t, "a")})
	if diff := cmp.Diff(map[string]bool{"p/*": true}, active); diff != "" {
		t.Error(diff)
	}
	for name, change := range map[string]func(*skills.Skill){
		"only a person":  func(s *skills.Skill) { s.ModelInvocable = false },
		"is unavailable": func(s *skills.Skill) { s.Unavailable = "so it is" },
		"does not ask":   func(s *skills.Skill) { s.Paths = nil },
	} {
		catalog := wants("*")
		change(catalog.Skills[0])
		if active, complete := Find(t.Context(), catalog, []string{workspace(t, "a")}); Wanted(catalog) || len(active) > 0 || !complete {
			t.Errorf("%s: %v, complete %t", name, active, complete)
		}
	}
}

// It is no matter whether a workspace is there.
func TestNoWorkspace(t *testing.T) {
	for _, workspaces := range [][]string{nil, {filepath.Join(t.TempDir(), "gone")}} {
		if active, complete := Find(t.Context(), wants("*"), workspaces); len(active) > 0 || !complete {
			t.Errorf("%v, complete %t", active, complete)
		}
	}
}

func TestLimits(t *testing.T) {
	dir := workspace(t, "a", "b", "c/d/e")
	for _, test := range []struct {
		name     string
		bounds   bounds
		active   string
		complete bool
	}{
		{"enough", bounds{6, 2, time.Minute}, "[a c/d/e]", true},
		{"entries", bounds{3, 12, time.Minute}, "[a]", false},
		{"just all entries", bounds{5, 12, time.Minute}, "[a c/d/e]", false}, // there could be more
		{"depth", bounds{100, 1, time.Minute}, "[a]", false},
		{"time", bounds{100, 12, 1}, "[]", false},
	} {
		active, complete := find(t.Context(), wants("a", "c/d/e", "never"), []string{dir}, test.bounds)
		if got := fmt.Sprint(found(active)); got != test.active || complete != test.complete {
			t.Errorf("%s: %s, complete %t", test.name, got, complete)
		}
	}
	// All were found, so nothing is missed.
	if active, complete := find(t.Context(), wants("a"), []string{dir}, bounds{3, 12, time.Minute}); len(active) != 1 || !complete {
		t.Errorf("%v, complete %t", active, complete)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if active, complete := Find(ctx, wants("a"), []string{dir}); len(active) != 0 || complete {
		t.Errorf("cancelled: %v, complete %t", active, complete)
	}
}

// Links are not followed: they could lead in circles, or out.
func TestLinks(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("SKIPPED: links need a privilege there")
	}
	dir, outside := workspace(t, "a/b"), workspace(t, "secret.txt")
	for link, target := range map[string]string{"loop": dir, "out": outside, "file.txt": filepath.Join(outside, "secret.txt")} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	active, complete := Find(t.Context(), wants("**/*.txt", "loop/**", "a/b"), []string{dir})
	if got := fmt.Sprint(found(active)); got != "[a/b]" || !complete {
		t.Errorf("%s, complete %t", got, complete)
	}
}

// The most that skills can ask for, in a workspace of many files, ends in time.
func TestHostileGlobs(t *testing.T) {
	var names []string
	for i := range 300 {
		names = append(names, fmt.Sprintf("d%d/%s.x", i%7, strings.Repeat("a", 50+i%100)))
	}
	catalog := &skills.Catalog{}
	for i := range 500 {
		skill := &skills.Skill{Name: fmt.Sprint("s", i), ModelInvocable: true}
		for j := range 64 {
			skill.Paths = append(skill.Paths, fmt.Sprintf("**/%s%s%d%dz", strings.Repeat("{a,aa}", 6), strings.Repeat("*a", 20), i, j))
		}
		catalog.Skills = append(catalog.Skills, skill)
	}
	start := time.Now()
	active, _ := find(t.Context(), catalog, []string{workspace(t, names...)}, bounds{20_000, 12, 200 * time.Millisecond})
	if d := time.Since(start); d > time.Minute || len(active) > 0 {
		t.Errorf("%d active after %s", len(active), d)
	}
}
