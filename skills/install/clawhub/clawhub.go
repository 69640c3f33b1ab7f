// Package clawhub fetches skills from ClawHub registries, with their security verdicts:
// malware is refused, and everything else but clean is a note that the person decides by.
//
// Start with [New].
package clawhub

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/install/download"
	"github.com/skillsmcp/skills-mcp/skills/install/quarantine"
	"github.com/skillsmcp/skills-mcp/skills/install/source"
	"github.com/skillsmcp/skills-mcp/skills/lazyregexp"
)

// DefaultRegistry is the registry of sources that name none.
const DefaultRegistry = "https://clawhub.ai"

// Options configure a [Fetcher]. The zero value is usable.
type Options struct {
	// Registry is the URL of the default registry; "" is DefaultRegistry.
	Registry string
}

// A Fetcher fetches sources of kind [source.ClawHub].
type Fetcher struct {
	client   *download.Client
	registry string
}

// New returns a fetcher. The client stays the caller's. Nil options are the defaults.
func New(client *download.Client, o *Options) *Fetcher {
	f := &Fetcher{client, DefaultRegistry}
	if o != nil {
		f.registry = cmp.Or(o.Registry, f.registry)
	}
	return f
}

var commitID = lazyregexp.New(`^[0-9a-f]{40}$`)

// A release is a version of a skill, as its registry describes it.
type release struct {
	*registry
	owner, slug string // owner is "" if the person named none
	version     string // "" of a skill that GitHub has
	commit      string // of a skill that GitHub has: the wanted one, "" any
	skill       skillAnswer
	files       []file
	security    *security
}

// Fetch implements the interface of package install. The only tree is a folder of the
// skill's slug. It has _meta.json, which the registry adds, as the clawhub tool installs
// it, too.
func (f *Fetcher) Fetch(ctx context.Context, r source.Request, into *quarantine.Folder) (*source.Fetched, error) {
	for _, name := range r.Names { // as a ChoiceError lists them
		if owner, slug, ok := strings.Cut(name, "/"); ok && len(r.Names) == 1 && strings.HasSuffix("/"+r.Source.Name, "/"+slug) {
			r.Source.Name = owner + "/" + slug
		}
	}
	rel, err := f.find(ctx, r.Source, r.Named)
	if err != nil {
		return nil, err
	}
	fetched := &source.Fetched{Revision: rel.version, Trees: []source.Tree{{Path: rel.slug}}}
	if err := rel.judge(ctx, fetched); err != nil {
		return nil, err
	}
	if err := rel.fetch(ctx, &r, into, fetched); err != nil {
		return nil, err
	}
	return fetched, nil
}

// Revision implements the interface of package install. It is a version, or the commit of
// a skill that GitHub has.
func (f *Fetcher) Revision(ctx context.Context, s source.Source) (string, error) {
	rel, err := f.skill(ctx, s, true)
	if err != nil || rel.version != "" {
		return rel.version, err
	}
	return rel.resolveGitHub(ctx)
}

// find returns the release of a source, with its files and state of security.
func (f *Fetcher) find(ctx context.Context, s source.Source, named bool) (*release, error) {
	rel, err := f.skill(ctx, s, named)
	if err != nil {
		return nil, err
	}
	if rel.version == "" {
		_, err := rel.resolveGitHub(ctx)
		return rel, err
	}
	return rel, rel.details(ctx)
}

// skill returns the release of a source without its details.
func (f *Fetcher) skill(ctx context.Context, s source.Source, named bool) (*release, error) {
	rel := &release{slug: s.Name}
	if owner, slug, ok := strings.Cut(s.Name, "/"); ok {
		rel.owner, rel.slug = owner, slug
	}
	var err error
	if rel.registry, err = f.open(ctx, s.Location, named); err != nil {
		return rel, err
	}
	if err := rel.get(ctx, rel.path(""), rel.query(), &rel.skill); err != nil {
		return rel, rel.explain(err, fmt.Sprintf("skill %q", s.Name))
	}
	switch tag := rel.skill.tag(s.Ref); {
	case commitID.MatchString(s.Ref):
		rel.commit = s.Ref
	case s.Ref == "" && rel.skill.LatestVersion != nil:
		rel.version = rel.skill.LatestVersion.Version
	default:
		rel.version = cmp.Or(tag, s.Ref)
	}
	return rel, nil
}

// path returns the path of a call for the skill.
func (rel *release) path(rest string) string {
	return "/skills/" + url.PathEscape(rel.slug) + rest
}

// query returns the parameters that tell the owner, which registries of different age
// read by different names.
func (rel *release) query() url.Values {
	if rel.owner == "" {
		return url.Values{}
	}
	return url.Values{"ownerHandle": {rel.owner}, "owner": {rel.owner}}
}

// details gets the files and the state of security of a version.
func (rel *release) details(ctx context.Context) error {
	var answer versionAnswer
	err := rel.get(ctx, rel.path("/versions/"+url.PathEscape(rel.version)), rel.query(), &answer)
	var status *download.StatusError
	switch {
	case errors.As(err, &status) && status.Status == http.StatusNotFound:
		return rel.noVersion(ctx)
	case err != nil:
		return rel.explain(err, fmt.Sprintf("version %s of %s", rel.version, rel.slug))
	case answer.withdrawn():
		return &source.RefusedError{
			Reason: fmt.Sprintf("version %s of %s was withdrawn from %s", rel.version, rel.slug, rel.host),
			Remedy: "leave out @" + rel.version + " for the newest",
		}
	}
	rel.files, rel.security = answer.Version.Files, answer.Version.Security
	if len(rel.files) > maxFiles {
		return &source.RefusedError{Reason: fmt.Sprintf("the registry lists %d files; %d are the limit", len(rel.files), maxFiles)}
	}
	return nil
}

// noVersion returns the error for a version that is not there, with the newest ones.
func (rel *release) noVersion(ctx context.Context) error {
	var list struct {
		Items []struct {
			Version string `json:"version"`
		} `json:"items"`
	}
	query := rel.query()
	query.Set("limit", "12")
	text := ""
	if err := rel.get(ctx, rel.path("/versions"), query, &list); err == nil {
		var versions []string
		for _, item := range list.Items[:min(12, len(list.Items))] {
			versions = append(versions, printable(item.Version, 40))
		}
		text = "; it has " + strings.Join(versions, ", ")
	}
	return fmt.Errorf("%s has no version %q of %s%s", rel.host, rel.version, rel.slug, text)
}

// resolveGitHub asks where to install a skill from that GitHub has, and returns its
// commit.
func (rel *release) resolveGitHub(ctx context.Context) (string, error) {
	var answer installAnswer
	if err := rel.get(ctx, rel.path("/install"), rel.query(), &answer); err != nil {
		return "", rel.explain(err, "skill "+rel.slug)
	}
	switch {
	case !answer.OK:
		return "", rel.refused(cmp.Or(answer.Message, answer.Reason), answer.Reason)
	case answer.InstallKind == "github" && commitID.MatchString(answer.GitHub.Commit):
		return answer.GitHub.Commit, nil
	}
	return "", fmt.Errorf("%s has no version of %s to install", rel.host, rel.slug)
}
