// Package files fetches skills from folders and archives of this machine, and from single
// URLs: an archive, a SKILL.md or a marketplace.json.
//
// Start with [New].
package files

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/install/download"
	"github.com/skillsmcp/skills-mcp/skills/install/quarantine"
	"github.com/skillsmcp/skills-mcp/skills/install/source"
	"github.com/skillsmcp/skills-mcp/skills/skillfs"
	"github.com/skillsmcp/skills-mcp/skills/snapshot"
)

// maxArchive bounds the bytes of an archive.
const maxArchive = 256 << 20

// A Fetcher fetches sources of the kinds [source.Folder], [source.Archive] and
// [source.URL].
type Fetcher struct{ client *download.Client }

// New returns a fetcher. The client stays the caller's.
func New(client *download.Client) *Fetcher { return &Fetcher{client} }

// Fetch implements the interface of package install. The revision is the digest of the
// bytes of an archive or file, or that of a folder's snapshot.
func (f *Fetcher) Fetch(ctx context.Context, r source.Request, into *quarantine.Folder) (*source.Fetched, error) {
	switch {
	case r.Source.Path != "":
		return nil, &source.RefusedError{Reason: "only a repository of Git has folders to choose", Remedy: "install it again, with --skill"}
	case !r.Named && r.Source.Kind != source.URL:
		return nil, &source.RefusedError{Reason: "a stranger's file names a path of this machine", Remedy: "install that path itself if you trust it"}
	}
	var fetched *source.Fetched
	var err error
	switch r.Source.Kind {
	case source.Folder:
		return fetchFolder(ctx, r.Source.Location, into)
	case source.Archive:
		fetched, err = fetchArchive(ctx, r.Source, into)
	case source.URL:
		fetched, err = f.fetchURL(ctx, r, into)
	default:
		return nil, fmt.Errorf("fetch files: no source of kind %q", r.Source.Kind)
	}
	if err != nil {
		return nil, err
	}
	if r.Source.Pin != "" {
		fetched.Checked = append(fetched.Checked, "sha256 of the file, stated by the source")
	}
	fetched.Trees = []source.Tree{{Path: "."}}
	return fetched, nil
}

// Revision implements the interface of package install. It gets a file anew, unless the
// source states its digest: an ETag is no proof of the bytes.
func (f *Fetcher) Revision(ctx context.Context, s source.Source) (string, error) {
	switch {
	case s.Kind == source.Folder:
		return snapshot.Digest(ctx, skillfs.DirFS(s.Location))
	case strings.HasPrefix(s.Pin, "sha256:"):
		return strings.ToLower(s.Pin), nil
	case s.Kind == source.Archive:
		file, err := open(s.Location)
		if err != nil {
			return "", err
		}
		defer file.Close()
		return copyArchive(ctx, io.Discard, file)
	case s.Kind == source.URL:
		file, response, err := f.client.GetFile(ctx, download.Get{URL: s.Location, Named: true, Limit: maxArchive}, os.TempDir())
		if err != nil {
			return "", err
		}
		return response.Digest, file.Close()
	}
	return "", fmt.Errorf("look for a revision: no source of kind %q", s.Kind)
}

// fetchFolder copies a folder.
func fetchFolder(ctx context.Context, dir string, into *quarantine.Folder) (*source.Fetched, error) {
	if err := into.Copy(ctx, dir); err != nil {
		return nil, err
	}
	digest, err := snapshot.Digest(ctx, skillfs.DirFS(dir))
	if err != nil {
		return nil, err
	}
	return &source.Fetched{Revision: digest, Trees: []source.Tree{{Path: "."}}}, nil
}

// fetchArchive unpacks an archive of this machine. It is copied first, so that the digest is
// of the bytes that were unpacked, also if another program writes to it meanwhile.
func fetchArchive(ctx context.Context, s source.Source, into *quarantine.Folder) (*source.Fetched, error) {
	file, err := open(s.Location)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	temporary, err := os.CreateTemp(filepath.Dir(into.Path()), "quarantine-*.download")
	if err != nil {
		return nil, err
	}
	spool := &download.File{File: temporary}
	defer spool.Close()
	digest, err := copyArchive(ctx, spool, file)
	if err != nil {
		return nil, err
	}
	if s.Pin != "" && !strings.EqualFold(s.Pin, digest) {
		return nil, &source.RefusedError{Reason: fmt.Sprintf("%s has the digest %s, not %s", s.Location, digest, s.Pin), Remedy: "ask its author which one is right"}
	}
	info, err := spool.Stat()
	if err != nil {
		return nil, err
	}
	return &source.Fetched{Revision: digest}, into.Unpack(ctx, spool, info.Size(), "")
}

// open opens a regular file of this machine; links to it are the person's own.
func open(location string) (fs.File, error) {
	file, err := filepath.EvalSymlinks(location)
	if err != nil {
		return nil, err
	}
	return skillfs.OpenRegular(skillfs.DirFS(filepath.Dir(file)), filepath.Base(file))
}

// copyArchive copies an archive and returns its digest.
func copyArchive(ctx context.Context, to io.Writer, from io.Reader) (string, error) {
	sum := sha256.New()
	n, err := io.Copy(io.MultiWriter(to, sum), io.LimitReader(&skillfs.ContextReader{Context: ctx, Reader: from}, maxArchive+1))
	switch {
	case err != nil:
		return "", err
	case n > maxArchive:
		return "", &source.RefusedError{Reason: fmt.Sprintf("the archive is larger than %d MB", maxArchive>>20), Remedy: "leave out what the skill does not need"}
	}
	return fmt.Sprintf("sha256:%x", sum.Sum(nil)), nil
}

// fetchURL writes what a URL leads to.
func (f *Fetcher) fetchURL(ctx context.Context, r source.Request, into *quarantine.Folder) (*source.Fetched, error) {
	get := download.Get{URL: r.Source.Location, Named: r.Named, Limit: maxArchive, Digest: r.Source.Pin, Progress: r.Progress}
	file, response, err := f.client.GetFile(ctx, get, filepath.Dir(into.Path()))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	head := make([]byte, 512)
	n, err := file.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	fetched := &source.Fetched{Revision: response.Digest}
	switch form := formOf(head[:n]); form {
	case archive:
		return fetched, into.Unpack(ctx, file, response.Size, "")
	case skill, marketplace:
		return fetched, into.Create(string(form), false, io.NewSectionReader(file, 0, response.Size))
	default:
		return nil, unexpected(form, response)
	}
}
