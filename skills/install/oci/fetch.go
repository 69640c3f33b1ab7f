package oci

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	v1 "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/registry/remote/auth"

	"github.com/skillsmcp/skills-mcp/skills/install/download"
	"github.com/skillsmcp/skills-mcp/skills/install/quarantine"
	"github.com/skillsmcp/skills-mcp/skills/install/source"
)

// Fetch gets the artifact at r.Source. Its revision is the digest of its manifest. The
// error is a [*source.RefusedError] or a [*quarantine.Error] where the artifact is at fault.
func (f *Fetcher) Fetch(ctx context.Context, r source.Request, into *quarantine.Folder) (*source.Fetched, error) {
	var fetched *source.Fetched
	err := f.with(ctx, r.Source, r.Named, func(ctx context.Context, c *connection) (err error) {
		fetched, err = c.fetch(ctx, &r, into)
		return err
	})
	return fetched, err
}

// Revision returns the digest of the manifest at a source, for one request without a body.
func (f *Fetcher) Revision(ctx context.Context, s source.Source) (revision string, err error) {
	err = f.with(ctx, s, true, func(ctx context.Context, c *connection) error {
		at, err := c.repository.Resolve(ctx, reference(s))
		revision = at.Digest.String()
		return err
	})
	if err != nil {
		return "", err
	}
	return revision, nil
}

// fetch unpacks the layer of an artifact.
func (c *connection) fetch(ctx context.Context, r *source.Request, into *quarantine.Folder) (*source.Fetched, error) {
	found, err := readManifest(ctx, c.repository, reference(r.Source))
	if err != nil {
		return nil, err
	}
	fetched := &source.Fetched{Revision: found.digest.String(), Trees: []source.Tree{{Path: "."}}}
	if found.isIndex() {
		at, err := found.choose()
		if err != nil {
			return nil, err
		}
		if found, err = readManifest(ctx, c.repository, at.Digest.String()); err != nil {
			return nil, err
		}
	}
	layer, err := found.layer(into.Limits().Total)
	if err != nil {
		return nil, err
	}
	file, err := c.layer(ctx, layer, r, filepath.Dir(into.Path()))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if err := into.Unpack(ctx, file, layer.Size, ""); err != nil {
		return nil, err
	}
	if note := found.origin(); note != "" {
		fetched.Notes = []source.Note{{Text: note}}
	}
	// What the registry says of its own files proves nothing about who made them; a digest
	// in the source does.
	if s := r.Source; s.Pin != "" || strings.Contains(s.Ref, ":") {
		fetched.Checked = []string{"the digest of the manifest in the source, and with it of the layer"}
	}
	return fetched, nil
}

// layer downloads a layer to a file in the folder dir, which the caller closes.
func (c *connection) layer(ctx context.Context, layer v1.Descriptor, r *source.Request, dir string) (*download.File, error) {
	scheme, ref := "https", c.repository.Reference
	if c.repository.PlainHTTP {
		scheme = "http"
	}
	file, response, err := c.download.GetFile(auth.AppendRepositoryScope(ctx, ref, auth.ActionPull), download.Get{
		URL:   fmt.Sprintf("%s://%s/v2/%s/blobs/%s", scheme, ref.Host(), ref.Repository, layer.Digest),
		Do:    c.client.Do,
		Limit: layer.Size, Digest: layer.Digest.String(), Progress: r.Progress,
	}, dir)
	if err == nil && response.Size != layer.Size {
		err = &source.RefusedError{Reason: fmt.Sprintf("the manifest states another size of layer %s", layer.Digest), Remedy: "tell the author"}
		file.Close()
	}
	return file, err
}
