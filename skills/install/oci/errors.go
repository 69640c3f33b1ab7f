package oci

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"oras.land/oras-go/v2/content"
	"oras.land/oras-go/v2/errdef"
	"oras.land/oras-go/v2/registry"
	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/errcode"

	"github.com/skillsmcp/skills-mcp/skills/install/quarantine"
	"github.com/skillsmcp/skills-mcp/skills/install/source"
)

// explain adds the remedy to an error of a registry. The texts of
// registries are strangers': they are quoted.
func explain(err error, at registry.Reference, wanted string) error {
	var refused *source.RefusedError
	var unsafe *quarantine.Error
	var status *errcode.ErrorResponse
	var inner *url.Error // says the URL again
	if errors.As(err, &inner) {
		err = inner.Err
	}
	switch {
	case err == nil:
		return nil
	case errors.As(err, &refused):
		return refused
	case errors.As(err, &unsafe):
		return unsafe
	case errors.Is(err, content.ErrMismatchedDigest), errors.Is(err, content.ErrTrailingData):
		return &source.RefusedError{Reason: fmt.Sprintf("%s sends another manifest than the one of its digest", at.Registry), Remedy: "tell its administrator"}
	case errors.Is(err, auth.ErrBasicCredentialNotFound):
		return fmt.Errorf("%s wants to know who you are; run docker login %s", at.Registry, at.Registry)
	case errors.Is(err, http.ErrSchemeMismatch):
		return fmt.Errorf("%s has no TLS, and only a registry of this machine may be without", at.Registry)
	case errors.Is(err, errdef.ErrNotFound):
		return notFound(at, wanted)
	case errors.As(err, &status):
		return explainStatus(status, at, wanted)
	}
	return fmt.Errorf("%s: %w", at.Registry, err)
}

func notFound(at registry.Reference, wanted string) error {
	return fmt.Errorf("%s has no %s %q, or hides it from you; check its name, or run docker login %s", at.Registry, at.Repository, wanted, at.Registry)
}

func explainStatus(status *errcode.ErrorResponse, at registry.Reference, wanted string) error {
	said := ""
	if len(status.Errors) > 0 {
		said = fmt.Sprintf(" (%q)", status.Errors.Error())
	}
	switch status.StatusCode {
	case http.StatusUnauthorized:
		return fmt.Errorf("%s does not accept your credentials, or wants some%s; run docker login %s", at.Registry, said, at.Registry)
	case http.StatusForbidden:
		return fmt.Errorf("%s does not let you do that with %s%s; ask its owner for access", at.Registry, at.Repository, said)
	case http.StatusNotFound:
		return notFound(at, wanted)
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		return fmt.Errorf("%s is busy%s; try again later", at.Registry, said)
	}
	return fmt.Errorf("%s answers %d %s%s", at.Registry, status.StatusCode, http.StatusText(status.StatusCode), said)
}
