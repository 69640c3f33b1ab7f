package oci

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	v1 "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/skillsmcp/skills-mcp/skills/install/source"
)

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

// unpackFiles writes independent layers below folder: archives are unpacked, others are
// files with their path in the title.
func (p *pull) unpackFiles(ctx context.Context, found *manifest, layers []*layerFile, folder string) ([]source.Tree, error) {
	for _, layer := range layers {
		var err error
		title := layer.layer.Annotations[v1.AnnotationTitle]
		switch {
		case isArchive(layer.layer):
			err = p.into.Unpack(ctx, layer, layer.layer.Size, folder)
		case title != "":
			err = p.into.Create(join(folder, title), false, io.NewSectionReader(layer, 0, layer.layer.Size))
		}
		if err != nil {
			return nil, err
		}
	}
	root, err := findRoot(filepath.Join(p.into.Path(), filepath.FromSlash(folder)))
	if err != nil {
		return nil, err
	}
	if root == "" {
		return nil, found.noSkill()
	}
	return []source.Tree{{Path: join(folder, root), In: strings.TrimPrefix(root, ".")}}, nil
}

// isArchive reports whether a layer is an archive, by its type or because its author asks
// to unpack it (a mark of ORAS for folders).
func isArchive(layer v1.Descriptor) bool {
	kind := layer.MediaType
	return strings.HasSuffix(kind, "tar+gzip") || strings.HasSuffix(kind, "tar.gzip") || strings.HasSuffix(kind, "+zip") || layer.Annotations["io.deis.oras.content.unpack"] == "true"
}

// findRoot returns the folder with the SKILL.md of an unpacked artifact: ".", or one at
// the top; "" if there is none.
func findRoot(dir string) (string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", err
	}
	root := ""
	for _, e := range entries {
		if e.Name() == "SKILL.md" {
			return ".", nil
		}
		if _, err := os.Lstat(filepath.Join(dir, e.Name(), "SKILL.md")); err == nil && e.IsDir() {
			if root != "" {
				return ".", nil // of several, all are looked through
			}
			root = e.Name()
		}
	}
	return root, nil
}
