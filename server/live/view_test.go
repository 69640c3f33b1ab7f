package live

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/skillsmcp/skills-mcp/skills"
)

// without is a filter that removes a skill.
type without struct {
	name string
	last [2]*skills.Catalog // of Apply: its argument and result
}

func (w *without) Apply(_ context.Context, catalog *skills.Catalog) *skills.Catalog {
	if w.last[0] != catalog {
		after := *catalog
		after.Skills = slices.DeleteFunc(slices.Clone(catalog.Skills), func(s *skills.Skill) bool { return s.Name == w.name })
		w.last = [2]*skills.Catalog{catalog, &after}
	}
	return w.last[1]
}

// Each view has the catalog of its own filter: at once, after a change, and after a decision
// of the person, until it is detached.
func TestViews(t *testing.T) {
	f := newFolder(t)
	f.write("one", "")
	f.write("two", "")
	synctest.Test(t, func(t *testing.T) {
		d, first, second, c := &decisions{}, &published{}, &published{}, newChanges()
		r := New(f.scanner(), &Options{Decisions: d, Filters: []Filter{d}, Watch: c.watch, Workspaces: []string{t.TempDir()}})
		early, late := r.View(&without{name: "one"}), r.View(&without{name: "two"})
		if err := early.Attach(t.Context(), first); err != nil {
			t.Fatal(err)
		}
		expect(t, first.states()) // nothing is read yet
		r.Start(t.Context())
		synctest.Wait()
		defer r.Close()
		first.catalogs = nil
		if err := late.Attach(t.Context(), second); err != nil {
			t.Fatal(err)
		}
		expect(t, second.states(), "one")
		expect(t, second.active, "map[]")
		expect(t, first.states())
		f.write("three", "")
		c.send(f.at("three"))
		expect(t, first.states(), "three, two")
		expect(t, second.states(), "one", "one, three")
		f.write("four", "")
		catalog, changed, err := early.Reload(t.Context())
		if err != nil || !changed || len(catalog.Skills) != 3 || catalog.Skills[2].Name != "two" {
			t.Errorf("its reload: %+v, %t, %v", catalog, changed, err)
		}
		d.decide(true) // hides the first of all skills
		if err := late.Refresh(t.Context(), catalog.Skills[2]); err != nil {
			t.Fatal(err)
		}
		expect(t, first.states(), "three, two", "four, three, two", "three, two")
		late.Detach()
		second.catalogs = nil
		f.write("five", "")
		c.send(f.at("five"))
		expect(t, second.states())
	})
}

// A view waits for its turn no longer than its context lasts.
func TestAttachCancelled(t *testing.T) {
	f := newFolder(t)
	synctest.Test(t, func(t *testing.T) {
		goOn := make(chan struct{})
		r, p := New(f.scanner(), nil), &published{during: func() { <-goOn }}
		r.Start(t.Context(), p)
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		late := &published{}
		if err := r.View(nil).Attach(ctx, late); err == nil {
			t.Error("attached")
		}
		close(goOn)
		r.Close()
		expect(t, late.states())
	})
}
