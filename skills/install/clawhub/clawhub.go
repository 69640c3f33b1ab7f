// Package clawhub fetches skills from ClawHub registries, with their security verdicts:
// malware is refused, and everything else but clean is a note that the person decides by.
//
// Start with [New].
package clawhub

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/install/download"
	"github.com/skillsmcp/skills-mcp/skills/install/quarantine"
	"github.com/skillsmcp/skills-mcp/skills/install/source"
)

// DefaultRegistry is the registry of sources that name none.
const DefaultRegistry = "https://clawhub.ai"

// Options configure a [Fetcher]. The zero value is usable.
type Options struct {
	// Registry is the URL of the default registry; "" is DefaultRegistry.
	Registry string
}

// A Fetcher fetches sources of kind [source.ClawHub].
type Fetcher struct {
	client   *download.Client
	registry string
}

// New returns a fetcher. The client stays the caller's. Nil options are the defaults.
func New(client *download.Client, o *Options) *Fetcher {
	f := &Fetcher{client, DefaultRegistry}
	if o != nil {
		f.registry = cmp.Or(o.Registry, f.registry)
	}
	return f
}

// Fetch implements the interface of package install. The only tree is a folder of the
// skill's slug. It has _meta.json, which the registry adds, as the clawhub tool installs
// it, too.
func (f *Fetcher) Fetch(ctx context.Context, r source.Request, into *quarantine.Folder) (*source.Fetched, error) {
	rel, err := f.find(ctx, r.Source, r.Named)
	if err != nil {
		return nil, err
	}
	fetched := &source.Fetched{Revision: rel.version, Trees: []source.Tree{{Path: rel.slug}}}
	if err := rel.judge(ctx, fetched); err != nil {
		return nil, err
	}
	if err := rel.fetch(ctx, &r, into, fetched); err != nil {
		return nil, err
	}
	return fetched, nil
}

// Revision implements the interface of package install. It is a version.
func (f *Fetcher) Revision(ctx context.Context, s source.Source) (string, error) {
	rel, err := f.skill(ctx, s, true)
	if err == nil && rel.version == "" {
		err = rel.onGitHub(&handoff{})
	}
	return rel.version, err
}

// find returns the release of a source, with its files and state of security.
func (f *Fetcher) find(ctx context.Context, s source.Source, named bool) (*release, error) {
	rel, err := f.skill(ctx, s, named)
	if err != nil || rel.version == "" {
		return rel, err
	}
	return rel, rel.details(ctx)
}

// skill returns the release of a source without its details.
func (f *Fetcher) skill(ctx context.Context, s source.Source, named bool) (*release, error) {
	rel := &release{slug: s.Name}
	if owner, slug, ok := strings.Cut(s.Name, "/"); ok {
		rel.owner, rel.slug = owner, slug
	}
	var err error
	if rel.registry, err = f.open(ctx, s.Location, named); err != nil {
		return rel, err
	}
	if err := rel.get(ctx, rel.path(""), rel.query(), &rel.skill); err != nil {
		return rel, rel.explain(err, fmt.Sprintf("skill %q", s.Name))
	}
	switch tag := rel.skill.tag(s.Ref); {
	case s.Ref == "" && rel.skill.LatestVersion != nil:
		rel.version = rel.skill.LatestVersion.Version
	default:
		rel.version = cmp.Or(tag, s.Ref)
	}
	return rel, nil
}

// open opens a registry, "" for the default one.
func (f *Fetcher) open(ctx context.Context, location string, named bool) (*registry, error) {
	if location == "" {
		location, named = f.registry, true
	}
	return open(ctx, f.client, location, named)
}
