// Package oci fetches skills from OCI registries, and pushes them there: the artifacts
// of the Agent Skills community, of ToolHive and of Alibaba Cloud, catalogs of them, and
// images with a SKILL.md.
//
// Start with [New].
package oci

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/opencontainers/go-digest"
	v1 "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/skillsmcp/skills-mcp/skills/install/quarantine"
	"github.com/skillsmcp/skills-mcp/skills/install/source"
)

// Options configure a [Fetcher]. The zero value is usable.
type Options struct {
	// DockerConfig is the host path of the person's Docker configuration, with credentials
	// and helpers that have them; "" is none.
	DockerConfig string
	// Public reports whether an address is of the public internet. Others are reached only
	// if the person named their host, or if the registry that the person named is itself
	// at such an address; nil refuses none.
	Public func(netip.Addr) bool
	// Transport makes the connections; nil is one with the system's certificates and proxy
	// variables. Its DialContext is not used.
	Transport *http.Transport
	// UserAgent names this program and its version.
	UserAgent string
	// Idle bounds the time without a byte; 0 is 30 s. Slow bounds a whole fetch or push;
	// 0 is 10 min.
	Idle, Slow time.Duration
	// MaxWait bounds how long a Retry-After is obeyed; 0 is 60 s. A longer one is an error
	// that states it.
	MaxWait time.Duration
}

// The bounds of an artifact, checked before the bytes that they count are read.
const (
	maxManifest = 4 << 20   // bytes, as registries bound them
	maxLayers   = 2000      // of one artifact
	maxPacked   = 512 << 20 // bytes of its layers, as they are sent
	maxMembers  = 2000      // of a catalog
)

// A Fetcher gets and pushes artifacts. Its methods may be called by several goroutines.
type Fetcher struct{ options Options }

// New returns a fetcher. Nil options are the defaults.
func New(options *Options) *Fetcher {
	var o Options
	if options != nil {
		o = *options
	}
	o.Idle = cmp.Or(o.Idle, 30*time.Second)
	o.Slow = cmp.Or(o.Slow, 10*time.Minute)
	o.MaxWait = cmp.Or(o.MaxWait, time.Minute)
	return &Fetcher{o}
}

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

// reference returns the tag or digest to ask a registry for. A pin is more exact than a
// tag, which may have moved.
func reference(s source.Source) string { return cmp.Or(s.Pin, s.Ref, "latest") }

// A pull is one fetch.
type pull struct {
	*connection
	request source.Request
	into    *quarantine.Folder
	fetched source.Fetched
	layers  int // that were checked
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

// artifact fetches one skill's artifact below folder, and returns its trees.
func (p *pull) artifact(ctx context.Context, repository *repository, found *manifest, folder string) ([]source.Tree, error) {
	if found.isIndex() {
		at, err := choosePlatform(found.Manifests)
		if err != nil {
			return nil, err
		}
		if found, err = readManifest(ctx, repository, at.Digest.String()); err != nil {
			return nil, err
		}
	}
	if err := found.acceptable(); err != nil {
		return nil, err
	}
	if note := found.origin(); note != "" {
		p.fetched.Notes = append(p.fetched.Notes, source.Note{Text: note})
	}
	layers, err := p.download(ctx, repository, found.Layers)
	defer closeAll(layers)
	if err != nil {
		return nil, err
	}
	if found.isImage() {
		return p.unpackImage(ctx, found, layers, folder)
	}
	return p.unpackFiles(ctx, found, layers, folder)
}

// digests that this program can check. Others are refused, not skipped.
func checkable(d digest.Digest) error {
	if d.Validate() != nil || d.Algorithm() != digest.SHA256 && d.Algorithm() != digest.SHA512 {
		return &source.RefusedError{Reason: fmt.Sprintf("the manifest has the digest %q, which cannot be checked", d)}
	}
	return nil
}

// size returns the bytes of all layers, or the reason why they are not accepted.
func size(layers []v1.Descriptor) (total int64, err error) {
	if len(layers) > maxLayers {
		return 0, tooLarge(fmt.Sprintf("more than %d layers", maxLayers))
	}
	for _, layer := range layers {
		if err := checkable(layer.Digest); err != nil {
			return 0, err
		}
		if layer.Size < 0 || layer.Size > maxPacked || total+layer.Size > maxPacked {
			return 0, tooLarge(fmt.Sprintf("layers of more than %d MiB", maxPacked>>20))
		}
		total += layer.Size
	}
	return total, nil
}

func tooLarge(has string) error {
	return &source.RefusedError{Reason: "the artifact has " + has, Remedy: "ask its author for one with the skill alone"}
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
