package oci

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/opencontainers/go-digest"
	v1 "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/errdef"
	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/errcode"

	"github.com/skillsmcp/skills-mcp/skills/install/source"
)

// A layerFile is a layer in a temporary file.
type layerFile struct {
	*os.File
	layer    v1.Descriptor
	named    bool // has to be removed
	done     int64
	verifier digest.Verifier
	progress func(done int64)
}

func newLayerFile(folder string, layer v1.Descriptor) (*layerFile, error) {
	file, err := os.CreateTemp(folder, ".layer-*")
	if err != nil {
		return nil, err
	}
	// A file without a name does not outlive the process. Where the system refuses, close
	// removes it.
	return &layerFile{File: file, layer: layer, named: os.Remove(file.Name()) != nil}, nil
}

func (f *layerFile) close() {
	f.Close()
	if f.named {
		os.Remove(f.Name())
	}
}

// fetch downloads the layer. Cut connections are taken up again where they ended, if the
// registry can do that.
func (f *layerFile) fetch(ctx context.Context, from *repository) error {
	for attempt := 0; ; attempt++ {
		err := f.attempt(ctx, from)
		if err == nil {
			break
		}
		if attempt == maxRetries || !transient(err) || ctx.Err() != nil {
			return fmt.Errorf("fetch layer %s: %w", f.layer.Digest, err)
		}
		select {
		case <-time.After(pause(attempt)):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if !f.verifier.Verified() {
		return &source.RefusedError{Reason: fmt.Sprintf("the registry sends other bytes than those of layer %s", f.layer.Digest), Remedy: "tell its administrator"}
	}
	return nil
}

// transient reports whether an error is one of a connection, not an answer.
func transient(err error) bool {
	var status *errcode.ErrorResponse
	var refused *source.RefusedError
	return !errors.As(err, &status) && !errors.As(err, &refused) && !errors.Is(err, errdef.ErrNotFound) && !errors.Is(err, http.ErrSchemeMismatch)
}

func (f *layerFile) attempt(ctx context.Context, from *repository) error {
	body, err := f.open(ctx, from)
	if err != nil {
		return err
	}
	defer body.Close()
	left := f.layer.Size - f.done
	n, err := io.Copy(io.MultiWriter(f.File, f.verifier, meter{f}), io.LimitReader(body, left))
	if err == nil && n < left {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return err
	}
	if n, _ := body.Read(make([]byte, 1)); n > 0 {
		return &source.RefusedError{Reason: fmt.Sprintf("the registry sends more than the %d bytes of layer %s", f.layer.Size, f.layer.Digest), Remedy: "tell its administrator"}
	}
	return nil
}

// open returns the bytes of the layer that have not come yet. If the registry cannot send
// only these, those that have come are forgotten.
func (f *layerFile) open(ctx context.Context, from *repository) (io.ReadCloser, error) {
	if f.done > 0 {
		if body, err := f.rest(ctx, from); err != nil || body != nil {
			return body, err
		}
	}
	f.done, f.verifier = 0, f.layer.Digest.Verifier()
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	if err := f.Truncate(0); err != nil {
		return nil, err
	}
	return from.Blobs().Fetch(ctx, f.layer)
}

// rest requests the end of the layer (OCI distribution specification, "Pulling blobs"). It
// returns nil if the registry does not send it. The library can only seek in an answer
// with the whole layer, so that all of it would be sent twice.
func (f *layerFile) rest(ctx context.Context, from *repository) (io.ReadCloser, error) {
	scheme := "https"
	if from.PlainHTTP {
		scheme = "http"
	}
	url := fmt.Sprintf("%s://%s/v2/%s/blobs/%s", scheme, from.Reference.Host(), from.Reference.Repository, f.layer.Digest)
	ctx = auth.AppendRepositoryScope(ctx, from.Reference, auth.ActionPull)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Range", fmt.Sprintf("bytes=%d-%d", f.done, f.layer.Size-1))
	answer, err := from.Client.Do(r)
	if err != nil {
		return nil, err
	}
	if answer.StatusCode != http.StatusPartialContent {
		return nil, answer.Body.Close()
	}
	return answer.Body, nil
}

// A meter counts the bytes of a layer as they come.
type meter struct{ f *layerFile }

func (m meter) Write(b []byte) (int, error) {
	m.f.done += int64(len(b))
	m.f.progress(m.f.done)
	return len(b), nil
}
