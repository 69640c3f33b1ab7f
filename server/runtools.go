package server

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/skills"
)

// runTools make the tools that run skills and code.
type runTools struct {
	*toolMaker
	find    *finder
	invoke  *invoker
	kept    bool // sandboxes may be kept between calls
	anyCode bool // code may run without a skill that has a grant for it
}

// codeRuns reports whether code may run.
func (t *runTools) codeRuns(v *view) bool {
	return t.anyCode || slices.ContainsFunc(v.catalog.Skills, func(skill *skills.Skill) bool {
		_, granted := t.invoke.executor.CodeHosts(context.Background(), identity.Principal{Kind: identity.Model}, skill) // a publication is of no request
		return granted
	})
}

// hiddenArgs returns the arguments that are not offered, because there are no sessions.
func (t *runTools) hiddenArgs() []string {
	if t.kept {
		return nil
	}
	return []string{"container_id"}
}

// session returns the ID of a session from the argument container_id. One with the folder of
// a skill that exists no more for the principal ends.
func (t *runTools) session(r *request, id string) (string, error) {
	switch {
	case id == "":
		return "", nil
	case !t.kept:
		return "", &run.Error{Code: run.InvalidParam, Message: `"container_id" is not used: sandboxes are not kept here; leave it out (a person can set tools.kept_sandboxes in the configuration)`}
	}
	if skill := run.SessionSkill(t.invoke.executor, r.principal.Key(), id); skill != "" {
		if _, err := t.find.named(r, skill); err != nil {
			return "", errors.Join(err, t.invoke.executor.CloseSession(r.ctx, r.principal.Key(), id))
		}
	}
	return id, nil
}

type runArgs struct {
	Name    string         `json:"name" jsonschema_description:"The skill's name, plugin/name, or its tool's name."`
	Params  map[string]any `json:"params,omitempty" jsonschema_description:"The skill's parameters; get_skill describes them."`
	Timeout *float64       `json:"timeout_seconds,omitempty" jsonschema:"exclusiveMinimum=0" jsonschema_description:"Stop it after this time instead of its own, if the server allows that."`

	Write       bool   `json:"write,omitempty" jsonschema_description:"Let it edit the workspace in place: the person is asked."`
	ContainerID string `json:"container_id,omitempty" jsonschema_description:"Run it in this sandbox that open_sandbox opened for the skill."`
}

func (t *runTools) runSkill() mcpserver.ServerTool {
	return fixedTool[runArgs]{
		name: "run_skill", title: "Run a skill", writes: true, granted: true, meta: map[string]any{alwaysLoad: true, resultChars: maxResultChars}, hidden: t.hiddenArgs(),
		description: "Run an executable skill in a fresh sandbox and return its exit code and output. Reaches every such skill, also those without a tool of their own; get_skill tells their parameters.",
		handle: func(r *request, args runArgs) (any, error) {
			skill, err := t.find.named(r, args.Name)
			if err != nil {
				return nil, err
			}
			if args.Write {
				skill = run.Writing(skill)
			}
			req := run.Request{Call: run.Call{Way: run.WayRunSkill}, Skill: skill}
			// Not those of args: here numbers are as they were written.
			req.Args, _ = r.args["params"].(map[string]any)
			if req.Timeout, err = seconds(args.Timeout); err != nil {
				return nil, err
			}
			if req.Session, err = t.session(r, args.ContainerID); err != nil {
				return nil, err
			}
			return t.invoke.asTask(r, skill.Task, func(r *request) (*mcp.CallToolResult, error) { return t.invoke.report(r, req) })
		},
	}.tool(t.toolMaker)
}

type openArgs struct {
	Skill     string `json:"skill,omitempty" jsonschema_description:"The skill whose folder is at /skill; none by default."`
	ImageRole string `json:"image_role,omitempty" jsonschema_description:"The image, by default the skill's own."`
	Workspace string `json:"workspace,omitempty" jsonschema_description:"The only workspace to be seen, an absolute path."`
}

// opened is the result of open_sandbox.
type opened struct {
	ContainerID string   `json:"container_id"`
	Skill       string   `json:"skill,omitempty"`
	Digest      string   `json:"digest,omitempty"`
	ImageRole   string   `json:"image_role,omitempty"`
	Workspaces  []string `json:"workspaces"`
	Idle        float64  `json:"idle_seconds"`
	Lifetime    float64  `json:"lifetime_seconds"`
}

func (t *runTools) openSandbox() mcpserver.ServerTool {
	return fixedTool[openArgs]{
		name: "open_sandbox", title: "Open a sandbox", returns: opened{},
		description: "Open a sandbox that keeps files in /tmp and /out, and processes, between calls: pass its container_id to run_skill or run_code. Workspaces are read-only, there is no network. It ends when it is idle, after its lifetime, or with close_sandbox.",
		handle: func(r *request, args openArgs) (any, error) {
			skill, err := t.find.optional(r, args.Skill)
			if err != nil {
				return nil, err
			}
			session, err := t.invoke.openSession(r, run.OpenRequest{Call: run.Call{Way: run.WaySession}, Skill: skill, Role: args.ImageRole, Workspace: args.Workspace})
			if err != nil {
				return nil, err
			}
			answer := opened{
				ContainerID: session.ID, Digest: session.Digest, ImageRole: session.Role,
				Workspaces: append([]string{}, session.Workspaces...), Idle: session.Idle.Seconds(), Lifetime: session.Lifetime.Seconds(),
			}
			if skill != nil {
				answer.Skill = skill.QualifiedName()
			}
			return answer, nil
		},
	}.tool(t.toolMaker)
}

type closeArgs struct {
	ContainerID string `json:"container_id" jsonschema_description:"What open_sandbox returned."`
}

// closed is the result of close_sandbox.
type closed struct {
	Closed string `json:"closed"`
}

func (t *runTools) closeSandbox() mcpserver.ServerTool {
	return fixedTool[closeArgs]{
		name: "close_sandbox", title: "Close a sandbox", returns: closed{},
		description: "End a sandbox of open_sandbox, with all files and processes in it.",
		handle: func(r *request, args closeArgs) (any, error) {
			return closed{args.ContainerID}, t.invoke.executor.CloseSession(r.ctx, r.principal.Key(), args.ContainerID)
		},
	}.tool(t.toolMaker)
}

type codeArgs struct {
	Language    string   `json:"language" jsonschema:"enum=bash,enum=python,enum=node,enum=typescript"`
	Code        string   `json:"code" jsonschema_description:"The program. Its standard input is empty."`
	Args        []string `json:"args,omitempty" jsonschema_description:"Its arguments."`
	Skill       string   `json:"skill,omitempty" jsonschema_description:"The skill whose instructions you follow. Its folder is the working directory, /skill."`
	Timeout     *float64 `json:"timeout_seconds,omitempty" jsonschema:"exclusiveMinimum=0" jsonschema_description:"Stop the program after this time, if it may take longer."`
	ContainerID string   `json:"container_id,omitempty" jsonschema_description:"Run it in this sandbox of open_sandbox instead of a fresh one."`
}

func (t *runTools) runCode() mcpserver.ServerTool {
	bare := "Else workspaces are read-only, without network."
	if !t.anyCode {
		bare = "It needs such a skill."
	}
	return fixedTool[codeArgs]{
		name: "run_code", title: "Run code", writes: true, granted: true, meta: map[string]any{resultChars: maxResultChars}, hidden: t.hiddenArgs(),
		description: "Run a program that you wrote, such as a skill's instructions ask for, in a fresh sandbox, and return its exit code, output and files in /out. With skill, it has what the person granted that skill, such as hosts, and they may be asked. " + bare,
		handle: func(r *request, args codeArgs) (any, error) {
			req := run.CodeRequest{Call: run.Call{Way: run.WayCode}, Language: args.Language, Code: args.Code, Args: args.Args}
			var err error
			if req.Timeout, err = seconds(args.Timeout); err != nil {
				return nil, err
			}
			if req.Session, err = t.session(r, args.ContainerID); err != nil {
				return nil, err
			}
			if req.Skill, err = t.find.optional(r, args.Skill); err != nil {
				return nil, err
			}
			return t.invoke.asTask(r, skills.TaskLong, func(r *request) (*mcp.CallToolResult, error) {
				return t.invoke.reportCode(r, req)
			})
		},
	}.tool(t.toolMaker)
}

// seconds returns the argument timeout_seconds; 0 if it is left out.
func seconds(n *float64) (time.Duration, error) {
	if n == nil {
		return 0, nil
	}
	return run.Seconds("timeout_seconds", *n)
}
