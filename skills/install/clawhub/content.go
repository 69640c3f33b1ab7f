package clawhub

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/install/download"
	"github.com/skillsmcp/skills-mcp/skills/install/lock"
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
	return rel.check(ctx, into, fetched)
}

// check compares the files of a hosted version with the registry's list. Links are not
// made yet.
func (rel *release) check(ctx context.Context, into *quarantine.Folder, fetched *source.Fetched) error {
	have, err := lock.Files(ctx, os.DirFS(filepath.Join(into.Path(), rel.slug)))
	if err != nil {
		return fmt.Errorf("the download has no files of the skill: %w", err)
	}
	for name := range into.Links() {
		have[strings.TrimPrefix(name, rel.slug+"/")] = lock.FileState{}
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
		case is.Digest != "sha256:"+strings.ToLower(want.SHA256) || is.Size != want.Size:
			return rel.differs(want.Path, "has another sha256 or size than listed")
		}
		delete(have, path.Clean(want.Path))
	}
	for name := range have {
		if name != "_meta.json" && name != "skill-card.md" { // which the registry makes
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
