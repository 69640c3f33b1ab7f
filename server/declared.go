package server

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/skillsmcp/skills-mcp/server/media"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/skillfs"
	"github.com/skillsmcp/skills-mcp/skills/truncate"
	"github.com/skillsmcp/skills-mcp/skills/uritemplate"
)

// maxResource is the largest content of a resource that a skill declares, in
// bytes.
const maxResource = 4 << 20

// declared is a resource of a skill, with its template parsed.
type declared struct {
	skills.Declared
	template *uritemplate.Template // nil where the resource has a URI
}

// declaredBy returns the resources of a catalog that a client can read.
func declaredBy(catalog *skills.Catalog) []declared {
	var all []declared
	for _, r := range catalog.Resources() {
		if r.File == "" && State(r.Skill) != "ready" {
			continue
		}
		d := declared{Declared: r}
		if r.Template != "" {
			var err error
			if d.template, err = uritemplate.Parse(r.Template); err != nil {
				continue // it was read before, so this is never so
			}
		}
		all = append(all, d)
	}
	return all
}

func (v *view) declaredResources() []mcp.Resource {
	all := []mcp.Resource{}
	for _, d := range v.declared {
		if d.template == nil {
			all = append(all, mcp.Resource{URI: d.URI, Name: line(d.Name), Title: line(d.Title), Description: d.describe(), MIMEType: d.MIMEType})
		}
	}
	return all
}

func (v *view) declaredTemplates() []mcp.ResourceTemplate {
	var all []mcp.ResourceTemplate
	for _, d := range v.declared {
		if d.template != nil {
			t := mcp.NewResourceTemplate(d.Template, line(d.Name), mcp.WithTemplateDescription(d.describe()), mcp.WithTemplateMIMEType(d.MIMEType))
			t.Title = line(d.Title)
			all = append(all, t)
		}
	}
	return all
}

// describe returns the description of a resource, with the name of its skill.
func (d declared) describe() string {
	return truncate.String(cmp.Or(d.Description, d.Skill.Description), maxSummary) + " (Skill " + d.Skill.QualifiedName() + ".)"
}

// find returns the resource that a URI names, and the values of its variables.
// One URI goes before all templates, and of these the first that matches.
func (v *view) find(uri string) (d declared, values map[string]string, ok bool) {
	for _, d := range v.declared {
		if d.template == nil && d.URI == uri {
			return d, nil, true
		}
	}
	for _, d := range v.declared {
		if d.template == nil {
			continue
		}
		if values, ok := d.template.Match(uri); ok {
			return d, values, true
		}
	}
	return declared{}, nil, false
}

func (s *resources) readDeclared(ctx context.Context, in mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
	r := newRequest(ctx, in.Params.Meta, s.view())
	uri := in.Params.URI
	d, values, ok := r.view.find(uri)
	if !ok {
		return nil, fmt.Errorf("%s is not there: %w", uri, mcpserver.ErrResourceNotFound)
	}
	if d.File != "" {
		return d.readFile(uri)
	}
	return s.runDeclared(r, d, uri, values)
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
	return contentsOf(uri, cmp.Or(d.MIMEType, media.Type(d.File, data)), data), nil
}

func tooLarge(uri string) error {
	return fmt.Errorf("%s is larger than the %d bytes that can be read at once; its author can split it", uri, maxResource)
}

// runDeclared runs the skill of a resource with the values of the template's variables.
func (s *resources) runDeclared(r *request, d declared, uri string, values map[string]string) ([]mcp.ResourceContents, error) {
	given, err := pickedBy(d.Skill, values)
	if err != nil {
		return nil, s.invoke.protocol(nil, err)
	}
	outcome, asked, err := s.invoke.run(r, run.Request{Skill: d.Skill, Args: given.values})
	if outcome == nil {
		return nil, s.invoke.protocol(asked, err)
	}
	a := newRunReport(s.invoke.outputs, r, d.Skill, outcome, err)
	result := a.skillResult(d.Skill.Entry, outcome)
	switch {
	case result.IsError:
		return nil, s.invoke.protocol(result, nil)
	case a.output.result != nil:
		return convert(uri, result.Content), nil
	}
	return d.contents(uri, outcome)
}

// contents returns the standard output of a run, or else the files that it has left.
func (d declared) contents(uri string, o *run.Outcome) ([]mcp.ResourceContents, error) {
	printed := o.Stdout.Bytes()
	switch {
	case o.Stdout.Truncated() || len(printed) > maxResource:
		return nil, tooLarge(uri)
	case len(bytes.TrimSpace(printed)) > 0 || len(o.Out.Taken) == 0:
		return contentsOf(uri, cmp.Or(d.MIMEType, media.Type("", printed)), printed), nil
	}
	var all []mcp.ResourceContents
	for _, f := range o.Out.Taken {
		all = append(all, contentsOf(uri, media.Type(f.Name, f.Data), f.Data)...)
	}
	return all, nil
}

// convert returns contents of a result as those of a resource.
func convert(uri string, all []mcp.Content) []mcp.ResourceContents {
	var converted []mcp.ResourceContents
	for _, content := range all {
		switch c := content.(type) {
		case mcp.TextContent:
			converted = append(converted, mcp.TextResourceContents{URI: uri, MIMEType: "text/plain", Text: c.Text})
		case mcp.ImageContent:
			converted = append(converted, mcp.BlobResourceContents{URI: uri, MIMEType: c.MIMEType, Blob: c.Data})
		case mcp.AudioContent:
			converted = append(converted, mcp.BlobResourceContents{URI: uri, MIMEType: c.MIMEType, Blob: c.Data})
		case mcp.EmbeddedResource:
			converted = append(converted, c.Resource)
		case mcp.ResourceLink:
			converted = append(converted, mcp.TextResourceContents{URI: uri, MIMEType: "text/uri-list", Text: c.URI + "\r\n"})
		}
	}
	return converted
}
