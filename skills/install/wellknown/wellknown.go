// Package wellknown fetches the skills that a site publishes in a discovery index of the
// Agent Skills standard, version 0.2.0.
//
// Start with [New].
package wellknown

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/install/download"
	"github.com/skillsmcp/skills-mcp/skills/install/quarantine"
	"github.com/skillsmcp/skills-mcp/skills/install/source"
	"github.com/skillsmcp/skills-mcp/skills/manifest"
	"github.com/skillsmcp/skills-mcp/skills/skillfs"
)

const (
	maxIndex = 4 << 20   // bytes of an index
	maxSkill = 1 << 20   // bytes of a SKILL.md
	maxFile  = 256 << 20 // bytes of an archive
)

// indexPath is the path of the index of a site.
const indexPath = "/.well-known/agent-skills/index.json"

// A Fetcher fetches sources of kind [source.Index].
type Fetcher struct{ client *download.Client }

// New returns a fetcher. The client stays the caller's.
func New(client *download.Client) *Fetcher { return &Fetcher{client} }

// Fetch implements the interface of package install. Only the wanted skills are fetched,
// each into a folder of its name.
func (f *Fetcher) Fetch(ctx context.Context, r source.Request, into *quarantine.Folder) (*source.Fetched, error) {
	at, index, err := f.index(ctx, r.Source.Location, r.Named)
	if err != nil {
		return nil, err
	}
	wanted, err := index.choose(r.Wanted(), r.All)
	if err != nil {
		return nil, err
	}
	fetched := &source.Fetched{Revision: index.revision("")}
	for _, e := range wanted {
		d := &delivery{client: f.client, request: &r, index: at, entry: e, into: into}
		if err := d.fetch(ctx); err != nil {
			return nil, fmt.Errorf("the skill %q of %s: %w", e.Name, at.Host, err)
		}
		fetched.Trees = append(fetched.Trees, source.Tree{Path: e.Name, Name: e.Name, In: e.Name, Revision: e.Digest})
	}
	fetched.Checked = []string{"sha256 of each file or archive, stated by the index", "name of each skill, stated by the index"}
	return fetched, nil
}

// Revision implements the interface of package install. It is the digest of a skill if
// the source names one or has only one, else one of the whole index.
func (f *Fetcher) Revision(ctx context.Context, s source.Source) (string, error) {
	_, index, err := f.index(ctx, s.Location, true)
	if err != nil {
		return "", err
	}
	return index.revision(s.Name), nil
}

// index returns the index of a site, or that at a URL, and its URL.
func (f *Fetcher) index(ctx context.Context, location string, named bool) (*url.URL, *index, error) {
	at, err := url.Parse(location)
	if err != nil {
		return nil, nil, err
	}
	site := strings.Trim(at.Path, "/") == ""
	if site {
		at = &url.URL{Scheme: at.Scheme, Host: at.Host, Path: indexPath}
	}
	body, _, err := f.client.Get(ctx, download.Get{
		URL: at.String(), Named: named, Limit: maxIndex, JSON: true,
	})
	// Some sites answer with an HTML page for each path that they do not have.
	if site && (isAbsent(err) || err == nil && bytes.HasPrefix(bytes.TrimSpace(body), []byte("<"))) {
		return nil, nil, fmt.Errorf("%s publishes no skills: it has no %s (discovery 0.2.0); write the URL of an archive, or git+https:// for a repository", at.Host, indexPath)
	}
	if err != nil {
		return nil, nil, err
	}
	index, err := parseIndex(body)
	return at, index, err
}

// isAbsent reports an answer that says that there is no such file.
func isAbsent(err error) bool {
	var status *download.StatusError
	return errors.As(err, &status) && (status.Status == http.StatusNotFound || status.Status == http.StatusGone)
}

// A delivery fetches one skill of an index.
type delivery struct {
	client  *download.Client
	request *source.Request
	index   *url.URL
	entry   *entry
	into    *quarantine.Folder
}

func (d *delivery) fetch(ctx context.Context) error {
	file, response, err := d.download(ctx)
	if err != nil {
		return err
	}
	defer file.Close()
	if d.entry.Type == typeSkill {
		err = d.into.Create(d.entry.Name+"/SKILL.md", false, io.NewSectionReader(file, 0, response.Size))
	} else {
		// The first bytes tell the archive's kind, as its digest proves them; the answer's
		// Content-Type is only in an error.
		err = d.into.Unpack(ctx, file, response.Size, d.entry.Name)
	}
	switch {
	case err != nil && response.ContentType != "":
		return fmt.Errorf("%w (its Content-Type is %q)", err, response.ContentType)
	case err != nil:
		return err
	}
	return d.checkName()
}

// download gets the artifact of the entry. Other hosts than the index's must be public.
func (d *delivery) download(ctx context.Context) (*download.File, *download.Response, error) {
	to, err := d.index.Parse(d.entry.URL)
	if err != nil {
		return nil, nil, &source.RefusedError{Reason: fmt.Sprintf("the index has the URL %q, which cannot be read", d.entry.URL)}
	}
	same := to.Scheme == d.index.Scheme && strings.EqualFold(to.Host, d.index.Host)
	get := download.Get{URL: to.String(), Named: d.request.Named && same, Digest: d.entry.Digest, Limit: maxFile, Progress: d.request.Progress}
	if d.entry.Type == typeSkill {
		get.Limit = maxSkill
	}
	return d.client.GetFile(ctx, get, filepath.Dir(d.into.Path()))
}

// checkName refuses a skill without a SKILL.md at the root of its folder, or whose
// frontmatter has another name than the index.
func (d *delivery) checkName() error {
	data, err := skillfs.ReadRegular(skillfs.DirFS(filepath.Join(d.into.Path(), d.entry.Name)), "SKILL.md", maxSkill) // links are not made yet
	if err != nil {
		return &source.RefusedError{Reason: "there is no SKILL.md at its root", Remedy: "ask its publisher to pack the folder's content, not the folder"}
	}
	fields, err := manifest.Frontmatter(data)
	if err != nil {
		return &source.RefusedError{Reason: "its SKILL.md: " + err.Error(), Remedy: "ask its publisher to repair it"}
	}
	if name, _ := fields["name"].(string); name != d.entry.Name {
		return &source.RefusedError{
			Reason: fmt.Sprintf("its SKILL.md has the name %q, not that of the index", name),
			Remedy: "ask its publisher which one is right, or install it by its own URL",
		}
	}
	return nil
}
