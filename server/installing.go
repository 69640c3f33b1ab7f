package server

import (
	"context"
	"fmt"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/skills"
)

type installArgs struct {
	Name   string `json:"name,omitempty" jsonschema_description:"Which one, if it has several, or of clawhub."`
	Source string `json:"source" jsonschema_description:"As owner/repo, a URL, or clawhub."`
}

// newInstallTool returns install_skill.
func newInstallTool(m *toolMaker, invoke *invoker, installer Installer) mcpserver.ServerTool {
	return fixedTool[installArgs]{
		name: string(run.WayInstall), title: "Install a skill", writes: true, granted: true,
		description: "Install a skill from elsewhere, if the person, who is asked, says yes.",
		handle: func(r *request, args installArgs) (any, error) {
			return invoke.asTask(r, skills.TaskLong, func(r *request) (*mcp.CallToolResult, error) {
				return invoke.install(r, installer, args)
			})
		},
	}.tool(m)
}

// install installs a skill for a client, after the person's yes.
func (i *invoker) install(r *request, installer Installer, args installArgs) (*mcp.CallToolResult, error) {
	p := newProgressOf(r, string(run.WayInstall))
	defer p.close()
	req := run.InstallRequest{Call: run.Call{Way: run.WayInstall}, Name: args.Name, Source: args.Source}
	i.complete(&req.Call, r, p)
	var prepared Installation
	req.Prepare = func(ctx context.Context) (_ run.Installation, err error) {
		prepared, err = installer.Prepare(ctx, args.Name, args.Source, req.Progress)
		return prepared, err
	}
	result, asked, err := asking(i, r, p, &req.Call, func(ctx context.Context) (any, error) {
		if err := i.executor.Install(ctx, req); err != nil {
			return nil, err
		}
		return prepared.Installed(), nil
	})
	if missing := missingCapability(r.ctx, err); missing != nil {
		return nil, missing
	}
	if asked != nil || err != nil {
		return asked, err
	}
	return reply(result)
}

// promptToInstall returns the prompt that has a model install a skill.
func promptToInstall() mcp.Prompt {
	return mcp.Prompt{
		Name:        installPrompt,
		Title:       "Install a skill",
		Description: "Have a skill installed from elsewhere. You are shown what it could do, and asked, before anything changes.",
		Arguments: []mcp.PromptArgument{
			{Name: "source", Description: "Where it is, such as owner/repo or a URL.", Required: true},
			{Name: "name", Description: "Which one, if there are several."},
		},
	}
}

// askToInstall returns the message of the prompt.
func askToInstall(given map[string]string) (*mcp.CallToolResult, error) {
	if given["source"] == "" {
		return nil, &run.Error{Code: run.InvalidParam, Message: `"source" is missing; say where the skill is, such as owner/repo`}
	}
	which := "the skill"
	if given["name"] != "" {
		which = fmt.Sprintf("the skill %q", given["name"])
	}
	text := fmt.Sprintf("Install %s from %q with the tool %s. It asks me before anything changes; do not answer for me. Afterwards tell me in a few words what the skill is for and how I use it.", which, given["source"], run.WayInstall)
	return &mcp.CallToolResult{Content: []mcp.Content{mcp.NewTextContent(text)}}, nil
}
