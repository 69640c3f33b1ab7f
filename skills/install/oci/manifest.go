package oci

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/opencontainers/go-digest"
	v1 "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/content"

	"github.com/skillsmcp/skills-mcp/skills/install/source"
)

// The types of artifacts with skills. Sources: the draft 0.1.0 of "Agent Skills OCI
// Artifacts", Alibaba Cloud's "Push and pull Skill artifacts", and ToolHive's package
// oci/skills.
const (
	typeSkill      = "application/vnd.agentskills.skill.v1"
	typeConfig     = "application/vnd.agentskills.skill.config.v1+json"
	typeContent    = "application/vnd.agentskills.skill.content.v1.tar+gzip"
	typeCollection = "application/vnd.agentskills.collection.v1"
	typeCatalog    = "application/vnd.agentskills.catalog.v1"
	typeAlibaba    = "application/vnd.agent.skill.v1+json"
)

// The annotations of the community's draft.
const (
	annotationName          = "io.agentskills.skill.name"
	annotationCompatibility = "io.agentskills.skill.compatibility"
	annotationRef           = "io.agentskills.skill.ref"
)

// Types of images, as Docker named them before the standard.
const (
	dockerIndex  = "application/vnd.docker.distribution.manifest.list.v2+json"
	dockerConfig = "application/vnd.docker.container.image.v1+json"
)

// A manifest is a manifest or an index: those of its fields that are read.
type manifest struct {
	MediaType    string            `json:"mediaType"`
	ArtifactType string            `json:"artifactType"`
	Config       v1.Descriptor     `json:"config"`
	Layers       []v1.Descriptor   `json:"layers"`
	Manifests    []v1.Descriptor   `json:"manifests"`
	Annotations  map[string]string `json:"annotations"`

	digest digest.Digest
}

// readManifest reads the manifest with a tag or digest, and checks its digest.
func readManifest(ctx context.Context, from *repository, reference string) (*manifest, error) {
	at, body, err := from.Manifests().FetchReference(ctx, reference)
	if err != nil {
		return nil, err
	}
	defer body.Close()
	if at.Size > maxManifest {
		return nil, tooLarge(fmt.Sprintf("a manifest of more than %d MiB", maxManifest>>20))
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
	if d.Validate() != nil || d.Algorithm() != digest.SHA256 && d.Algorithm() != digest.SHA512 {
		return &source.RefusedError{Reason: fmt.Sprintf("the manifest has the digest %q, which cannot be checked", d)}
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
	return m.MediaType == v1.MediaTypeImageIndex || m.MediaType == dockerIndex
}

// kind returns the type of the artifact. Before version 1.1 of the standard the type of
// the configuration was it; "" is an image.
func (m *manifest) kind() string {
	if m.ArtifactType != "" {
		return m.ArtifactType
	}
	switch m.Config.MediaType {
	case v1.MediaTypeImageConfig, dockerConfig, v1.MediaTypeEmptyJSON:
		return ""
	case typeConfig:
		return typeSkill
	}
	return m.Config.MediaType
}

// isImage reports whether the layers are applied in order, with whiteouts. Those of other
// artifacts are independent archives and files.
func (m *manifest) isImage() bool {
	return slices.ContainsFunc(m.Layers, func(layer v1.Descriptor) bool {
		return strings.HasPrefix(layer.MediaType, "application/vnd.oci.image.layer.") || strings.HasPrefix(layer.MediaType, "application/vnd.docker.image.rootfs.")
	}) && m.kind() != typeSkill && m.kind() != typeAlibaba
}

// isCatalog reports whether an artifact lists others.
func (m *manifest) isCatalog() bool {
	kind := m.kind()
	if kind == typeCollection || kind == typeCatalog || strings.HasPrefix(kind, "application/vnd.agentskills.") && strings.Contains(kind, "catalog") {
		return true
	}
	return m.isIndex() && len(m.Manifests) > 0 && !slices.ContainsFunc(m.Manifests, func(d v1.Descriptor) bool {
		return d.Platform != nil || d.Annotations[annotationName] == ""
	})
}

// acceptable refuses artifacts whose type says that they are something else.
func (m *manifest) acceptable() error {
	kind := m.kind()
	var is string
	switch {
	case strings.HasPrefix(kind, "application/vnd.cncf.helm."):
		is = "a Helm chart"
	case strings.Contains(kind, ".wasm.") || strings.HasPrefix(kind, "application/wasm"):
		is = "a WebAssembly module"
	case strings.Contains(kind, "cosign") || strings.Contains(kind, "sigstore") || strings.Contains(kind, "notary"):
		is = "a signature"
	case strings.Contains(kind, "in-toto") || strings.Contains(kind, "spdx") || strings.Contains(kind, "cyclonedx"):
		is = "a statement about another artifact"
	case strings.Contains(kind, "model"):
		is = "a machine learning model"
	case len(m.Layers) == 0:
		is = "empty"
	default:
		return nil
	}
	return &source.RefusedError{Reason: fmt.Sprintf("the artifact is %s (type %q), not a skill", is, kind), Remedy: "name the artifact of a skill"}
}

// noSkill returns the error for an artifact without a SKILL.md, which tells what it is.
func (m *manifest) noSkill() error {
	is := fmt.Sprintf("the artifact of type %q", m.kind())
	switch {
	case m.kind() == typeSkill || m.kind() == typeAlibaba:
		is = "the artifact is called a skill, but"
	case m.kind() == "" && m.isImage():
		is = "it is an ordinary container image, which"
	}
	return &source.RefusedError{Reason: is + " has no SKILL.md", Remedy: "name the artifact of a skill"}
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

// choosePlatform returns the image for this machine: a skill in it may have programs. If
// there is none, that for Linux is next, which sandboxes run.
func choosePlatform(images []v1.Descriptor) (v1.Descriptor, error) {
	wanted := []v1.Platform{{OS: runtime.GOOS, Architecture: runtime.GOARCH}, {OS: "linux", Architecture: runtime.GOARCH}, {OS: "linux", Architecture: "amd64"}}
	for _, platform := range wanted {
		for _, image := range images {
			if p := image.Platform; p != nil && p.OS == platform.OS && p.Architecture == platform.Architecture {
				return image, nil
			}
		}
	}
	for _, image := range images {
		// Builders write "unknown" for statements about an image.
		if image.Platform == nil || image.Platform.OS != "unknown" {
			return image, nil
		}
	}
	return v1.Descriptor{}, &source.RefusedError{Reason: "the index has no image", Remedy: "name the artifact of a skill"}
}
