package clawhub

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/skillsmcp/skills-mcp/skills/install/download"
	"github.com/skillsmcp/skills-mcp/skills/install/source"
)

// A release is a version of a skill, as its registry describes it.
type release struct {
	*registry
	owner, slug string // owner is "" if the person named none
	version     string // "" of a skill that GitHub has
	skill       skillAnswer
	files       []file
	security    *security
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
		return fmt.Errorf("%s has no version %q of %s; leave out @%s for the newest", rel.host, rel.version, rel.slug, rel.version)
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
