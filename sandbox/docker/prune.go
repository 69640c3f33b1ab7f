package docker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/filters"
	dockerimage "github.com/docker/docker/api/types/image"
)

// LayerUnused is the time after which an unused layer of dependencies is removed.
const LayerUnused = 30 * 24 * time.Hour

// A Layer is an image with the dependencies of skills, made from the image of a
// role.
type Layer struct {
	Ref      string    `json:"image"`
	ID       string    `json:"id"`
	Kind     string    `json:"kind"`     // "python" or "node"
	Packages string    `json:"packages"` // for people
	Base     string    `json:"base"`     // the image that it was made from, as configured
	Size     int64     `json:"size"`     // bytes, those of its base included
	Created  time.Time `json:"created,omitzero"`
	Used     time.Time `json:"used,omitzero"` // to within a day
}

func (e *engine) prune(ctx context.Context, unused time.Duration) ([]Layer, error) {
	all, err := e.listLayers(ctx)
	if err != nil {
		return nil, err
	}
	var removed []Layer
	var failures []error
	for _, layer := range slices.Backward(all) { // one may be made from an earlier one
		if time.Since(layer.Used) < unused {
			continue
		}
		_, err := e.api.ImageRemove(ctx, layer.Ref, dockerimage.RemoveOptions{})
		switch {
		case err == nil:
			removed = append(removed, layer)
		case !cerrdefs.IsNotFound(err) && !cerrdefs.IsConflict(err): // one that a container uses is in conflict
			failures = append(failures, fmt.Errorf("remove image %s: %w", layer.Ref, err))
		}
	}
	return removed, errors.Join(failures...)
}

func (e *engine) listLayers(ctx context.Context) ([]Layer, error) {
	found, err := e.api.ImageList(ctx, dockerimage.ListOptions{
		Filters: filters.NewArgs(filters.Arg("label", labelLayer), filters.Arg("reference", layerName)),
	})
	if err != nil {
		return nil, e.failed("list images", err)
	}
	var all []Layer
	for _, summary := range found {
		for _, ref := range summary.RepoTags {
			layer, err := e.describeLayer(ctx, ref)
			if cerrdefs.IsNotFound(err) { // removed meanwhile
				continue
			}
			if err != nil {
				return nil, e.failed("look up the image "+ref, err)
			}
			all = append(all, layer)
		}
	}
	slices.SortFunc(all, func(a, b Layer) int { return a.Created.Compare(b.Created) })
	return all, nil
}

func (e *engine) describeLayer(ctx context.Context, ref string) (Layer, error) {
	found, err := e.api.ImageInspect(ctx, ref)
	if err != nil {
		return Layer{}, err
	}
	layer := Layer{Ref: ref, ID: found.ID, Size: found.Size, Created: created(found)}
	layer.Used = layer.Created
	if tagged := found.Metadata.LastTagTime; tagged.After(layer.Used) {
		layer.Used = tagged
	}
	if found.Config != nil {
		labels := found.Config.Labels
		layer.Kind, layer.Packages, layer.Base = labels[labelKind], labels[labelPackages], labels[labelBase]
	}
	return layer, nil
}
