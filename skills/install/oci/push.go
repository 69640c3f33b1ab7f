package oci

import (
	"archive/tar"
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"

	specs "github.com/opencontainers/image-spec/specs-go"
	v1 "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/content"
	"oras.land/oras-go/v2/errdef"

	"github.com/skillsmcp/skills-mcp/skills/install/source"
	"github.com/skillsmcp/skills-mcp/skills/lazyregexp"
)

// The types and annotations of the community's draft 0.1.0 of "Agent Skills OCI Artifacts".
const (
	typeSkill               = "application/vnd.agentskills.skill.v1"
	typeConfig              = "application/vnd.agentskills.skill.config.v1+json"
	typeContent             = "application/vnd.agentskills.skill.content.v1.tar+gzip"
	annotationName          = "io.agentskills.skill.name"
	annotationCompatibility = "io.agentskills.skill.compatibility"
)

// namePattern matches the names of the Agent Skills standard.
var namePattern = lazyregexp.New(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// maxPacked bounds the layer of a push in bytes, as an installation does.
const maxPacked = 256 << 20

// A Description is the metadata of a pushed skill, from its SKILL.md. Only the name is
// required.
type Description struct {
	Name          string
	Version       string // "" is the tag, unless that is "latest"
	Description   string
	License       string
	Compatibility string
	AllowedTools  []string
	Metadata      map[string]any
	// Source and Revision say where the skill is developed: a URL and a commit.
	Source, Revision string
}

// A Pushed is the result of a push.
type Pushed struct {
	Digest string `json:"digest"` // of the manifest
	Files  int    `json:"files"`
	Size   int64  `json:"size"` // bytes of the layer
}

// Push writes the files of a skill to a registry, in the shape of the community's draft.
// The same files, description and tag have the same digest each time. It leaves out .git.
// The error is a [*source.RefusedError] for a file that is neither a regular file, a
// folder, nor a link to one of them in the skill.
func (f *Fetcher) Push(ctx context.Context, files fs.FS, to source.Source, d Description) (*Pushed, error) {
	if strings.Contains(to.Ref, ":") || to.Pin != "" {
		return nil, &source.RefusedError{Reason: "a push cannot name a digest", Remedy: "write oci://host/repository:tag"}
	}
	if !namePattern.MatchString(d.Name) {
		return nil, &source.RefusedError{Reason: fmt.Sprintf("%q is no name of the Agent Skills standard", d.Name), Remedy: "write it with lower-case letters, digits and single hyphens"}
	}
	if d.Version == "" && reference(to) != "latest" {
		d.Version = to.Ref
	}
	layer, count, err := pack(files, d.Name)
	if err != nil {
		return nil, err
	}
	configuration, err := d.config()
	if err != nil {
		return nil, err
	}
	pushed := &Pushed{Files: count, Size: int64(len(layer))}
	err = f.with(ctx, to, true, func(ctx context.Context, c *connection) error {
		pushed.Digest, err = c.push(ctx, to, d, configuration, layer)
		return err
	})
	if err != nil {
		return nil, err
	}
	return pushed, nil
}

// push uploads what the registry does not have, the manifest last: then all is there that
// it names.
func (c *connection) push(ctx context.Context, to source.Source, d Description, configuration, layer []byte) (string, error) {
	m := v1.Manifest{
		Versioned:    specs.Versioned{SchemaVersion: 2},
		MediaType:    v1.MediaTypeImageManifest,
		ArtifactType: typeSkill,
		Config:       content.NewDescriptorFromBytes(typeConfig, configuration),
		Layers:       []v1.Descriptor{content.NewDescriptorFromBytes(typeContent, layer)},
		Annotations:  d.annotations(),
	}
	text, err := json.Marshal(m)
	if err != nil {
		return "", err
	}
	for _, blob := range []struct {
		at   v1.Descriptor
		data []byte
	}{{m.Config, configuration}, {m.Layers[0], layer}} {
		there, err := c.repository.Blobs().Exists(ctx, blob.at)
		if err != nil || there {
			if err != nil {
				return "", err
			}
			continue
		}
		if err := c.repository.Blobs().Push(ctx, blob.at, bytes.NewReader(blob.data)); err != nil {
			return "", fmt.Errorf("push: %w", err)
		}
	}
	at := content.NewDescriptorFromBytes(v1.MediaTypeImageManifest, text)
	return at.Digest.String(), c.repository.Manifests().PushReference(ctx, at, bytes.NewReader(text), reference(to))
}

// config returns the artifact's configuration: the frontmatter, by the draft's names.
func (d Description) config() ([]byte, error) {
	return json.Marshal(struct {
		SchemaVersion string         `json:"schemaVersion"`
		Name          string         `json:"name"`
		Version       string         `json:"version,omitempty"`
		Description   string         `json:"description,omitempty"`
		License       string         `json:"license,omitempty"`
		Compatibility string         `json:"compatibility,omitempty"`
		AllowedTools  []string       `json:"allowedTools,omitempty"`
		Metadata      map[string]any `json:"metadata,omitempty"`
	}{"1", d.Name, d.Version, d.Description, d.License, d.Compatibility, d.AllowedTools, d.Metadata})
}

// annotations has no time of creation: the digest would be another each time.
func (d Description) annotations() map[string]string {
	all := map[string]string{
		annotationName:           d.Name,
		annotationCompatibility:  d.Compatibility,
		v1.AnnotationTitle:       d.Name,
		v1.AnnotationDescription: d.Description,
		v1.AnnotationVersion:     d.Version,
		v1.AnnotationLicenses:    d.License,
		v1.AnnotationSource:      d.Source,
		v1.AnnotationRevision:    d.Revision,
	}
	for key, value := range all {
		if value == "" {
			delete(all, key)
		}
	}
	return all
}

// pack returns a tar.gz file with the files below a folder of the skill's name, and their
// number. Names are sorted; times, owners and modes are the same for all machines.
func pack(files fs.FS, name string) (packed []byte, count int, err error) {
	var out bytes.Buffer
	zipped := gzip.NewWriter(&limited{&out, maxPacked})
	list := tar.NewWriter(zipped)
	err = fs.WalkDir(files, ".", func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.Name() == ".git" {
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if !entry.IsDir() {
			count++
		}
		return packFile(list, files, file, path.Join(name, file))
	})
	if err = cmp.Or(err, list.Close(), zipped.Close()); err != nil {
		return nil, 0, fmt.Errorf("pack the skill: %w", err)
	}
	return out.Bytes(), count, nil
}

func packFile(list *tar.Writer, files fs.FS, file, name string) error {
	info, err := fs.Lstat(files, file)
	if err != nil {
		return err
	}
	header := &tar.Header{Name: name, Mode: 0o644}
	switch mode := info.Mode(); {
	case mode.IsDir():
		header.Typeflag, header.Name, header.Mode = tar.TypeDir, name+"/", 0o755
		return list.WriteHeader(header)
	case mode&fs.ModeSymlink != 0:
		return packLink(list, files, file, header)
	case !mode.IsRegular():
		return &source.RefusedError{Reason: fmt.Sprintf("%s is neither a file nor a folder", file), Remedy: "remove it"}
	case mode&0o111 != 0:
		header.Mode = 0o755
	}
	content, err := files.Open(file)
	if err != nil {
		return err
	}
	defer content.Close()
	header.Typeflag, header.Size = tar.TypeReg, info.Size()
	if err := list.WriteHeader(header); err != nil {
		return err
	}
	_, err = io.CopyN(list, content, info.Size())
	return err
}

// packLink packs a link whose target is in the skill.
func packLink(list *tar.Writer, files fs.FS, file string, header *tar.Header) error {
	target, err := fs.ReadLink(files, file)
	if err != nil {
		return err
	}
	if _, err := fs.Stat(files, file); err != nil || path.IsAbs(target) {
		return &source.RefusedError{Reason: fmt.Sprintf("%s is a link to %s, which is not in the skill", file, target), Remedy: "copy the file instead"}
	}
	header.Typeflag, header.Linkname, header.Mode = tar.TypeSymlink, target, 0o777
	return list.WriteHeader(header)
}

// limited is an error where more is written than left.
type limited struct {
	io.Writer
	left int64
}

func (l *limited) Write(b []byte) (int, error) {
	if l.left -= int64(len(b)); l.left < 0 {
		return 0, fmt.Errorf("%w: more than %d MiB", errdef.ErrSizeExceedsLimit, maxPacked>>20)
	}
	return l.Writer.Write(b)
}
