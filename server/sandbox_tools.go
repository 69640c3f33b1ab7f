package server

import (
	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/skills"
)

// sandboxTools are the tools that the person has turned on.
func (s *Server) sandboxTools() []mcpserver.ServerTool {
	var tools []mcpserver.ServerTool
	if s.options.KeptSandboxes {
		tools = append(tools, s.openSandboxTool(), s.closeSandboxTool())
	}
	if s.options.RunCode {
		tools = append(tools, s.runCodeTool())
	}
	return tools
}

// hiddenArgs returns the arguments that are not offered, because there are no sessions.
func (s *Server) hiddenArgs() []string {
	if s.options.KeptSandboxes {
		return nil
	}
	return []string{"container_id"}
}

// session returns the ID of a session from the argument container_id.
func (s *Server) session(id string) (string, error) {
	if id != "" && !s.options.KeptSandboxes {
		return "", &run.Error{Code: run.InvalidParam, Message: `"container_id" is not used: sandboxes are not kept here; leave it out (a person can set tools.kept_sandboxes in the configuration)`}
	}
	return id, nil
}

type openArgs struct {
	Skill     string `json:"skill,omitempty" jsonschema_description:"The skill whose folder is to be at /skill; without it there is none."`
	ImageRole string `json:"image_role,omitempty" jsonschema_description:"The image to use: the skill's own, or the default one, when left out."`
	Workspace string `json:"workspace,omitempty" jsonschema_description:"The only workspace to be seen, as an absolute path; all of them when left out."`
}

// opened is what open_sandbox returns.
type opened struct {
	ContainerID string   `json:"container_id"`
	Skill       string   `json:"skill,omitempty"`
	Digest      string   `json:"digest,omitempty"`
	ImageRole   string   `json:"image_role,omitempty"`
	Workspaces  []string `json:"workspaces"`
	Idle        float64  `json:"idle_seconds"`
	Lifetime    float64  `json:"lifetime_seconds"`
}

func (s *Server) openSandboxTool() mcpserver.ServerTool {
	return fixedTool[openArgs]{
		name: "open_sandbox", title: "Open a sandbox", runs: true,
		description: "Open a sandbox that keeps files in /tmp and /out, and processes, between calls: pass its container_id to run_skill or run_code. Workspaces are read-only, there is no network. It ends when it is idle, after its lifetime, or with close_sandbox.",
		handle: func(r *request, args openArgs) (any, error) {
			skill, err := s.optional(r, args.Skill)
			if err != nil {
				return nil, err
			}
			progress := s.progress(r, "open_sandbox")
			defer progress.close()
			session, err := s.calls.OpenSession(r.ctx, run.OpenRequest{
				Call: s.call(r, progress), Skill: skill, Role: args.ImageRole, Workspace: args.Workspace,
			})
			if err != nil {
				return nil, err
			}
			return opened{
				ContainerID: session.ID, Skill: nameOf(skill), Digest: session.Digest, ImageRole: session.Role,
				Workspaces: append([]string{}, session.Workspaces...), Idle: session.Idle.Seconds(), Lifetime: session.Lifetime.Seconds(),
			}, nil
		},
	}.tool(s)
}

// optional returns the skill of that name, or nil where there is no name.
func (s *Server) optional(r *request, name string) (*skills.Skill, error) {
	if name == "" {
		return nil, nil
	}
	return s.lookup(r, name)
}

// nameOf is the name of a skill, which may be nil.
func nameOf(skill *skills.Skill) string {
	if skill == nil {
		return ""
	}
	return skill.QualifiedName()
}

type closeArgs struct {
	ContainerID string `json:"container_id" jsonschema_description:"What open_sandbox returned."`
}

// closed is what close_sandbox returns.
type closed struct {
	Closed string `json:"closed"`
}

func (s *Server) closeSandboxTool() mcpserver.ServerTool {
	return fixedTool[closeArgs]{
		name: "close_sandbox", title: "Close a sandbox", runs: true,
		description: "End a sandbox of open_sandbox, with all files and processes in it.",
		handle: func(r *request, args closeArgs) (any, error) {
			return closed{args.ContainerID}, s.calls.CloseSession(r.ctx, r.principal.Key(), args.ContainerID)
		},
	}.tool(s)
}

type codeArgs struct {
	Language    string   `json:"language" jsonschema:"enum=bash,enum=python,enum=node"`
	Code        string   `json:"code" jsonschema_description:"The program. Its standard input is empty."`
	Args        []string `json:"args,omitempty" jsonschema_description:"Its arguments."`
	Skill       string   `json:"skill,omitempty" jsonschema_description:"The skill whose folder is to be at /skill, which is the working directory."`
	Timeout     *float64 `json:"timeout_seconds,omitempty" jsonschema:"exclusiveMinimum=0" jsonschema_description:"Stop the program after this time, if it may take longer."`
	ContainerID string   `json:"container_id,omitempty" jsonschema_description:"Run it in this sandbox of open_sandbox instead of a fresh one."`
}

func (s *Server) runCodeTool() mcpserver.ServerTool {
	return fixedTool[codeArgs]{
		name: "run_code", title: "Run code", runs: true, meta: largeResult(), hidden: s.hiddenArgs(),
		description: "Run a program that you wrote, in a fresh sandbox, and return its exit code and output. Workspaces are read-only, there is no network; files that it leaves in /out come back. Use it for what a skill's instructions ask you to run.",
		handle: func(r *request, args codeArgs) (any, error) {
			timeout, err := seconds(args.Timeout)
			if err != nil {
				return nil, err
			}
			session, err := s.session(args.ContainerID)
			if err != nil {
				return nil, err
			}
			skill, err := s.optional(r, args.Skill)
			if err != nil {
				return nil, err
			}
			req := run.CodeRequest{Language: args.Language, Code: args.Code, Args: args.Args, Skill: skill}
			return s.lasting(r, skills.TaskLong, func(r *request) (*mcp.CallToolResult, error) {
				progress := s.progress(r, "run_code")
				req.Call = s.call(r, progress)
				req.Warn, req.Timeout, req.Session = nil, timeout, session
				outcome, err := s.calls.RunCode(r.ctx, req)
				progress.close()
				if outcome == nil {
					return nil, err
				}
				return s.runReply(r, skill, outcome, err)
			})
		},
	}.tool(s)
}
