package adopt

import (
	"cmp"
	"fmt"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/skillsmcp/skills-mcp/skills/install/source"
)

// toolhiveFile is the lock file of a project's skills (ToolHive's RFC 0080, version 1).
const toolhiveFile = "toolhive.lock.yaml"

type toolhiveEntry struct {
	Name              string    `yaml:"name"`
	Source            string    `yaml:"source"`
	ResolvedReference string    `yaml:"resolvedReference"`
	Digest            string    `yaml:"digest"` // of a manifest, or a commit
	ContentDigest     string    `yaml:"contentDigest"`
	Provenance        yaml.Node `yaml:"provenance" json:"-"`
	Unsigned          bool      `yaml:"unsigned"`
}

func (a *adopter) toolhive() (all []*record, err error) {
	data, err := a.read(toolhiveFile)
	if data == nil || err != nil {
		return nil, err
	}
	return decodeToolHive(data)
}

// decodeToolHive returns the records of a lock file, also of its plugins, which are not
// adopted: ToolHive installs them in the ways of each client.
func decodeToolHive(data []byte) (all []*record, err error) {
	var file struct {
		Version int             `yaml:"version"`
		Skills  []toolhiveEntry `yaml:"skills"`
		Plugins []toolhiveEntry `yaml:"plugins"`
	}
	if err := yaml.Unmarshal(data, &file); err != nil {
		return nil, fmt.Errorf("%s is not read: %w; correct it or remove it", toolhiveFile, err)
	}
	if file.Version > 1 {
		return nil, fmt.Errorf("%s has version %d, and this program reads version 1; update skills-mcp", toolhiveFile, file.Version)
	}
	if n := len(file.Skills) + len(file.Plugins); n > maxRecords {
		return nil, fmt.Errorf("%s has %d entries; %d are the limit", toolhiveFile, n, maxRecords)
	}
	for _, e := range file.Skills {
		all = append(all, e.record())
	}
	for _, e := range file.Plugins {
		all = append(all, &record{tool: ToolHive, lock: toolhiveFile, name: e.Name, err: &source.RefusedError{Reason: "it is a plugin, which ToolHive installs in each client's own way", Remedy: "install it again with skills-mcp"}})
	}
	return all, nil
}

func (e toolhiveEntry) record() *record {
	r := &record{tool: ToolHive, lock: toolhiveFile, name: e.Name, folder: e.Name, revision: e.Digest}
	if r.err = checkTexts(e.Name, e); r.err != nil {
		return r
	}
	if r.source, r.path, r.err = e.source(); r.err != nil {
		return r
	}
	if e.ContentDigest != "" {
		r.recorded = &recorded{"contentDigest of " + toolhiveFile, e.ContentDigest, contentDigest}
	}
	if !e.Provenance.IsZero() {
		r.unproved = append(r.unproved, "the signature that ToolHive has verified: its bundle is in ToolHive's own database")
	}
	return r
}

// source returns the source of an entry and the folder in it. A reference is that of an
// OCI artifact, or git://host/owner/repo[@ref][#path]; the pin is Digest.
func (e toolhiveEntry) source() (source.Source, string, error) {
	reference := cmp.Or(e.ResolvedReference, e.Source)
	rest, isGit := strings.CutPrefix(reference, "git://")
	if !isGit {
		s, err := parseSource("oci://"+strings.TrimPrefix(reference, "oci://"), "")
		return s, "", err
	}
	rest, folder, _ := strings.Cut(rest, "#")
	host, repo, _ := strings.Cut(rest, "/")
	repo, ref, _ := strings.Cut(repo, "@")
	s, err := parseSource(repository("https://"+host+"/"+repo, ref), "")
	if err != nil {
		return s, "", err
	}
	folder, err = skillFolder(folder)
	return s, folder, err
}
