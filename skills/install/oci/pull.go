package oci

import (
	"context"
	"fmt"
	"path/filepath"

	v1 "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/skillsmcp/skills-mcp/skills/install/quarantine"
	"github.com/skillsmcp/skills-mcp/skills/install/source"
)

// A pull is one fetch.
type pull struct {
	*connection
	request source.Request
	into    *quarantine.Folder
	fetched source.Fetched
	layers  int // that were checked
}

// download gets layers to temporary files and checks their sizes and digests. The caller
// closes the files, also after an error.
func (p *pull) download(ctx context.Context, from *repository, layers []v1.Descriptor) ([]*layerFile, error) {
	total, err := size(layers)
	if err != nil {
		return nil, err
	}
	var before int64
	var files []*layerFile
	for _, layer := range layers {
		file, err := newLayerFile(filepath.Dir(p.into.Path()), layer)
		if err != nil {
			return files, err
		}
		files = append(files, file)
		file.progress = func(done int64) {
			if p.request.Progress != nil {
				p.request.Progress(before+done, total)
			}
		}
		if err := file.fetch(ctx, from); err != nil {
			return files, err
		}
		before += layer.Size
		p.layers++
	}
	return files, nil
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

func closeAll(files []*layerFile) {
	for _, f := range files {
		f.close()
	}
}

// join is [path.Join] that leaves a stranger's name as it is, to be judged as such.
func join(folder, name string) string {
	switch {
	case folder == ".":
		return name
	case name == ".":
		return folder
	}
	return folder + "/" + name
}
