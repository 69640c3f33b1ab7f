package clawhub

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/install/collation"
	"github.com/skillsmcp/skills-mcp/skills/install/download"
	"github.com/skillsmcp/skills-mcp/skills/install/quarantine"
	"github.com/skillsmcp/skills-mcp/skills/install/source"
)

// maxHandoff bounds an answer that points to GitHub, in bytes.
const maxHandoff = 64 << 10

// A handoff is the answer to a download of a skill that GitHub has.
type handoff struct {
	SourceRef   string `json:"sourceRef"`
	Repo        string `json:"repo"`
	Commit      string `json:"commit"`
	Path        string `json:"path"`
	ContentHash string `json:"contentHash"`
	ArchiveURL  string `json:"archiveUrl"`
}

// fetch downloads a release into a folder of its slug, and checks it against the
// registry's list.
func (rel *release) fetch(ctx context.Context, r *source.Request, into *quarantine.Folder, fetched *source.Fetched) error {
	query := rel.query()
	query.Set("slug", rel.slug)
	if rel.version != "" {
		query.Set("version", rel.version)
	}
	get := download.Get{URL: rel.url("/download", query), Named: rel.named, Limit: maxArchive, Progress: r.Progress}
	file, response, err := rel.client.GetFile(ctx, get, filepath.Dir(into.Path()))
	if err != nil {
		return rel.explain(err, strings.TrimSpace("skill "+rel.slug+" "+rel.version))
	}
	defer file.Close()
	if response.ContentType == "application/json" {
		return rel.fetchGitHub(ctx, io.NewSectionReader(file, 0, min(response.Size, maxHandoff)), r, into, fetched)
	}
	if err := into.Unpack(ctx, file, response.Size, rel.slug); err != nil {
		return err
	}
	return rel.check(into, fetched)
}

// generated reports the files that a registry adds to those of the author.
func generated(name string) bool { return name == "_meta.json" || name == "skill-card.md" }

// check compares the files of a hosted version with the registry's list.
func (rel *release) check(into *quarantine.Folder, fetched *source.Fetched) error {
	have, err := hashes(into, rel.slug)
	if err != nil {
		return err
	}
	if err := rel.checkMeta(into); err != nil {
		return err
	}
	if len(rel.files) == 0 {
		fetched.Notes = append(fetched.Notes, source.Note{Text: "nothing proves the content: the registry lists no files of this version"})
		return nil
	}
	for _, want := range rel.files {
		is, ok := have[path.Clean(want.Path)]
		switch {
		case !ok:
			return rel.differs(want.Path, "is listed and not in the download")
		case is.digest != strings.ToLower(want.SHA256) || is.size != want.Size:
			return rel.differs(want.Path, "has another sha256 or size than listed")
		}
		delete(have, path.Clean(want.Path))
	}
	for name := range have {
		if !generated(name) {
			return rel.differs(name, "is in the download and not listed")
		}
	}
	fetched.Checked = append(fetched.Checked, "sha256 of each file, stated by the registry (but of _meta.json and skill-card.md, which it adds)")
	return nil
}

func (rel *release) differs(name, message string) error {
	return &source.RefusedError{
		Reason: fmt.Sprintf("the download of %s %s is not what %s states: %q %s", rel.slug, rel.version, rel.host, name, message),
		Remedy: "do not install it; tell the registry",
	}
}

// checkMeta compares the registry's own file with the version that was asked for.
func (rel *release) checkMeta(into *quarantine.Folder) error {
	name := filepath.Join(into.Path(), filepath.FromSlash(rel.slug), "_meta.json")
	info, err := os.Lstat(name)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxHandoff {
		return nil // it proves nothing
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	var meta struct{ Slug, Version string }
	if json.Unmarshal(data, &meta) != nil {
		return nil
	}
	if meta.Version != "" && meta.Version != rel.version || meta.Slug != "" && meta.Slug != rel.slug && meta.Slug != rel.skill.Skill.Slug {
		return rel.differs("_meta.json", fmt.Sprintf("is of %s %s", printable(meta.Slug, 100), printable(meta.Version, 40)))
	}
	return nil
}

// fetchGitHub fetches a skill from the archive of its repository at a commit.
func (rel *release) fetchGitHub(ctx context.Context, answer io.Reader, r *source.Request, into *quarantine.Folder, fetched *source.Fetched) error {
	var h handoff
	if err := json.NewDecoder(answer).Decode(&h); err != nil || h.SourceRef != "public-github" || !commitID.MatchString(h.Commit) || h.ArchiveURL == "" {
		return &source.RefusedError{Reason: fmt.Sprintf("%s answers with neither an archive nor a commit of GitHub (%q)", rel.host, printable(h.SourceRef, 80)), Remedy: "install the skill from its repository"}
	}
	if rel.commit != "" && rel.commit != h.Commit {
		return fmt.Errorf("%s has the commit %s of %s now, not %s; run update, or install it from github:%s#%s", rel.host, h.Commit, rel.slug, rel.commit, printable(h.Repo, 100), rel.commit)
	}
	at, err := url.Parse(h.ArchiveURL)
	if err != nil {
		return &source.RefusedError{Reason: "the registry names an archive whose URL cannot be read"}
	}
	named := rel.named && at.Scheme == rel.base.Scheme && strings.EqualFold(at.Host, rel.base.Host)
	file, response, err := rel.client.GetFile(ctx, download.Get{URL: h.ArchiveURL, Named: named, Limit: maxArchive, Progress: r.Progress}, filepath.Dir(into.Path()))
	if err != nil {
		return fmt.Errorf("the archive of %s: %w", printable(h.Repo, 100), err)
	}
	defer file.Close()
	if err := into.UnpackPart(ctx, file, response.Size, rel.slug, h.pick); err != nil {
		return err
	}
	fetched.Revision = cmp.Or(rel.version, h.Commit)
	fetched.Checked = append(fetched.Checked, "sha256 of all files at commit "+h.Commit+", stated by the registry")
	return rel.checkHash(into, &h)
}

// pick returns the path in the skill's folder of an entry of the repository's archive,
// whose top folder is the repository's. The root of a repository has no folders: the
// registry's hash is over its files alone.
func (h *handoff) pick(name string) string {
	_, name, _ = strings.Cut(name, "/")
	folder := strings.Trim(path.Clean("/"+h.Path), "/")
	if folder == "" {
		if strings.Contains(name, "/") {
			return ""
		}
		return name
	}
	inside, ok := strings.CutPrefix(name, folder+"/")
	if !ok {
		return ""
	}
	return inside
}

// checkHash compares the content with the registry's hash: sha256 over path, size and
// sha256 of each file. The order is that of JavaScript's localeCompare, or of bytes.
func (rel *release) checkHash(into *quarantine.Folder, h *handoff) error {
	have, err := hashes(into, rel.slug)
	if err != nil {
		return err
	}
	names := make([]string, 0, len(have))
	for name := range have {
		names = append(names, name)
	}
	orders := []func(a, b string) int{collation.Compare, strings.Compare}
	for _, order := range orders {
		slices.SortFunc(names, func(a, b string) int { return cmp.Or(order(a, b), strings.Compare(a, b)) })
		sum := sha256.New()
		for i, name := range names {
			if i > 0 {
				io.WriteString(sum, "\n")
			}
			fmt.Fprintf(sum, "%s\x00%d\x00%s", name, have[name].size, have[name].digest)
		}
		if len(names) > 0 && fmt.Sprintf("%x", sum.Sum(nil)) == strings.ToLower(strings.TrimPrefix(h.ContentHash, "sha256:")) {
			return nil
		}
	}
	return rel.differs(cmp.Or(h.Path, "."), fmt.Sprintf("has another hash at commit %s of %s than listed", h.Commit, printable(h.Repo, 100)))
}

// A hash is the sha256 in hexadecimal, and the size in bytes, of a file.
type hash struct {
	digest string
	size   int64
}

// hashes returns the hashes of the files below a folder of a quarantine, by their path in
// it. A link counts as a file with its target, as in a ZIP file.
func hashes(into *quarantine.Folder, folder string) (map[string]hash, error) {
	all := map[string]hash{}
	for name, target := range into.Links() {
		if inside, ok := strings.CutPrefix(name, folder+"/"); ok {
			all[inside] = hash{fmt.Sprintf("%x", sha256.Sum256([]byte(target))), int64(len(target))}
		}
	}
	root := os.DirFS(filepath.Join(into.Path(), filepath.FromSlash(folder)))
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		f, err := root.Open(name)
		if err != nil {
			return err
		}
		defer f.Close()
		sum := sha256.New()
		n, err := io.Copy(sum, f)
		all[name] = hash{fmt.Sprintf("%x", sum.Sum(nil)), n}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("the download has no files of the skill: %w", err)
	}
	return all, nil
}
