// Package npm fetches packages of npm registries as sources of skills: the files of one
// version, checked against the digest that the registry states. Scripts of packages are
// not run and their dependencies are not fetched.
//
// Start with [New].
package npm

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/skillsmcp/skills-mcp/skills/install/download"
	"github.com/skillsmcp/skills-mcp/skills/install/quarantine"
	"github.com/skillsmcp/skills-mcp/skills/install/source"
	"github.com/skillsmcp/skills-mcp/skills/lazyregexp"
)

// defaultRegistry is the registry of packages whose source names none.
const defaultRegistry = "https://registry.npmjs.org"

// maxMetadata bounds the description of all versions of a package, in bytes.
const maxMetadata = 64 << 20

// A Fetcher fetches packages.
type Fetcher struct{ client *download.Client }

// New returns a fetcher that downloads with a client, which the caller closes.
func New(client *download.Client) *Fetcher { return &Fetcher{client} }

// A version is a published version of a package (its "dist", in the registry's API).
type version struct {
	Dist struct {
		Tarball   string `json:"tarball"`
		Integrity string `json:"integrity"`
		Shasum    string `json:"shasum"` // SHA-1, of old packages
	} `json:"dist"`
	Deprecated any            `json:"deprecated"` // a text, or false
	Scripts    map[string]any `json:"scripts"`
	HasScripts bool           `json:"hasInstallScript"`
}

// A document is the registry's description of a package.
type document struct {
	Tags     map[string]string          `json:"dist-tags"`
	Versions map[string]json.RawMessage `json:"versions"`
}

// Fetch writes the files of a version into a quarantine, as one tree.
func (f *Fetcher) Fetch(ctx context.Context, r source.Request, into *quarantine.Folder) (*source.Fetched, error) {
	name, v, err := f.find(ctx, r.Source, r.Named)
	if err != nil {
		return nil, err
	}
	digests, err := parseDigests(v.Dist.Integrity, v.Dist.Shasum, r.Source.Pin)
	if err != nil {
		return nil, err
	}
	registry, tarball, err := f.addresses(r.Source, v.Dist.Tarball)
	if err != nil {
		return nil, err
	}
	get := download.Get{URL: tarball.String(), Named: r.Named && tarball.Host == registry.Host, Limit: into.Limits().Total, Progress: r.Progress}
	file, response, err := f.client.GetFile(ctx, get, filepath.Dir(into.Path()))
	if err != nil {
		return nil, explain(err, r.Source.Name)
	}
	defer file.Close()
	checked, err := digests.check(file)
	if err != nil {
		return nil, err
	}
	if err := into.UnpackPart(ctx, file, response.Size, "", withoutFirst); err != nil {
		return nil, err
	}
	return &source.Fetched{Revision: name, Trees: []source.Tree{{Path: ".", Revision: name}}, Notes: v.notes(), Checked: checked}, nil
}

// withoutFirst returns the name of a file without the folder that all of a package's
// files lie in, usually "package".
func withoutFirst(name string) string {
	_, rest, _ := strings.Cut(strings.TrimPrefix(name, "./"), "/")
	return rest
}

// notes returns what the registry says about a version.
func (v *version) notes() (notes []source.Note) {
	if text, ok := v.Deprecated.(string); ok && text != "" {
		notes = append(notes, source.Note{Text: "the package is deprecated: " + text})
	}
	for _, script := range []string{"preinstall", "install", "postinstall", "prepare"} {
		v.HasScripts = v.HasScripts || v.Scripts[script] != nil
	}
	if v.HasScripts {
		notes = append(notes, source.Note{Text: "the package has install scripts, which were not run"})
	}
	return notes
}

// Revision returns the version that Fetch would get now.
func (f *Fetcher) Revision(ctx context.Context, s source.Source) (string, error) {
	name, _, err := f.find(ctx, s, true)
	return name, err
}

// packageName is the form of a package's name (npm's documentation, "package.json",
// "name"), in its older rules, too.
var packageName = lazyregexp.New(`^(@[A-Za-z0-9_~-][A-Za-z0-9._~-]*/)?[A-Za-z0-9_~-][A-Za-z0-9._~-]*$`)

// find asks the registry for the version that a source means.
func (f *Fetcher) find(ctx context.Context, s source.Source, named bool) (string, *version, error) {
	if !packageName.MatchString(s.Name) || len(s.Name) > 214 {
		return "", nil, &source.RefusedError{Reason: fmt.Sprintf("%q is no name of an npm package", s.Name), Remedy: "write NAME or @SCOPE/NAME"}
	}
	registry, _, err := f.addresses(s, "")
	if err != nil {
		return "", nil, err
	}
	// The abbreviated document is a tenth of the whole one.
	header := http.Header{"Accept": {"application/vnd.npm.install-v1+json; q=1.0, application/json; q=0.8"}}
	at := strings.TrimSuffix(registry.String(), "/") + "/" + strings.ReplaceAll(s.Name, "/", "%2F")
	body, _, err := f.client.Get(ctx, download.Get{URL: at, Named: named, Header: header, Limit: maxMetadata})
	if err != nil {
		return "", nil, explain(err, s.Name)
	}
	var doc document
	if err := json.Unmarshal(body, &doc); err != nil || doc.Versions == nil {
		return "", nil, fmt.Errorf("read the package %s: %w; check the address of the registry", s.Name, cmp.Or(err, errors.New("the registry lists no versions")))
	}
	name, err := doc.choose(s)
	if err != nil {
		return "", nil, err
	}
	v := &version{}
	if err := json.Unmarshal(doc.Versions[name], v); err != nil {
		return "", nil, fmt.Errorf("read the version %s of the package %s: %w", name, s.Name, err)
	}
	return name, v, nil
}

// addresses returns the addresses of the registry and of a tarball, which may be relative
// to it.
func (f *Fetcher) addresses(s source.Source, tarball string) (registry, file *url.URL, err error) {
	registry, err = url.Parse(cmp.Or(s.Location, defaultRegistry))
	if err == nil {
		file, err = registry.Parse(tarball)
	}
	if err != nil {
		return nil, nil, &source.RefusedError{Reason: "the registry or the package's file has no valid address", Remedy: "correct the registry"}
	}
	return registry, file, nil
}

// choose returns the version that a source means: a tag, a version, or the newest one of a
// range.
func (d *document) choose(s source.Source) (string, error) {
	ref := cmp.Or(s.Ref, "latest")
	if tagged := d.Tags[ref]; d.Versions[tagged] != nil {
		return tagged, nil
	}
	if exact := strings.TrimPrefix(ref, "v"); d.Versions[exact] != nil {
		return exact, nil
	}
	if within, err := semver.NewConstraint(ref); err == nil {
		if newest := d.newest(within); newest != "" {
			return newest, nil
		}
	}
	remedy := "choose another version"
	if latest := d.Tags["latest"]; latest != "" {
		remedy = fmt.Sprintf("the latest is %q", latest)
	}
	return "", fmt.Errorf("the package %s has no version %q; %s", s.Name, ref, remedy)
}

// newest returns the newest version of a range, "" if there is none.
func (d *document) newest(within *semver.Constraints) string {
	var name string
	var best *semver.Version
	for text := range d.Versions {
		v, err := semver.StrictNewVersion(text)
		if err == nil && within.Check(v) && (best == nil || v.GreaterThan(best)) {
			name, best = text, v
		}
	}
	return name
}

// explain adds the remedy to the error of a registry.
func explain(err error, name string) error {
	var status *download.StatusError
	if !errors.As(err, &status) {
		return err
	}
	switch status.Status {
	case http.StatusNotFound:
		return fmt.Errorf("the registry has no package %s; correct the name, or give the registry that has it: %w", name, err)
	case http.StatusUnauthorized, http.StatusForbidden:
		return fmt.Errorf("the registry keeps the package %s private; download it with \"npm pack %s\" and install the .tgz file: %w", name, name, err)
	}
	return err
}
