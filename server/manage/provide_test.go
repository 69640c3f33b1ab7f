package manage

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/skillsmcp/skills-mcp/server/pins"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/install"
	"github.com/skillsmcp/skills-mcp/skills/install/quarantine"
	"github.com/skillsmcp/skills-mcp/skills/install/source"
)

// A shelf has a skill of the source's name under each location.
type shelf struct{ fetched int }

func (s *shelf) Fetch(_ context.Context, r source.Request, into *quarantine.Folder) (*source.Fetched, error) {
	s.fetched++
	f := &source.Fetched{Revision: "1", Trees: []source.Tree{{Path: "."}}, Notes: []source.Note{{Suspicious: r.Source.Location == "bad"}}}
	if r.Source.Location == "away" {
		return nil, errors.New("no such host")
	}
	return f, into.Create("SKILL.md", false, strings.NewReader("---\nname: "+r.Source.Location+"\ndescription: d\n---\nText.\n"))
}

func (s *shelf) Revision(context.Context, source.Source) (string, error) { return "1", nil }

// What can be installed is, once, whatever the other sources are.
func TestProvide(t *testing.T) {
	from := &shelf{}
	m := New(Options{
		Data: t.TempDir(), Logger: slog.New(slog.DiscardHandler),
		Install: func(bool) *install.Options {
			return &install.Options{Fetchers: map[source.Kind]install.Fetcher{source.OCI: from}}
		},
		Scan: func(context.Context) (*skills.Catalog, error) { return &skills.Catalog{}, nil },
		Pins: func() (*pins.Pins, error) { return nil, errors.New("there are none") },
	})
	target, err := m.Target("", false)
	if err != nil {
		t.Fatal(err)
	}
	var sources []source.Source
	for _, location := range []string{"bad", "one", "away", "two"} {
		sources = append(sources, source.Source{Kind: source.OCI, Location: location})
	}
	for _, fetched := range []int{4, 6} { // then only those that are missing
		err := m.Provide(t.Context(), sources)
		if err == nil || !strings.Contains(err.Error(), "oci://bad: the source states that it is suspicious") || !strings.Contains(err.Error(), "oci://away: no such host") {
			t.Errorf("error: %v", err)
		}
		if from.fetched != fetched {
			t.Errorf("%d fetches, want %d", from.fetched, fetched)
		}
		file, err := target.Installed()
		if err != nil {
			t.Fatal(err)
		}
		if got := slices.Sorted(maps.Keys(file.Entries)); !slices.Equal(got, []string{"skills/one", "skills/two"}) {
			t.Errorf("installed: %v", got)
		}
	}
}
