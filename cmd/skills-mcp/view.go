package main

import (
	"context"
	"path/filepath"

	"github.com/skillsmcp/skills-mcp/server"
	"github.com/skillsmcp/skills-mcp/server/describe"
	"github.com/skillsmcp/skills-mcp/server/exposure"
	"github.com/skillsmcp/skills-mcp/server/live"
	"github.com/skillsmcp/skills-mcp/server/skillsext"
	"github.com/skillsmcp/skills-mcp/server/usage"
	"github.com/skillsmcp/skills-mcp/skills"
)

// view describes the skills of a catalog as a server would.
func (s *settings) view(ctx context.Context, catalog *skills.Catalog) *describe.View {
	names := server.ToolNames(catalog.Skills)
	return &describe.View{
		Catalog: catalog, Exposed: s.exposed(ctx, catalog), Library: skillsext.New(catalog, &skillsext.Digests{}),
		Name: func(skill *skills.Skill) string { return names[skill] }, Shadowed: catalog.Shadowed,
		Plan: func(ctx context.Context, skill *skills.Skill) *describe.Plan {
			command, err := s.sandboxes.executor(nil, nil, nil, nil).Plan(ctx, skill, nil)
			return s.sandboxes.description().Plan(skill, command, err)
		},
	}
}

// exposed returns which skills of a catalog a server would make tools.
func (s *settings) exposed(ctx context.Context, catalog *skills.Catalog) *exposure.Exposure {
	options := s.Expose.Options()
	if file := s.usageFile(); file != "" {
		options.Uses = usage.Read(file)
	}
	return server.Expose(catalog, live.Active(ctx, catalog, s.workspaces.folders, s.logger), options)
}

// usageFile returns the file that counts calls of skills, or "".
func (s *settings) usageFile() string {
	if dir := stateDir(s.home); dir != "" {
		return filepath.Join(dir, "usage.json")
	}
	return ""
}
