package oci

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/opencontainers/go-digest"
	v1 "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/registry"

	"github.com/skillsmcp/skills-mcp/skills/install/source"
	"github.com/skillsmcp/skills-mcp/skills/lazyregexp"
)

// A member is one skill of a catalog.
type member struct {
	name, description string
	// location is "host/repository", and reference a tag or digest there. The digest is
	// the one that the catalog states; "" where it states none.
	location, reference string
	digest              digest.Digest
}

// members returns the skills of a catalog. It reports false for all other artifacts.
func (p *pull) members(ctx context.Context, repository *repository, found *manifest) ([]member, bool, error) {
	if !found.isCatalog() {
		return nil, false, nil
	}
	members, err := p.listed(ctx, repository, found)
	if err != nil {
		return nil, true, err
	}
	if len(members) == 0 {
		return nil, true, &source.RefusedError{Reason: "the catalog has no skills"}
	}
	return members, true, nil
}

func (p *pull) listed(ctx context.Context, from *repository, found *manifest) ([]member, error) {
	if !found.isIndex() {
		return p.listedInText(ctx, from, found)
	}
	if len(found.Manifests) > maxMembers {
		return nil, tooLarge(fmt.Sprintf("more than %d skills", maxMembers))
	}
	var members []member
	for _, d := range found.Manifests {
		a := d.Annotations
		m := member{name: cmp.Or(a[annotationName], a[v1.AnnotationTitle]), description: a[v1.AnnotationDescription], digest: d.Digest}
		m.locate(cmp.Or(a[annotationRef], a[v1.AnnotationRefName]), from)
		members = append(members, m)
	}
	return members, nil
}

// listedInText reads a catalog whose list is a JSON file. Its names of fields vary.
func (p *pull) listedInText(ctx context.Context, from *repository, found *manifest) ([]member, error) {
	files := slices.DeleteFunc(slices.Clone(found.Layers), func(d v1.Descriptor) bool { return !strings.HasSuffix(d.MediaType, "json") })
	if len(files) != 1 || files[0].Size > maxManifest {
		return nil, &source.RefusedError{Reason: "the catalog has no list of skills that this program can read"}
	}
	layers, err := p.download(ctx, from, files)
	defer closeAll(layers)
	if err != nil {
		return nil, err
	}
	var list struct {
		Skills []struct{ Name, Description, Ref, Reference, Source, Image, Digest, Tag, Version string }
	}
	if err := json.NewDecoder(io.NewSectionReader(layers[0], 0, files[0].Size)).Decode(&list); err != nil {
		return nil, &source.RefusedError{Reason: "the catalog's list of skills is not JSON of the expected shape: " + err.Error()}
	}
	if len(list.Skills) > maxMembers {
		return nil, tooLarge(fmt.Sprintf("more than %d skills", maxMembers))
	}
	var members []member
	for _, s := range list.Skills {
		m := member{name: s.Name, description: s.Description, digest: digest.Digest(s.Digest)}
		m.locate(cmp.Or(s.Ref, s.Reference, s.Source, s.Image), from)
		m.reference = cmp.Or(m.reference, s.Tag, s.Version)
		members = append(members, m)
	}
	return members, nil
}

// locate sets the place of a member from a reference such as "host/repository:tag"; one
// without a host is in the catalog's repository.
func (m *member) locate(text string, catalog *repository) {
	m.location = catalog.Reference.Registry + "/" + catalog.Reference.Repository
	if ref, err := registry.ParseReference(strings.TrimPrefix(text, "oci://")); err == nil && strings.ContainsAny(ref.Registry, ".:") {
		m.location, m.reference = ref.Registry+"/"+ref.Repository, ref.Reference
	}
	m.name = cmp.Or(m.name, path.Base(m.location))
}

// catalog fetches the members that the request wants, each into a folder of its own.
func (p *pull) catalog(ctx context.Context, members []member) error {
	wanted, err := p.wanted(members)
	if err != nil {
		return err
	}
	for i, m := range wanted {
		repository, err := p.repository(m.location)
		if err != nil {
			return err
		}
		found, err := readManifest(ctx, repository, cmp.Or(m.digest.String(), m.reference, "latest"))
		if err != nil {
			return fmt.Errorf("fetch %q of the catalog: %w", m.name, err)
		}
		if found.isCatalog() {
			return &source.RefusedError{Reason: fmt.Sprintf("%q of the catalog is a catalog itself", m.name), Remedy: "install from that one"}
		}
		folder := fmt.Sprintf("%d", i+1)
		if namePattern.MatchString(m.name) {
			folder += "/" + m.name
		}
		trees, err := p.artifact(ctx, repository, found, folder)
		if err != nil {
			return fmt.Errorf("fetch %q of the catalog: %w", m.name, err)
		}
		for _, tree := range trees {
			tree.Revision = found.digest.String()
			p.fetched.Trees = append(p.fetched.Trees, tree)
		}
	}
	return nil
}

// namePattern matches the names of the Agent Skills standard.
var namePattern = lazyregexp.New(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// wanted returns the members that the request names, or the only one, or all.
func (p *pull) wanted(members []member) ([]member, error) {
	slices.SortStableFunc(members, func(a, b member) int { return strings.Compare(a.name, b.name) })
	var choices []source.Choice
	for _, m := range members {
		choices = append(choices, source.Choice{Name: m.name, Kind: "skill", Description: m.description})
	}
	chosen, err := choose(p.request, choices)
	if err != nil {
		return nil, err
	}
	var wanted []member
	for _, i := range chosen {
		wanted = append(wanted, members[i])
	}
	return wanted, nil
}

// choose returns the indexes of the choices that a request wants.
func choose(r source.Request, choices []source.Choice) (chosen []int, err error) {
	for _, name := range r.Names {
		i := slices.IndexFunc(choices, func(c source.Choice) bool { return c.Name == name })
		if i < 0 {
			return nil, &source.ChoiceError{Missing: name, Choices: choices}
		}
		chosen = append(chosen, i)
	}
	if len(r.Names) > 0 {
		slices.Sort(chosen)
		return slices.Compact(chosen), nil
	}
	if len(choices) > 1 && !r.All {
		return nil, &source.ChoiceError{Choices: choices}
	}
	for i := range choices {
		chosen = append(chosen, i)
	}
	return chosen, nil
}
