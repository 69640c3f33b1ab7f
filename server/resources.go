package server

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/skillsmcp/skills-mcp/server/media"
	"github.com/skillsmcp/skills-mcp/server/output"
	"github.com/skillsmcp/skills-mcp/server/result"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/server/skillsext"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/truncate"
)

// resources answer the requests of clients for resources.
type resources struct {
	view   func() *view
	invoke *invoker                                             // runs the skills behind resources
	texts  func(ctx context.Context, skill *skills.Skill) error // of the options
}

func (s *resources) read(ctx context.Context, in mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
	switch uri := in.Params.URI; {
	case strings.HasPrefix(uri, output.Scheme):
		return readOutput(s.invoke.outputs, owner(ctx), uri)
	case strings.HasPrefix(uri, skillsext.Scheme):
		return s.readSkillFile(ctx, in)
	}
	return s.readDeclared(ctx, in)
}

func (s *resources) readDeclared(ctx context.Context, in mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
	r := newRequest(ctx, in.Params.Meta, s.view())
	uri := in.Params.URI
	if reader, own := r.view.catalog.Read(uri); reader != nil {
		return s.run(r, declared{Declared: skills.Declared{Skill: reader}}, uri, map[string]string{"uri": own})
	}
	d, values, ok := r.view.declared.find(uri)
	if !ok {
		return nil, fmt.Errorf("%s is not there: %w", uri, mcpserver.ErrResourceNotFound)
	}
	if d.File != "" {
		if err := s.texts(ctx, d.Skill); err != nil {
			return nil, s.invoke.protocol(nil, err)
		}
		return d.readFile(uri)
	}
	return s.run(r, d, uri, values)
}

// run returns the output of the skill of a resource, which runs with the values of the
// template's variables.
func (s *resources) run(r *request, d declared, uri string, values map[string]string) ([]mcp.ResourceContents, error) {
	given, err := pickedBy(d.Skill, values)
	if err != nil {
		return nil, s.invoke.protocol(nil, err)
	}
	report, asked, err := s.invoke.run(r, run.Request{Call: run.Call{Way: run.WayResource}, Skill: d.Skill, Args: given.values, Picked: d.Skill.Entry.Reads()})
	if report == nil {
		return nil, s.invoke.protocol(asked, err)
	}
	answer := report.ToolResult(d.Skill.Entry)
	switch {
	case answer.IsError:
		return nil, s.invoke.protocol(answer, nil)
	case d.Skill.Entry.Reads(): // what it prints beside is no content
		answer.Content = slices.DeleteFunc(answer.Content, func(c mcp.Content) bool { _, ok := c.(mcp.EmbeddedResource); return !ok })
		return append([]mcp.ResourceContents{}, result.Resources(uri, answer.Content)...), nil
	case report.Parsed():
		return result.Resources(uri, answer.Content), nil
	}
	return outputContents(uri, d.MIMEType, report.Outcome)
}

// outputContents returns the standard output of a run, or else the files that it left.
func outputContents(uri, mediaType string, o *run.Outcome) ([]mcp.ResourceContents, error) {
	printed := o.Stdout.Bytes()
	switch {
	case o.Stdout.Truncated() || len(printed) > maxResource:
		return nil, tooLarge(uri)
	case len(bytes.TrimSpace(printed)) > 0 || len(o.Out.Taken) == 0:
		return []mcp.ResourceContents{result.Resource(uri, cmp.Or(mediaType, media.Type("", printed)), printed)}, nil
	}
	var all []mcp.ResourceContents
	for _, f := range o.Out.Taken {
		all = append(all, result.Resource(uri, media.Type(f.Name, f.Data), f.Data))
	}
	return all, nil
}

// skillTemplate returns the template of the files of skills.
func skillTemplate() mcp.ResourceTemplate {
	return mcp.NewResourceTemplate(skillsext.Template, "skill file", mcp.WithTemplateTitle("Skill file"), mcp.WithTemplateDescription(
		"A file of a skill: NAME/SKILL.md, PLUGIN/NAME/SKILL.md, and the paths beside it. resources/directory/read lists folders."))
}

func (s *resources) readSkillFile(ctx context.Context, in mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
	uri, library := in.Params.URI, s.view().served(ctx)
	if skill := library.Skill(uri); skill != nil {
		if err := s.texts(ctx, skill); err != nil {
			return nil, s.invoke.protocol(nil, err)
		}
	}
	file, err := library.Read(uri)
	if why := (*skillsext.NotServedError)(nil); errors.As(err, &why) {
		return nil, fmt.Errorf("%s: %w", why.Message, mcpserver.ErrResourceNotFound)
	} else if err != nil {
		return nil, fmt.Errorf("read %s: %w", uri, err)
	}
	return []mcp.ResourceContents{result.Resource(uri, media.Type(file.Name, file.Data), file.Data)}, nil
}

// skillResource returns a skill's SKILL.md as an item of a list of resources.
func (v *view) skillResource(skill *skills.Skill) mcp.Resource {
	description, ok := skill.Frontmatter["description"].(string)
	if !ok {
		description = skill.Description
	}
	return mcp.Resource{
		URI: skillsext.URI(skill), Name: skill.Name, Title: v.titles.Of(skill),
		Description: truncate.String(description, maxDescription), MIMEType: "text/markdown",
	}
}

// list fills in the answer to resources/list. Declared resources come
// before all others, on the first page.
func (s *resources) list(_ context.Context, _ any, in *mcp.ListResourcesRequest, out *mcp.ListResourcesResult) {
	v := s.view()
	listed, next, err := v.library.Listing(string(in.Params.Cursor))
	if err != nil {
		return // mcp-go has refused a cursor that is none
	}
	out.Resources = []mcp.Resource{}
	if in.Params.Cursor == "" {
		out.Resources = v.declared.resources()
	}
	for _, skill := range listed {
		out.Resources = append(out.Resources, v.skillResource(skill))
	}
	out.NextCursor = mcp.Cursor(next)
}
