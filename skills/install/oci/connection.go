package oci

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"oras.land/oras-go/v2/registry"
	"oras.land/oras-go/v2/registry/remote"
	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/credentials"

	"github.com/skillsmcp/skills-mcp/skills/install/download"
	"github.com/skillsmcp/skills-mcp/skills/install/source"
)

// slow bounds a whole fetch or push.
const slow = 10 * time.Minute

// A connection is a repository of a registry, with the credentials for it.
type connection struct {
	repository *remote.Repository
	client     *auth.Client
	download   *download.Client
}

// with calls use with a connection to the repository of s. A registry of this machine that
// turns out to have no TLS is used without, by calling use again: it fails before anything
// else is done.
func (f *Fetcher) with(ctx context.Context, s source.Source, person bool, use func(context.Context, *connection) error) error {
	ref, err := registry.ParseReference(s.Location)
	if err != nil || ref.Reference != "" {
		return &source.RefusedError{Reason: fmt.Sprintf("%q names no repository of a registry", s.Location), Remedy: "write oci://host/repository:tag"}
	}
	ctx, cancel := context.WithTimeout(ctx, slow)
	defer cancel()
	host := (&url.URL{Host: ref.Host()}).Hostname()
	for _, plain := range []bool{false, true} {
		var c *connection
		if c, err = f.connect(ctx, ref, host, person); err != nil {
			return err
		}
		c.repository.PlainHTTP = plain
		err = use(ctx, c)
		if !person || !source.IsLoopback(host) || !errors.Is(err, http.ErrSchemeMismatch) {
			break
		}
	}
	return explain(err, ref, reference(s))
}

// reference returns the tag or digest to ask a registry for. A pin is more exact than a
// tag, which may have moved.
func reference(s source.Source) string { return cmp.Or(s.Pin, s.Ref, "latest") }

// connect returns a connection. A registry at a private address that the person named may
// have its tokens and layers at others.
func (f *Fetcher) connect(ctx context.Context, ref registry.Reference, host string, person bool) (*connection, error) {
	named := ""
	if person {
		named = host
	}
	client := &auth.Client{Client: f.client.HTTPClient(named, person && f.client.Private(ctx, host)), Cache: auth.NewCache()}
	client.SetUserAgent(f.client.UserAgent())
	if f.options.DockerConfig != "" {
		store, err := credentials.NewStore(f.options.DockerConfig, credentials.StoreOptions{})
		if err != nil {
			return nil, fmt.Errorf("read Docker's configuration %s: %w", f.options.DockerConfig, err)
		}
		client.Credential = credentials.Credential(store)
	}
	return &connection{
		// A manifest that others refer to is never pushed here, so that the registry need
		// not be asked how it lists them.
		repository: &remote.Repository{Client: client, Reference: ref, MaxMetadataBytes: maxManifest, SkipReferrersGC: true},
		client:     client, download: f.client,
	}, nil
}
