package clawhub

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/install/download"
	"github.com/skillsmcp/skills-mcp/skills/install/quarantine"
	"github.com/skillsmcp/skills-mcp/skills/install/source"
)

// maxHandoff bounds an answer that points to GitHub, in bytes.
const maxHandoff = 64 << 10

// A handoff is the answer to a download of a skill that GitHub has.
type handoff struct {
	SourceRef string `json:"sourceRef"`
	Repo      string `json:"repo"`
	Commit    string `json:"commit"`
	Path      string `json:"path"`
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
		var h handoff
		_ = json.NewDecoder(io.NewSectionReader(file, 0, min(response.Size, maxHandoff))).Decode(&h) // names nothing
		return rel.onGitHub(&h)
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

// onGitHub returns the error for a skill whose files GitHub has, with the source to write.
func (rel *release) onGitHub(h *handoff) error {
	remedy := "install it from its repository"
	if source.IsCommit(h.Commit) {
		at := source.Source{Kind: source.Git, Location: "https://github.com/" + h.Repo + ".git", Ref: h.Commit, Path: strings.Trim(h.Path, "/")}
		remedy += ": " + printable(at.String(), maxMessage)
	}
	return &source.RefusedError{Reason: fmt.Sprintf("%s has no files of %s, only the name of a repository", rel.host, rel.slug), Remedy: remedy}
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
