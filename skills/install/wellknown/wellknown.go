// Package wellknown fetches the skills that a site publishes in a discovery index of the
// Agent Skills standard, version 0.2.0 or 0.1.0.
//
// Start with [New].
package wellknown

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/install/download"
	"github.com/skillsmcp/skills-mcp/skills/install/quarantine"
	"github.com/skillsmcp/skills-mcp/skills/install/source"
	"github.com/skillsmcp/skills-mcp/skills/manifest"
)

const (
	maxIndex = 4 << 20   // bytes of an index
	maxSkill = 1 << 20   // bytes of a SKILL.md
	maxFile  = 256 << 20 // bytes of any other file
)

// indexPaths are the paths of the index of a site: of 0.2.0 and of 0.1.0.
func indexPaths() []string {
	return []string{"/.well-known/agent-skills/index.json", "/.well-known/skills/index.json"}
}

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
	if index.older {
		fetched.Notes = append(fetched.Notes, source.Note{Text: "nothing proves the content: an index of version 0.1.0 states no digests"})
	} else {
		fetched.Checked = []string{"sha256 of each file or archive, stated by the index", "name of each skill, stated by the index"}
	}
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
	if strings.Trim(at.Path, "/") != "" {
		body, err := f.get(ctx, location, named)
		if err != nil {
			return nil, nil, err
		}
		index, err := parseIndex(body)
		return at, index, err
	}
	for _, path := range indexPaths() {
		at = &url.URL{Scheme: at.Scheme, Host: at.Host, Path: path}
		body, err := f.get(ctx, at.String(), named)
		if isAbsent(err) || err == nil && isPage(body) {
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		index, err := parseIndex(body)
		return at, index, err
	}
	return nil, nil, fmt.Errorf("%s publishes no skills: it has neither %s; write the URL of an archive, or git+https:// for a repository",
		at.Host, strings.Join(indexPaths(), " nor "))
}

// get returns an index. Get bounds it.
func (f *Fetcher) get(ctx context.Context, location string, named bool) ([]byte, error) {
	body, _, err := f.client.Get(ctx, download.Get{
		URL: location, Named: named, Limit: maxIndex, Header: http.Header{"Accept": {"application/json"}},
	})
	return body, err
}

// isAbsent reports an answer that says that there is no such file.
func isAbsent(err error) bool {
	var status *download.StatusError
	return errors.As(err, &status) && (status.Status == http.StatusNotFound || status.Status == http.StatusGone)
}

// isPage reports an HTML page, which some sites answer for each path that they do not
// have.
func isPage(body []byte) bool { return bytes.HasPrefix(bytes.TrimSpace(body), []byte("<")) }

// A delivery fetches one skill of an index.
type delivery struct {
	client  *download.Client
	request *source.Request
	index   *url.URL
	entry   *entry
	into    *quarantine.Folder
}

func (d *delivery) fetch(ctx context.Context) error {
	var err error
	switch {
	case d.entry.Files != nil:
		err = d.files(ctx)
	case d.entry.Type == typeSkill:
		err = d.file(ctx, d.entry.URL, "SKILL.md", d.entry.Digest)
	default:
		err = d.archive(ctx)
	}
	if err != nil {
		return err
	}
	return d.checkName()
}

// get describes the download of a URL of the index. Other hosts than its own must be
// public.
func (d *delivery) get(reference string) (download.Get, error) {
	to, err := d.index.Parse(reference)
	if err != nil {
		return download.Get{}, &source.RefusedError{Reason: fmt.Sprintf("the index has the URL %q, which cannot be read", reference)}
	}
	same := to.Scheme == d.index.Scheme && strings.EqualFold(to.Host, d.index.Host)
	return download.Get{URL: to.String(), Named: d.request.Named && same, Progress: d.request.Progress}, nil
}

// files fetches the files of an index of version 0.1.0, which lie in a folder of the
// skill's name beside it.
func (d *delivery) files(ctx context.Context) error {
	for _, name := range d.entry.Files {
		segments := strings.Split(name, "/")
		for i, s := range segments {
			segments[i] = url.PathEscape(s)
		}
		if err := d.file(ctx, "./"+d.entry.Name+"/"+strings.Join(segments, "/"), name, ""); err != nil {
			return err
		}
	}
	return nil
}

func (d *delivery) file(ctx context.Context, reference, name, digest string) error {
	get, err := d.get(reference)
	if err != nil {
		return err
	}
	if get.Digest, get.Limit = digest, maxFile; name == "SKILL.md" {
		get.Limit = maxSkill
	}
	file, _, err := d.client.GetFile(ctx, get, filepath.Dir(d.into.Path()))
	if err != nil {
		return err
	}
	defer file.Close()
	if _, err := file.Seek(0, 0); err != nil {
		return err
	}
	return d.into.Create(d.entry.Name+"/"+name, false, file)
}

// archive fetches and unpacks an archive. Its first bytes tell its kind, as its digest
// proves them; the answer's Content-Type and the URL's extension are only in an error.
func (d *delivery) archive(ctx context.Context) error {
	get, err := d.get(d.entry.URL)
	if err != nil {
		return err
	}
	get.Digest, get.Limit = d.entry.Digest, maxFile
	file, response, err := d.client.GetFile(ctx, get, filepath.Dir(d.into.Path()))
	if err != nil {
		return err
	}
	defer file.Close()
	err = d.into.Unpack(ctx, file, response.Size, d.entry.Name)
	if err != nil && response.ContentType != "" {
		return fmt.Errorf("%w (its Content-Type is %q)", err, response.ContentType)
	}
	return err
}

// checkName refuses a skill without a SKILL.md at the root of its folder, or whose
// frontmatter has another name than the index.
func (d *delivery) checkName() error {
	data, err := readRegular(filepath.Join(d.into.Path(), d.entry.Name, "SKILL.md"))
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

// readRegular reads the SKILL.md of a quarantine, whose links are not made yet.
func readRegular(path string) ([]byte, error) {
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular() || info.Size() > maxSkill:
		return nil, fmt.Errorf("it is not a file of at most %d bytes", maxSkill)
	}
	return os.ReadFile(path)
}
