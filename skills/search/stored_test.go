package search

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/skillsmcp/skills-mcp/skills"
)

// A memoryCache is a cache in memory.
type memoryCache struct {
	content string
	saves   int
}

func (c *memoryCache) Load() string        { return c.content }
func (c *memoryCache) Save(content string) { c.content, c.saves = content, c.saves+1 }

// reread returns a catalog as another start reads it from the same files; read counts the
// texts that somebody asks for.
func reread(c *skills.Catalog, read *int) *skills.Catalog {
	var all []*skills.Skill
	for _, s := range c.Skills {
		copied := *s
		copied.Revision = "files of " + s.Name
		copied.Instructions, copied.Stored = "", func() (string, error) { *read++; return s.Instructions, nil }
		all = append(all, &copied)
	}
	return catalogOf(all...)
}

func updated(t testing.TB, cache Cache, c *skills.Catalog) *Index {
	t.Helper()
	x := New(&Options{Cache: cache})
	if err := x.Update(context.Background(), c); err != nil {
		t.Fatal(err)
	}
	return x
}

var storedQueries = []string{"unpaid invoice reminders", "contract review", "kubedeplyo", "payroll-secrets", "merged branch"}

// sameResults checks that an index finds what a new one of the catalog does.
func sameResults(t testing.TB, x *Index, c *skills.Catalog) {
	t.Helper()
	y := New(nil)
	for _, text := range storedQueries {
		for _, person := range []bool{true, false} {
			q := Query{Text: text, Person: person}
			if diff := compare(find(t, x, c, q), find(t, y, c, q)); diff != "" {
				t.Errorf("%q: %s", text, diff)
			}
		}
	}
}

// A start reads no text of a skill that the start before has indexed.
func TestStored(t *testing.T) {
	var cache memoryCache
	var read int
	c := reread(demo(), &read)
	updated(t, &cache, c)
	if read != len(c.Skills) || cache.saves != 1 {
		t.Fatalf("the first start read %d texts of %d and saved %d times", read, len(c.Skills), cache.saves)
	}
	for name, test := range map[string]struct {
		change      func(all []*skills.Skill) []*skills.Skill
		read, saves int
	}{
		"nothing": {func(all []*skills.Skill) []*skills.Skill { return all }, 0, 0},
		"order": {func(all []*skills.Skill) []*skills.Skill {
			slices.Reverse(all)
			return all
		}, 0, 0},
		"an edit": {func(all []*skills.Skill) []*skills.Skill {
			all[1].Revision, all[1].Description = "other files", "Kubernetes invoices."
			return all
		}, 1, 1},
		"a skill is gone": {func(all []*skills.Skill) []*skills.Skill { return all[1:] }, 0, 1},
		"another name": {func(all []*skills.Skill) []*skills.Skill {
			all[0].Prefix = "workspace"
			return all
		}, 1, 1},
		"not for models any more": {func(all []*skills.Skill) []*skills.Skill {
			all[0].ModelInvocable = !all[0].ModelInvocable
			return all
		}, 1, 1},
		"blocked": {func(all []*skills.Skill) []*skills.Skill {
			all[0].Blocked, all[0].Description = "it has changed", "Blocked."
			return all
		}, 2, 1}, // once for its key
	} {
		t.Run(name, func(t *testing.T) {
			read = 0
			later := memoryCache{content: cache.content}
			now := catalogOf(test.change(reread(demo(), &read).Skills)...)
			x := updated(t, &later, now)
			if later.saves != test.saves {
				t.Errorf("it was saved %d times", later.saves)
			}
			if test.saves == 0 && read != test.read || read > 2*test.read { // a save computes keys
				t.Errorf("%d texts were read, want %d", read, test.read)
			}
			sameResults(t, x, now)
		})
	}
}

// A start that ends early leaves what it has indexed to the next.
func TestStoredEarly(t *testing.T) {
	var all []*skills.Skill
	for i := range 100 { // of one goroutine
		all = append(all, &skills.Skill{Name: fmt.Sprint("s", i), Description: "Sends unpaid invoice reminders.", ModelInvocable: true})
	}
	var cache memoryCache
	var read int
	c := reread(catalogOf(all...), &read)
	ctx, cancel := context.WithCancel(t.Context())
	text := c.Skills[20].Stored
	c.Skills[20].Stored = func() (string, error) { cancel(); return text() }
	if err := New(&Options{Cache: &cache}).Update(ctx, c); err == nil || cache.saves != 1 {
		t.Fatalf("the first start ended with %v and saved %d times", err, cache.saves)
	}
	var later int
	c = reread(catalogOf(all...), &later)
	x := updated(t, &cache, c)
	if later == 0 || later > len(all)-20 {
		t.Errorf("the next start read %d of %d texts", later, len(all))
	}
	sameResults(t, x, c)
}

// Later changes are saved when there are many: one edit is not worth a whole file.
func TestSavesAreFew(t *testing.T) {
	var cache memoryCache
	var all []*skills.Skill
	for i := range 100 {
		all = append(all, &skills.Skill{Name: fmt.Sprint("s", i), Description: "Does things.", ModelInvocable: true})
	}
	x := updated(t, &cache, catalogOf(slices.Clone(all)...))
	for i := range 10 {
		changed := *all[i]
		changed.Description = fmt.Sprint("Does things ", i)
		all[i] = &changed
		if err := x.Update(t.Context(), catalogOf(slices.Clone(all)...)); err != nil {
			t.Fatal(err)
		}
	}
	if cache.saves != 3 {
		t.Errorf("ten edits of 100 skills: saved %d times, want 3", cache.saves)
	}
}

// An empty catalog, as a server has before its first scan, leaves the cache alone.
func TestEmptyCatalogKeepsTheCache(t *testing.T) {
	var cache memoryCache
	updated(t, &cache, demo())
	content := cache.content
	x := updated(t, &cache, &skills.Catalog{})
	if cache.content != content {
		t.Error("an empty index was saved")
	}
	sameResults(t, x, demo())
}
