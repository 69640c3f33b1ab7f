package oci

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"slices"

	"github.com/opencontainers/go-digest"
	v1 "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/content"
	"oras.land/oras-go/v2/registry/remote"

	"github.com/skillsmcp/skills-mcp/skills/install/source"
)

// maxManifest bounds a manifest in bytes, as registries do.
const maxManifest = 4 << 20

// A manifest is a manifest or an index: those of its fields that are read.
type manifest struct {
	MediaType   string            `json:"mediaType"`
	Layers      []v1.Descriptor   `json:"layers"`
	Manifests   []v1.Descriptor   `json:"manifests"`
	Annotations map[string]string `json:"annotations"`

	digest digest.Digest
}

// readManifest reads the manifest with a tag or digest, and checks its digest.
func readManifest(ctx context.Context, from *remote.Repository, reference string) (*manifest, error) {
	at, body, err := from.Manifests().FetchReference(ctx, reference)
	if err != nil {
		return nil, err
	}
	defer body.Close()
	if at.Size > maxManifest {
		return nil, tooLarge("a manifest", maxManifest)
	}
	if err := checkable(at.Digest); err != nil {
		return nil, err
	}
	text, err := content.ReadAll(body, at)
	if err != nil {
		return nil, fmt.Errorf("read the manifest: %w", err)
	}
	return parseManifest(text, at)
}

// checkable refuses a digest that this program cannot check: it is not skipped.
func checkable(d digest.Digest) error {
	if d.Validate() != nil || d.Algorithm() != digest.SHA256 {
		return &source.RefusedError{Reason: fmt.Sprintf("the manifest has the digest %q, and only sha256 can be checked", d)}
	}
	return nil
}

func parseManifest(text []byte, at v1.Descriptor) (*manifest, error) {
	m := &manifest{digest: at.Digest}
	if err := json.Unmarshal(text, m); err != nil {
		return nil, &source.RefusedError{Reason: "the manifest is not JSON of the expected shape: " + err.Error()}
	}
	if m.MediaType == "" {
		m.MediaType = at.MediaType
	}
	return m, nil
}

func (m *manifest) isIndex() bool {
	return m.MediaType == v1.MediaTypeImageIndex || m.MediaType == "application/vnd.docker.distribution.manifest.list.v2+json"
}

// choose returns the artifact of an index for the platform that sandboxes run, or else the
// first one. An index of artifacts without a platform is a catalog.
func (m *manifest) choose() (v1.Descriptor, error) {
	if len(m.Manifests) == 0 || len(m.Manifests) > 1 && m.Manifests[0].Platform == nil {
		return v1.Descriptor{}, &source.RefusedError{Reason: fmt.Sprintf("it is a list of %d artifacts", len(m.Manifests)), Remedy: "name the artifact of one skill"}
	}
	at := slices.IndexFunc(m.Manifests, func(d v1.Descriptor) bool {
		return d.Platform != nil && d.Platform.OS == "linux" && d.Platform.Architecture == runtime.GOARCH
	})
	return m.Manifests[max(0, at)], nil
}

// layer returns the only layer of an artifact, of at most limit bytes.
func (m *manifest) layer(limit int64) (v1.Descriptor, error) {
	if len(m.Layers) != 1 {
		return v1.Descriptor{}, &source.RefusedError{
			Reason: fmt.Sprintf("the artifact has %d layers, and a skill's has one", len(m.Layers)),
			Remedy: "ask its author to publish the skill with skills-mcp push; images are not read",
		}
	}
	layer := m.Layers[0]
	if layer.Size < 0 || layer.Size > limit {
		return v1.Descriptor{}, tooLarge("a layer", limit)
	}
	return layer, checkable(layer.Digest)
}

func tooLarge(what string, limit int64) error {
	return &source.RefusedError{Reason: fmt.Sprintf("the artifact has %s of more than %d MiB", what, limit>>20), Remedy: "ask its author for one with the skill alone"}
}

// origin returns the claim of an artifact about its source; "" is none.
func (m *manifest) origin() string {
	from, revision := m.Annotations[v1.AnnotationSource], m.Annotations[v1.AnnotationRevision]
	if from == "" {
		return ""
	}
	if revision != "" {
		from += " at " + revision
	}
	return "the artifact says that it was made from " + from + "; nothing proves it"
}
