package live

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/skillsmcp/skills-mcp/skills"
)

// decisions are a person's, who may hide the skill "one".
type decisions struct {
	n      int64
	err    error
	hidden bool
	last   [2]*skills.Catalog // of Apply: its argument and result
}

func (d *decisions) Generation(context.Context) (int64, error) { return d.n, d.err }

func (d *decisions) decide(hidden bool) {
	d.hidden = hidden
	d.n++
	d.last = [2]*skills.Catalog{}
}

func (d *decisions) Apply(_ context.Context, catalog *skills.Catalog) *skills.Catalog {
	if d.last[0] == catalog {
		return d.last[1]
	}
	d.last = [2]*skills.Catalog{catalog, catalog}
	if d.hidden {
		d.last[1] = &skills.Catalog{Skills: catalog.Skills[1:]}
	}
	return d.last[1]
}

// A decision is applied at the next call of any skill, and at once where its stamp is
// watched. Without one, nothing is published.
func TestDecisions(t *testing.T) {
	f := newFolder(t)
	f.write("one", "")
	f.write("two", "")
	stamp := t.TempDir() + "/changed"
	synctest.Test(t, func(t *testing.T) {
		d, p, c := &decisions{}, &published{}, newChanges()
		r := New(f.scanner(), &Options{Decisions: d, Filters: []Filter{d}, Watch: c.watch})
		start(t, r, p)
		defer r.Close()
		p.catalogs = nil
		refresh := func() {
			t.Helper()
			skill, _ := r.published.Load().Lookup("two")
			if err := r.Refresh(t.Context(), skill); err != nil {
				t.Error(err)
			}
		}
		refresh()
		expect(t, p.states())
		d.decide(true)
		refresh()
		refresh()
		expect(t, p.states(), "two")
		d.err = errors.New("the disk is full")
		refresh()
		d.err = nil
		expect(t, p.states(), "two")
		d.decide(false)
		c.send(stamp)
		expect(t, p.states(), "two", "one, two")
		refresh()
		expect(t, p.states(), "two", "one, two")
	})
}
