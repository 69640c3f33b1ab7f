package server

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"unicode/utf8"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"
	"github.com/yosida95/uritemplate/v3"

	"github.com/skillsmcp/skills-mcp/server/describe"
	"github.com/skillsmcp/skills-mcp/server/media"
	"github.com/skillsmcp/skills-mcp/server/result"
	"github.com/skillsmcp/skills-mcp/server/titles"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/skillfs"
	"github.com/skillsmcp/skills-mcp/skills/truncate"
)

// maxResource is the largest content of a resource that a skill declares, in
// bytes.
const maxResource = 4 << 20

// declared is a resource of a skill, with its template parsed.
type declared struct {
	skills.Declared
	template *uritemplate.Template // nil where the resource has a URI
}

// declarations are the declared resources of a catalog, in its order.
type declarations []declared

// declaredBy returns the resources of a catalog that a client can read.
func declaredBy(catalog *skills.Catalog) declarations {
	var all declarations
	for _, r := range catalog.Resources() {
		if r.File == "" && describe.State(r.Skill) != "ready" && (!r.Skill.Entry.Reads() || r.Skill.Unavailable != "" || r.Skill.Blocked != "") {
			continue
		}
		d := declared{Declared: r}
		if r.Template != "" {
			var err error
			if d.template, err = uritemplate.New(r.Template); err != nil {
				continue // it was read before, so this is never so
			}
		}
		all = append(all, d)
	}
	return all
}

// resources returns the resources that have a URI.
func (all declarations) resources() []mcp.Resource {
	list := []mcp.Resource{}
	for _, d := range all {
		if d.template == nil {
			list = append(list, mcp.Resource{URI: d.URI, Name: line(d.Name), Title: d.title(), Description: d.describe(), MIMEType: d.MIMEType})
		}
	}
	return list
}

// templates returns the templates of the others.
func (all declarations) templates() []mcp.ResourceTemplate {
	var list []mcp.ResourceTemplate
	for _, d := range all {
		if d.template != nil {
			t := mcp.NewResourceTemplate(d.Template, line(d.Name), mcp.WithTemplateDescription(d.describe()), mcp.WithTemplateMIMEType(d.MIMEType))
			t.Title = d.title()
			list = append(list, t)
		}
	}
	return list
}

// find returns the resource that a URI names, and the values of its variables.
// One URI goes before all templates, and of these the first that matches.
func (all declarations) find(uri string) (d declared, values map[string]string, ok bool) {
	for _, d := range all {
		if d.template == nil && d.URI == uri {
			return d, nil, true
		}
	}
	for _, d := range all {
		if d.template == nil {
			continue
		}
		if values := d.values(uri); values != nil {
			return d, values, true
		}
	}
	return declared{}, nil, false
}

// values returns the values of the variables with which the template is a URI, each valid
// UTF-8 and not empty; nil where it is not.
func (d declared) values(uri string) map[string]string {
	found, values := d.template.Match(uri), map[string]string{}
	for _, name := range d.template.Varnames() {
		value := found.Get(name).String()
		if value == "" || !utf8.ValidString(value) {
			return nil
		}
		values[name] = value
	}
	return values
}

// describe returns the description of a resource, with the name of its skill.
func (d declared) describe() string {
	return truncate.String(cmp.Or(d.Description, d.Skill.Description), maxSummary) + " (Skill " + d.Skill.QualifiedName() + ".)"
}

// title returns the name that clients show a person; "" is that of a file.
func (d declared) title() string {
	if d.Title != "" || strings.Contains(d.Name, ".") {
		return line(d.Title)
	}
	return titles.Readable(d.Name, d.Description)
}

// readFile reads a file of the skill's folder.
func (d declared) readFile(uri string) ([]mcp.ResourceContents, error) {
	data, err := skillfs.ReadRegular(d.Skill.Files, d.File, maxResource)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%s is not there, or not any more: %w", uri, mcpserver.ErrResourceNotFound)
	case errors.Is(err, skillfs.ErrTooLarge):
		return nil, tooLarge(uri)
	case err != nil:
		return nil, fmt.Errorf("read %s: %w", uri, err)
	}
	return []mcp.ResourceContents{result.Resource(uri, cmp.Or(d.MIMEType, media.Type(d.File, data)), data)}, nil
}

func tooLarge(uri string) error {
	return fmt.Errorf("%s is larger than the %d bytes that can be read at once; its author can split it", uri, maxResource)
}
