package server

import (
	"context"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/skills"
)

// fetch returns the skill with its files, if it is one of another server. In asked is the
// result with the questions that the client has to answer first.
func (i *invoker) fetch(r *request, skill *skills.Skill) (_ *skills.Skill, asked *mcp.CallToolResult, err error) {
	if i.servers == nil || i.servers.Fetched(skill.Owner()) {
		return skill, nil, nil
	}
	skill = skill.Owner()
	p := newProgressOf(r, skill.QualifiedName())
	defer p.close()
	call := run.Call{Way: run.WayTool}
	i.complete(&call, r, p)
	_, asked, err = asking(i, r, p, &call, func(ctx context.Context) (struct{}, error) { return struct{}{}, i.servers.Fetch(ctx, skill, &call) })
	if asked != nil || err != nil {
		return nil, asked, err
	}
	if _, _, err = i.find.reloader.Reload(r.ctx); err != nil {
		return nil, nil, err
	}
	fetched, err := i.find.named(r, skill.QualifiedName())
	if err == nil && !i.servers.Fetched(fetched) {
		err = &run.Error{Code: run.Unavailable, Message: "the skill " + skill.QualifiedName() + " has changed on its server; load it again", Retryable: true}
	}
	return fetched, nil, err
}
