package skillsext

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io/fs"

	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/check"
	"github.com/skillsmcp/skills-mcp/skills/manifest"
	"github.com/skillsmcp/skills-mcp/skills/skillfs"
)

// dynamic takes the place of the resources of a skill that exceeds the limits of hosts.
const dynamic = "dynamic"

// An Entry describes a skill.
type Entry struct {
	URI string `json:"uri"`
	// Frontmatter is the frontmatter of SKILL.md, verbatim.
	Frontmatter map[string]any `json:"frontmatter"`
	// Resources are a []Resource, of all files; or "dynamic".
	Resources any `json:"resources"`
}

// Get returns the entry of the skill whose SKILL.md is at a URI. The error is a
// [*NotServedError] if there is none, or none that conforms to the extension.
func (l *Library) Get(ctx context.Context, uri string) (*Entry, error) {
	skill, name, ok := l.find(uri)
	if !ok || name != skillFile {
		return nil, &NotServedError{"no skill is served at " + short(uri) + "; skills/list names those that are"}
	}
	return l.entry(ctx, skill)
}

// Unlisted returns the reason why skills/list omits a skill, or "".
func (l *Library) Unlisted(ctx context.Context, skill *skills.Skill) string {
	if !Has(skill) {
		return "it has no SKILL.md of its own"
	}
	if !skill.ModelInvocable {
		return cmp.Or(skill.Unavailable, "only a person may call it")
	}
	if _, err := l.entry(ctx, skill); err != nil {
		return err.Error()
	}
	return ""
}

// entry returns the entry of a skill, from the current files of its folder.
func (l *Library) entry(ctx context.Context, skill *skills.Skill) (*Entry, error) {
	if skill.Blocked != "" {
		return nil, &NotServedError{skill.Blocked}
	}
	files, release, err := skillfs.Hold(skill.Files)
	if err != nil {
		return nil, err
	}
	defer release()
	data, err := l.readSkillFile(skill, files)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, unfit(skill, "its SKILL.md is gone")
	} else if err != nil {
		return nil, err
	}
	front, err := frontmatter(skill, data)
	if err != nil {
		return nil, err
	}
	resources, err := l.resources(ctx, skill, files, data)
	if err != nil {
		return nil, err
	}
	return &Entry{URI(skill), front, resources}, nil
}

// frontmatter returns the frontmatter of a SKILL.md. The extension demands that it conforms
// to the Agent Skills standard, and that its name is the one in the skill's URI. Of the
// standard's fields, hosts check these three: the official SDK refuses a whole list for
// one metadata that is no map of texts.
func frontmatter(skill *skills.Skill, data []byte) (map[string]any, error) {
	for _, f := range check.Standard(data, "") {
		if f.Key == "" || f.Key == "name" || f.Key == "description" || f.Key == "metadata" {
			return nil, unfit(skill, f.Message)
		}
	}
	if bytes.HasPrefix(data, []byte("\ufeff")) {
		return nil, unfit(skill, "it begins with a byte order mark, not with frontmatter")
	}
	front, err := manifest.Frontmatter(data)
	if err != nil {
		return nil, unfit(skill, err.Error())
	}
	if front["name"] != skill.Name {
		return nil, unfit(skill, "its name has changed since it was read")
	}
	return front, nil
}

func unfit(skill *skills.Skill, why string) error {
	return &NotServedError{"skill " + skill.QualifiedName() + " does not conform to the Skills extension: " + why}
}

// resources returns the descriptions of all files, or "dynamic". data is the content of
// SKILL.md: its digest must be of the bytes that the frontmatter was read from.
func (l *Library) resources(ctx context.Context, skill *skills.Skill, files fs.FS, data []byte) (any, error) {
	items, excess, err := tree(ctx, files)
	if err != nil {
		return nil, err
	}
	if excess {
		return dynamic, nil
	}
	all := make([]Resource, 0, len(items))
	for _, item := range items {
		if item.name == skillFile {
			all = append(all, resource(URI(skill), data))
			continue
		}
		r, err := l.digests.of(skill, files, item.name, item.info)
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, nil
}
