package oci

import (
	"context"
	"fmt"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/install/quarantine"
	"github.com/skillsmcp/skills-mcp/skills/install/source"
)

// Fetch gets the artifact at r.Source. Its revision is the digest of its manifest. The
// error is a [*source.ChoiceError], a [*source.RefusedError] or a [*quarantine.Error]
// where the artifact is at fault.
func (f *Fetcher) Fetch(ctx context.Context, r source.Request, into *quarantine.Folder) (*source.Fetched, error) {
	if into == nil {
		return nil, fmt.Errorf("fetch %s: no quarantine", r.Source.Location)
	}
	ctx, cancel := context.WithTimeout(ctx, f.options.Slow)
	defer cancel()
	var fetched *source.Fetched
	err := f.with(ctx, r.Source, r.Named, func(c *connection) (err error) {
		p := &pull{connection: c, request: r, into: into}
		fetched, err = p.run(ctx)
		return err
	})
	return fetched, err
}

// Revision returns the digest of the manifest at a source, for one request without a body.
func (f *Fetcher) Revision(ctx context.Context, s source.Source) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, f.options.Slow)
	defer cancel()
	var revision string
	err := f.with(ctx, s, true, func(c *connection) error {
		repository, err := c.repository(s.Location)
		if err != nil {
			return err
		}
		at, err := repository.Resolve(ctx, reference(s))
		revision = at.Digest.String()
		return err
	})
	if err != nil {
		return "", err
	}
	return revision, nil
}

func (p *pull) run(ctx context.Context) (*source.Fetched, error) {
	s := p.request.Source
	repository, err := p.repository(s.Location)
	if err != nil {
		return nil, err
	}
	found, err := readManifest(ctx, repository, reference(s))
	if err != nil {
		return nil, err
	}
	p.fetched.Revision = found.digest.String()
	if members, ok, err := p.members(ctx, repository, found); err != nil {
		return nil, err
	} else if ok {
		err = p.catalog(ctx, members)
		return p.end(), err
	}
	tree, err := p.artifact(ctx, repository, found, ".")
	p.fetched.Trees = tree
	return p.end(), err
}

// end returns the result, with the proofs that were checked. What the registry says of its
// own files proves nothing about who made them; a digest in the source does.
func (p *pull) end() *source.Fetched {
	if s := p.request.Source; s.Pin != "" || strings.Contains(s.Ref, ":") {
		p.fetched.Checked = []string{fmt.Sprintf("the digest of the manifest in the source, and with it of %s", count(p.layers, "layer"))}
	}
	return &p.fetched
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
