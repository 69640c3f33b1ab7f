package server

import (
	"context"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/skillsmcp/skills-mcp/server/complete"
	"github.com/skillsmcp/skills-mcp/server/output"
	"github.com/skillsmcp/skills-mcp/server/skillsext"
	"github.com/skillsmcp/skills-mcp/skills"
)

// A completer answers completion/complete. An argument that it cannot complete has no
// values; a prompt or a resource that does not exist is an error.
type completer struct {
	view   func() *view
	invoke *invoker
}

// CompletePromptArgument completes an argument of a prompt.
func (c completer) CompletePromptArgument(ctx context.Context, prompt string, argument mcp.CompleteArgument, _ mcp.CompleteContext) (*mcp.Completion, error) {
	v := c.view()
	if prompt == anyPrompt {
		if argument.Name != "name" {
			return completion(complete.List{}), nil
		}
		return completion(complete.Of(v.offeredNames(), argument.Value)), nil
	}
	if prompt == installPrompt {
		return completion(complete.List{}), nil
	}
	if skill, err := v.prompted(prompt); err == nil {
		return completion(c.argument(ctx, skill, argument)), nil
	}
	return nil, notFound("prompt", prompt)
}

// CompleteResourceArgument completes a variable of a template.
func (c completer) CompleteResourceArgument(ctx context.Context, uri string, argument mcp.CompleteArgument, _ mcp.CompleteContext) (*mcp.Completion, error) {
	v := c.view()
	switch {
	case uri == output.Template:
		return completion(complete.List{}), nil // nobody types the name of a run
	case uri == skillsext.Template:
		return completion(complete.Of(v.skillPaths(), argument.Value)), nil
	}
	for _, d := range v.declared {
		switch {
		case d.Key() != uri:
		case d.template != nil && slices.Contains(d.template.Varnames(), argument.Name):
			return completion(c.argument(ctx, d.Skill, argument)), nil
		default: // which has no such variable
			return completion(complete.List{}), nil
		}
	}
	return nil, notFound("resource", uri)
}

// skillPaths returns the paths of the skills that resources/list has.
func (v *view) skillPaths() []string {
	var paths []string
	for _, skill := range v.catalog.Skills {
		if skillsext.Listed(skill) {
			paths = append(paths, strings.TrimPrefix(skillsext.URI(skill), skillsext.Scheme))
		}
	}
	return paths
}

// offeredNames returns the names of the skills that a person can use.
func (v *view) offeredNames() []string {
	var names []string
	for _, skill := range v.offered() {
		names = append(names, skill.QualifiedName())
	}
	return names
}

// argument completes an argument of a skill.
func (c completer) argument(ctx context.Context, skill *skills.Skill, argument mcp.CompleteArgument) complete.List {
	if skill.Entry == nil {
		if slices.Contains(skill.Arguments, argument.Name) && isPath(argument.Name) {
			return complete.Paths(c.invoke.workspaces(ctx), argument.Value)
		}
		return complete.List{}
	}
	for _, p := range skill.Entry.Params() {
		switch {
		case p.Name != argument.Name:
		case p.Path:
			return complete.Paths(c.invoke.workspaces(ctx), argument.Value)
		default:
			return complete.Of(p.Choices(), argument.Value)
		}
	}
	return complete.List{}
}

// isPath reports whether an argument of instructions, of which nothing but the
// name is known, is a file or a folder.
func isPath(name string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc([]string{"path", "file", "dir", "directory", "folder"}, func(word string) bool {
		return name == word || strings.HasSuffix(name, "_"+word) || strings.HasSuffix(name, "-"+word)
	})
}

func completion(list complete.List) *mcp.Completion {
	return &mcp.Completion{Values: list.Values, Total: list.Total, HasMore: list.More}
}
